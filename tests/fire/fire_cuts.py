"""The connection is cut, reset or stalled at every message of a run, whatever the run is busy with.

FIRE_MESSAGE=N strikes at the N-th message alone: so a single fault of a case is repeated.
"""
import itertools
import os
from collections import Counter

from firing import Broken, Case
from proxy import AFTER, BEFORE, CLIENT, SERVER, TCP, UNIX, Fault, Link
from site_of_fire import Site
from workloads import workloads

KINDS = {'cut before': (Link.close, BEFORE, UNIX), 'cut after': (Link.close, AFTER, UNIX), 'reset': (Link.reset, BEFORE, TCP)}
FIXED_STRIDE = 7


def one_fault(site, kind, side, number):
    """The outcome; None when the run ended before that message."""
    strike, moment, transport = KINDS[kind]
    run = site.under_fire(Fault(strike, side, number, moment), transport)
    if not site.proxy.fired:
        return None
    outcome, after = site.judge_fault(run)
    site.rerun(after)
    return outcome


def numbers(random, stride):
    if only := os.environ.get('FIRE_MESSAGE'):
        return [int(only)]
    return itertools.count(random.randint(1, stride), stride)


def walk(workload, kind, side, stride=1):
    def run(lab, random):
        outcomes = Counter()
        with Site(lab, workload) as site:
            for number in numbers(random, stride):
                try:
                    outcome = one_fault(site, kind, side, number)
                except Broken as broken:
                    raise Broken(f'{workload.name}, {kind} message {number} of the {side}: {broken}') from None
                if outcome is None:
                    break
                outcomes.update(['faults', outcome])
        return outcomes
    return run


def cases():
    for workload in workloads():
        for kind, side in itertools.product(KINDS, (CLIENT, SERVER)):
            name = f'{workload.name}, {kind} each message of the {side}'
            yield Case(name, walk(workload, kind, side), seconds=600)
        name = f'{workload.name}, cut after some messages of the client'
        yield Case(name, walk(workload, 'cut after', CLIENT, FIXED_STRIDE), fixed=True)
