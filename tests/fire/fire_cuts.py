"""The connection is cut or reset at every message of a run, whatever the run is busy with."""
import itertools

from firing import Case
from judge_check import judge_on_trial
from proxy import CLIENT, SERVER
from strikes import CUTS
from walking import walk_of
from workloads import CALLBACKS, INDEXES, TRANSACTIONAL, UNDO, workloads

CUT_AFTER = CUTS[1]
FIXED = {TRANSACTIONAL: 9, INDEXES: 80, CALLBACKS: 30, UNDO: 9}  # how far it is from one message to the next


def cases():
    yield Case('what the judge must notice', judge_on_trial, fixed=True)
    for workload, strike, side in itertools.product(workloads(), CUTS, (CLIENT, SERVER)):
        if side == SERVER and strike is CUT_AFTER:
            continue  # that is before the next one
        yield Case(f'{workload.name}, {strike.name} each message of the {side}', walk_of(workload, strike, side), seconds=900)
    for workload, stride in FIXED.items():
        name = f'{workload.name}, {CUT_AFTER.name} a few messages of the client'
        yield Case(name, walk_of(workload, CUT_AFTER, CLIENT, stride), fixed=True)
