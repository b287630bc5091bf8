"""lockstep, its backend or the server are killed at messages of a run, whatever the run is busy with."""
import itertools

from firing import SETTINGS, Case
from held import HELD, SERVER_STRIKES, STRIKES, strikes_of
from lab import Lab
from proxy import CLIENT
from strikes import BACKEND_KILLS, PROCESS_KILLS, SERVER_KILLS, STALL
from walking import at_random_moments, walk_of
from workloads import BASELINE, INDEXES, MIXED, TRANSACTIONAL, UNDO, workloads

STRIDE = 3
SERVER_STRIDE = 9
KILL_AFTER, TERMINATE, SERVER_KILL = PROCESS_KILLS[1], PROCESS_KILLS[2], SERVER_KILLS[2]
CANCEL = BACKEND_KILLS[1]
STALLED = {TRANSACTIONAL: 9, INDEXES: 90, BASELINE: 15, UNDO: 9}  # eight seconds for each
FIXED = ((INDEXES, KILL_AFTER, 80), (TRANSACTIONAL, TERMINATE, 9), (MIXED, CANCEL, 70), (UNDO, KILL_AFTER, 9))


def on_its_own_server(run):
    """A crash of the server would reach the other cases; and what is committed must survive it."""
    def run_there(lab, random):
        with Lab(lab.lockstep, lab.server.bin, (*SETTINGS, 'synchronous_commit=on')) as own:
            return run(own, random)
    return run_there


def cases():
    for workload, strike in itertools.product(workloads(), (*PROCESS_KILLS, *BACKEND_KILLS)):
        yield Case(f'{workload.name}, {strike.name} some messages', walk_of(workload, strike, CLIENT, STRIDE), seconds=900)
    for workload, strike in itertools.product(workloads(), SERVER_KILLS):
        run = on_its_own_server(walk_of(workload, strike, CLIENT, SERVER_STRIDE))
        yield Case(f'{workload.name}, {strike.name} some messages', run, seconds=900)
    for workload in workloads():
        yield Case(f'{workload.name}, signals at random moments', at_random_moments(workload, 30), seconds=300)
    for workload, stride in STALLED.items():
        yield Case(f'{workload.name}, {STALL.name} some messages', walk_of(workload, STALL, CLIENT, stride), seconds=300)
    for held in HELD:
        yield Case(f'{held.workload.name} that waits', strikes_of(held, STRIKES), seconds=300)
        run = on_its_own_server(strikes_of(held, SERVER_STRIKES))
        yield Case(f'{held.workload.name} that waits, and the server', run, seconds=300)
    for workload, strike, stride in FIXED:
        yield Case(f'{workload.name}, {strike.name} a few messages', walk_of(workload, strike, CLIENT, stride), fixed=True)
    yield Case('an index build that waits', strikes_of(HELD[2], STRIKES[:4]), fixed=True)
    run = on_its_own_server(walk_of(TRANSACTIONAL, SERVER_KILL, CLIENT, 15))
    yield Case(f'{TRANSACTIONAL.name}, {SERVER_KILL.name} a few messages', run, fixed=True)
