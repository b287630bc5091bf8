"""Strikes at each message of a run in turn, and judges after each.

FIRE_MESSAGE=N strikes at the N-th message alone: so a single fault of a case is repeated.
"""
import itertools
import os
import signal
import time
from collections import Counter

from firing import Broken, finish, start
from proxy import Fault
from site_of_fire import Site


def one_fault(site, strike, side, number):
    """The outcome; None when the run ended before that message."""
    run = site.under_fire(Fault(lambda link: strike.hit(site, link), side, number, strike.moment), strike.transport)
    if not site.proxy.fired:
        return None
    strike.recover(site)
    outcome, after = site.judge_fault(run)
    site.rerun(after)
    return outcome


def numbers(random, stride):
    if only := os.environ.get('FIRE_MESSAGE'):
        return [int(only)]
    return itertools.count(random.randint(1, stride), stride)


def walk(site, random, strike, side, stride=1):
    outcomes = Counter()
    for number in numbers(random, stride):
        try:
            outcome = one_fault(site, strike, side, number)
        except Broken as broken:
            raise Broken(f'{site.workload.name}, {strike.name} message {number} of the {side}: {broken}') from None
        if outcome is None:
            break
        outcomes.update(['faults', outcome])
    return outcomes


def at_random_moments(workload, count):
    """A case that sends signals at moments that no message tells, from the first instruction of the process on."""
    def run(lab, random):
        outcomes = Counter()
        with Site(lab, workload) as site:
            begin = time.monotonic()
            site.renew()
            site.run(site.url)
            usual = time.monotonic() - begin
            while outcomes['faults'] < count:
                number, moment = random.choice((signal.SIGKILL, signal.SIGTERM, signal.SIGINT)), random.uniform(0, usual)
                try:
                    outcomes.update(signalled(site, number, moment))
                except Broken as broken:
                    raise Broken(f'{number.name} after {moment:.3f} s: {broken}') from None
        return outcomes
    return run


def signalled(site, number, moment):
    """Nothing when the run had ended before."""
    site.renew()
    process = start(site.lab, *site.arguments(site.url), environment=dict(site.workload.environment))
    time.sleep(moment)
    if process.poll() is not None:
        finish(process)
        return []
    process.send_signal(number)
    outcome, after = site.judge_fault(finish(process))
    site.rerun(after)
    return ['faults', outcome]


def walk_of(workload, strike, side, stride=1):
    """As a case runs it."""
    def run(lab, random):
        with Site(lab, workload) as site:
            return walk(site, random, strike, side, stride)
    return run
