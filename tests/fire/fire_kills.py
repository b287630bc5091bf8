"""lockstep, its backend or the server are killed at messages of a run, whatever the run is busy with."""
import itertools

from firing import SETTINGS, Case
from lab import Lab
from proxy import CLIENT
from strikes import BACKEND_KILLS, PROCESS_KILLS, SERVER_KILLS
from walking import walk_of
from workloads import INDEXES, MIXED, TRANSACTIONAL, UNDO, workloads

STRIDE = 3
SERVER_STRIDE = 9
KILL_AFTER, TERMINATE, SERVER_KILL = PROCESS_KILLS[1], PROCESS_KILLS[2], SERVER_KILLS[2]
CANCEL = BACKEND_KILLS[1]
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
    for workload, strike, stride in FIXED:
        yield Case(f'{workload.name}, {strike.name} a few messages', walk_of(workload, strike, CLIENT, stride), fixed=True)
    run = on_its_own_server(walk_of(TRANSACTIONAL, SERVER_KILL, CLIENT, 15))
    yield Case(f'{TRANSACTIONAL.name}, {SERVER_KILL.name} a few messages', run, fixed=True)
