"""What can strike a run at a chosen message: the network, its process, its backend, the server."""
import contextlib
import os
import signal
from dataclasses import dataclass
from pathlib import Path
from typing import Callable

from proxy import AFTER, BEFORE, TCP, UNIX
from site_of_fire import Site


@dataclass(frozen=True)
class Strike:
    """`hit` takes the site and the link, in the proxy's thread while the message waits, or behind it. `recover` takes the
    site when the run has ended."""
    name: str
    hit: Callable
    moment: str = BEFORE
    transport: str = UNIX
    recover: Callable = lambda site: None


def kill_client(number):
    return lambda _, link: os.kill(link.client_process, number)


def call_on_backend(function):
    return lambda site, link: site.psql.query(f'select {function}({link.backend})')


def kill_backend(_, link):
    """The server takes that for a crash: it ends all sessions and recovers."""
    kill(link.backend)


def kill(pid):
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


def stop_immediately(site, _):
    """As pg_ctl stop -m immediate does."""
    site.lab.server.process.send_signal(signal.SIGQUIT)


def kill_server(site, _):
    kill_postmaster(site.lab.server.process.pid)


def kill_postmaster(postmaster):
    """And all its children."""
    os.kill(postmaster, signal.SIGSTOP)  # so that it forks no more
    children = Path(f'/proc/{postmaster}/task/{postmaster}/children').read_text().split()
    for pid in (postmaster, *map(int, children)):
        kill(pid)


def stall_and_terminate(_, link):
    """Both ends stay open, so nobody can notice; but whoever waits for lockstep loses patience."""
    link.stall()
    os.kill(link.client_process, signal.SIGTERM)


CUTS = (Strike('cut before', lambda _, link: link.close()),
        Strike('cut after', lambda _, link: link.close(), AFTER),
        Strike('reset', lambda _, link: link.reset(), transport=TCP))
PROCESS_KILLS = (Strike('kill -9 before', kill_client(signal.SIGKILL)),
                 Strike('kill -9 after', kill_client(signal.SIGKILL), AFTER),
                 Strike('SIGTERM after', kill_client(signal.SIGTERM), AFTER),
                 Strike('SIGINT before', kill_client(signal.SIGINT)))
STALL = Strike('half-open and SIGTERM after', stall_and_terminate, AFTER, recover=lambda site: site.proxy.hang_up())
BACKEND_KILLS = (Strike('pg_terminate_backend after', call_on_backend('pg_terminate_backend'), AFTER),
                 Strike('pg_cancel_backend after', call_on_backend('pg_cancel_backend'), AFTER))
SERVER_KILLS = (Strike('kill -9 of the backend after', kill_backend, AFTER, recover=Site.wait_for_crash),
                Strike('immediate stop after', stop_immediately, AFTER, recover=Site.start_again),
                Strike('kill -9 of the server after', kill_server, AFTER, recover=Site.start_again))
