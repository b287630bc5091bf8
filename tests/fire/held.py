"""A run that waits in the middle of a statement, for as long as another session holds something: what strikes it then?"""
import contextlib
import os
import signal
import time
from collections import Counter
from dataclasses import dataclass
from typing import Callable

from corpus import PROCEDURE, Statement, called_mark, copied_marks, index, mark, migration, outside
from firing import Broken, expect, finish, start
from proxy import OPTIONS, TCP, UNIX
from psql_session import PsqlSession
from site_of_fire import Site
from workloads import Workload, workload

OLD = 'create table old (id int); create index old_id on old (id);'
OLD_OBJECTS = ('table old', 'index old_id')
PARTITIONS = 'create table m (id int) partition by list (id); create table m_1 partition of m for values in (1);'
LOCK_MARKS = 'begin; lock table marks in exclusive mode'  # whoever reads may go on

WAITS = '''
select count(*) from pg_stat_activity where datname = current_database() and application_name like 'lockstep%'
  and wait_event_type = 'Lock' '''


@dataclass(frozen=True)
class Held:
    """A workload, and what another session does so that the workload waits in the middle."""
    workload: Workload
    hold: str


HELD = (
    Held(workload('a transactional file', migration('V1__a.sql', Statement('set lock_timeout = 0'), mark('V1'))), LOCK_MARKS),
    Held(workload('COPY', migration('V1__a.sql', Statement('set lock_timeout = 0'), copied_marks('V1:1', 'V1:2'))), LOCK_MARKS),
    Held(workload('CREATE INDEX CONCURRENTLY', outside('V1__a.sql', mark('V1:1'), index('old_more', 'old'), mark('V1:3')),
                  setup=OLD, given=OLD_OBJECTS), 'begin; insert into old values (1)'),
    Held(workload('REINDEX CONCURRENTLY', outside('V1__a.sql', mark('V1:1'), Statement('reindex index concurrently old_id'),
                                                  mark('V1:3')),
                  setup=OLD, given=OLD_OBJECTS), 'begin; insert into old values (1)'),
    Held(workload('DROP INDEX CONCURRENTLY', outside('V1__a.sql', Statement('drop index concurrently old_id',
                                                                          drops=('index old_id',)), mark('V1:2')),
                  setup=OLD, given=OLD_OBJECTS), 'begin; insert into old values (1)'),
    Held(workload('VACUUM', outside('V1__a.sql', mark('V1:1'), Statement('vacuum old'), mark('V1:3')),
                  setup=OLD, given=OLD_OBJECTS), 'begin; lock table old in share update exclusive mode'),
    Held(workload('DETACH PARTITION CONCURRENTLY',
                  outside('V1__a.sql', mark('V1:1'), Statement('alter table m detach partition m_1 concurrently',
                                                               drops=('partition m_1 of m',)), mark('V1:3')),
                  setup=PARTITIONS, given=('table m', 'table m_1', 'partition m_1 of m')), 'begin; select from m'),
    Held(workload('a procedure that commits', outside('V1__a.sql', called_mark('V1:1'), mark('V1:2')), setup=PROCEDURE),
         LOCK_MARKS))


@dataclass(frozen=True)
class HeldStrike:
    """`hit` takes the site, the running process and the link; `afterwards` the site, when the run has ended."""
    name: str
    hit: Callable
    transport: str = UNIX
    afterwards: Callable = lambda site: None
    codes: tuple = (4, 6, 7)


def to_process(number):
    return lambda site, process, link: process.send_signal(number)


def to_backend(function):
    return lambda site, process, link: site.psql.query(f'select {function}({link.backend})')


def by_proxy(strike):
    return lambda site, process, link: site.proxy.call(lambda: strike(link))


def stall_and_terminate(site, process, link):
    """Nobody can notice: both ends are open. So whoever waits for lockstep loses patience."""
    site.proxy.call(link.stall)
    process.send_signal(signal.SIGTERM)


STRIKES = (HeldStrike('kill -9', to_process(signal.SIGKILL), codes=(-9,)),
           HeldStrike('SIGTERM', to_process(signal.SIGTERM), codes=(143,)),
           HeldStrike('SIGINT', to_process(signal.SIGINT), codes=(130,)),
           HeldStrike('pg_terminate_backend', to_backend('pg_terminate_backend')),
           HeldStrike('pg_cancel_backend', to_backend('pg_cancel_backend')),
           HeldStrike('cut', by_proxy(lambda link: link.close())),
           HeldStrike('reset', by_proxy(lambda link: link.reset()), TCP),
           HeldStrike('half-open and SIGTERM', stall_and_terminate, TCP, lambda site: site.proxy.hang_up(), (143, 4)))
SERVER_STRIKES = (HeldStrike('kill -9 of the backend', lambda _, process, link: os.kill(link.backend, signal.SIGKILL),
                             afterwards=Site.wait_for_crash),
                  HeldStrike('immediate stop', lambda site, *_: site.lab.server.process.send_signal(signal.SIGQUIT),
                             afterwards=Site.start_again))


def wait_until_it_waits(site, process, seconds=30):
    site.psql.use(site.name)
    deadline = time.monotonic() + seconds
    while site.psql.query(WAITS) == [['0']]:
        if process.poll() is not None or time.monotonic() > deadline:
            raise Broken('\n'.join(['the run does not wait', str(process.poll()), *stopped(process)]))
        time.sleep(0.005)


def stopped(process):
    process.kill()
    return process.communicate()


@contextlib.contextmanager
def holding(site, sql):
    with PsqlSession(site.lab.server) as holder:
        holder.use(site.name)
        holder.send(sql)
        yield


def strike_held(site, hold, strike):
    """The outcome. The lock must be free while the other session still holds what was waited for."""
    site.renew()
    site.proxy.arm(None)
    with holding(site, hold):
        url = site.proxy.url(site.name, strike.transport)
        process = start(site.lab, *site.arguments(url, *OPTIONS[strike.transport]))
        wait_until_it_waits(site, process)
        strike.hit(site, process, site.proxy.links[0])
        run = finish(process, 20)
        strike.afterwards(site)
        expect(run.code in strike.codes, f'exit {run.code} and not one of {strike.codes}', run)
        site.judge.wait_until_free(site.name)
    outcome, after = site.judge_fault(run)
    site.rerun(after)
    return outcome


def strikes_of(held, strikes):
    """As a case runs them."""
    def run(lab, _):
        outcomes = Counter()
        with Site(lab, held.workload) as site:
            for strike in strikes:
                try:
                    outcomes.update(['faults', strike_held(site, held.hold, strike)])
                except Broken as broken:
                    raise Broken(f'{strike.name}: {broken}') from None
        return outcomes
    return run
