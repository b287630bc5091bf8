"""A host that vanishes: lockstep runs in a network namespace of its own, whose packets are lost from a moment on."""
import os
import shutil
import signal
import subprocess
import time
from collections import Counter

from firing import SETTINGS, Case, expect, finish, start
from held import HELD, holding, wait_until_it_waits
from lab import Lab
from site_of_fire import Site

FREE_SECONDS = 14  # docs/locks.md: 12 s, and what looking takes
NOTICE_SECONDS = 30  # what lockstep itself takes to notice is the kernel's business
END_SECONDS = 12  # after a signal: docs/locks.md, 10 s


def possible():
    return os.geteuid() == 0 and shutil.which('ip')


def command(*words):
    done = subprocess.run(words, capture_output=True, encoding='utf-8', check=False)
    expect(done.returncode == 0, ' '.join(words), done.stderr)


class Network:
    """Two ends of a cable: one here, one in a namespace."""

    def __init__(self):
        self.name = f'lockstep{os.getpid()}'
        self.here, self.there = f'lsa{os.getpid()}', f'lsb{os.getpid()}'
        cable = f'10.231.{os.getpid() % 256}'  # of this job alone
        self.server, self.client = f'{cable}.1', f'{cable}.2'

    def __enter__(self):
        command('ip', 'netns', 'add', self.name)
        command('ip', 'link', 'add', self.here, 'type', 'veth', 'peer', 'name', self.there, 'netns', self.name)
        command('ip', 'address', 'add', f'{self.server}/30', 'dev', self.here)
        command('ip', 'link', 'set', self.here, 'up')
        self.inside('ip', 'address', 'add', f'{self.client}/30', 'dev', self.there)
        self.inside('ip', 'link', 'set', self.there, 'up')
        return self

    def __exit__(self, *_):
        command('ip', 'link', 'delete', self.here)
        command('ip', 'netns', 'delete', self.name)

    def inside(self, *words):
        command('ip', 'netns', 'exec', self.name, *words)

    def prefix(self):
        return ['ip', 'netns', 'exec', self.name]

    def lose(self):
        """Every packet, in both directions, without a word to either end: they go to nobody's Ethernet address."""
        nobody = ('lladdr', '02:00:00:00:00:01', 'nud', 'permanent')
        command('ip', 'neigh', 'replace', self.client, 'dev', self.here, *nobody)
        self.inside('ip', 'neigh', 'replace', self.server, 'dev', self.there, *nobody)

    def find(self):
        command('ip', 'neigh', 'delete', self.client, 'dev', self.here)
        self.inside('ip', 'neigh', 'delete', self.server, 'dev', self.there)


def vanish(site, network, held, signals):
    """The outcome. The host vanishes while its run waits in a statement, and people send it signals."""
    site.renew()
    with holding(site, held.hold):
        url = site.lab.server.url_of(site.name, host=network.server)
        process = start(site.lab, *site.arguments(url), within=network.prefix())
        wait_until_it_waits(site, process)
        network.lose()
        begin = time.monotonic()
        for number in signals:
            process.send_signal(number)
        site.judge.wait_until_free(site.name, FREE_SECONDS)
        run = finish(process, begin + (END_SECONDS if signals else NOTICE_SECONDS) - time.monotonic())
        network.find()
    outcome, after = site.judge_fault(run)
    site.rerun(after)
    return outcome


def vanish_of(held):
    """As a case runs it."""
    def run(lab, _):
        outcomes = Counter()
        with Lab(lab.lockstep, lab.server.bin, (*SETTINGS, 'listen_addresses=*')) as own, Network() as network:
            with open(own.server.dir / 'data' / 'pg_hba.conf', 'a', encoding='utf-8') as rules:
                rules.write(f'host all all {network.client}/32 trust\n')
            own.server.query('select pg_reload_conf()')
            with Site(own, held.workload) as site:
                for signals in ((), (signal.SIGTERM,)):
                    outcomes.update(['faults', vanish(site, network, held, signals)])
        return outcomes
    return run


def cases():
    if possible():
        for held in HELD:
            yield Case(f'{held.workload.name} on a host that vanishes', vanish_of(held), seconds=300)
