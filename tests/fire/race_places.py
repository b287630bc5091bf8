"""Several histories in one database, and several databases on one server: nobody waits for another one's lock, unless both
were given the same key."""
import contextlib
from collections import Counter

from race_busy import Gate, wait_until_all_wait
from race_files import gated_files
from race_judge import ServerLog, judge, judge_codes
from race_place import Place
from racing import Race


def judge_all(lab, racing, places, log):
    """They all ended well."""
    codes = judge_codes(racing.racers, 0)
    histories, outcomes = judge(lab, racing, places, log)
    for place, rows in zip(places, histories):
        place.judge_complete(rows)
    return codes + outcomes


def places_of(lab, random, database, count, history_of):
    return [Place(lab, database, gated_files(random), schema=f'place_{number}', history=history_of(number))
            for number in range(count)]


def histories(count, each, history_of):
    """All are in the middle of a file at the same moment."""
    def run(lab, random):
        with lab.database() as database, Gate(lab, database) as closed, Race(lab) as racing:
            places, log = places_of(lab, random, database, count, history_of), ServerLog(lab)
            for place in places:
                place.enter(racing, each)
            racing.start()
            closed.wait_for(count)
            closed.open()
            racing.end()
            outcomes = judge_all(lab, racing, places, log)
        return outcomes + Counter({'faults': 1, 'histories at once': count})
    return run


def tables_of_one_schema(number):
    return 'ops', f'history_{number}'


def schemas_of_their_own(number):
    return f'ops_{number}', 'lockstep_history'


def same_key(each):
    """Two histories with one key wait for each other, and say for whom."""
    def run(lab, random):
        with lab.database() as database, Gate(lab, database) as closed, Race(lab) as racing:
            places, log = places_of(lab, random, database, 2, schemas_of_their_own), ServerLog(lab)
            for place in places:
                place.environment['LOCKSTEP_LOCK_RESOURCE'] = '77'
            one, other = places
            worker, = one.enter(racing, 1)
            racing.start()
            closed.wait_for(1)
            wait_until_all_wait(other.enter(racing, each), worker)
            closed.open()
            racing.end()
            outcomes = judge_all(lab, racing, places, log)
        return outcomes + Counter(faults=each)
    return run


def databases(count, each):
    """The same files and the same key in several databases: all are in the middle of a file at the same moment."""
    def run(lab, random):
        with contextlib.ExitStack() as exits:
            names = [exits.enter_context(lab.database()) for _ in range(count)]
            gates = [exits.enter_context(Gate(lab, name)) for name in names]
            racing = exits.enter_context(Race(lab))
            places, log = [Place(lab, name, gated_files(random)) for name in names], ServerLog(lab)
            for place in places:
                place.enter(racing, each)
            racing.start()
            gates[0].wait_for(count)
            for gate in gates:
                gate.open()
            racing.end()
            outcomes = judge_all(lab, racing, places, log)
        return outcomes + Counter({'faults': 1, 'databases at once': count})
    return run
