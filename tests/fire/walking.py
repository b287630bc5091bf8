"""Strikes at each message of a run in turn, and judges after each.

FIRE_MESSAGE=N strikes at the N-th message alone: so a single fault of a case is repeated.
"""
import itertools
import os
from collections import Counter

from firing import Broken
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


def walk_of(workload, strike, side, stride=1):
    """As a case runs it."""
    def run(lab, random):
        with Site(lab, workload) as site:
            return walk(site, random, strike, side, stride)
    return run
