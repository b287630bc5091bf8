"""Races in trouble that nobody's signal made: sessions ended by the server, processes that stand still, too few connections."""
import signal
import time
from collections import Counter

from corpus import mark, migration
from firing import SETTINGS, expect
from lab import Lab
from race_crowds import at_work, kill_some
from race_files import LONG_KINDS, some_files, work
from race_judge import REFUSED, ServerLog, judge, judge_codes, judge_left
from race_place import Place
from racing import Race, race, wait_until

CALLBACK_MARKS = "select label, count(*) from marks where label in ('before', 'after') group by 1 order by 1"
TERMINATED = 'terminating connection due to administrator command'


def ended_sessions(count):
    """The server ends the session of whoever is at work: exit 4 or 7, and another run goes on."""
    def run(lab, random):
        with lab.database() as database, Race(lab) as racing:
            place, log = Place(lab, database, some_files(random, random.randint(8, 12), LONG_KINDS)), ServerLog(lab)
            place.enter(racing, count)
            racing.start()
            ended = end_sessions(lab, random, racing, count // 2)
            racing.end()
            codes = judge_codes(racing.racers, 0, 4, 7)
            (rows,), outcomes = judge(lab, racing, [place], log, TERMINATED)
            if codes['exit 0']:
                place.judge_complete(rows)
        return codes + outcomes + Counter(faults=len(ended))
    return run


def end_sessions(lab, random, racing, count):
    """The backends that were ended."""
    ended = []

    def worker():
        return next((racer for racer in racing.running() if racer.events('planned') and racer.backend not in ended), None)
    while len(ended) < count and wait_until('somebody at work', lambda: worker() or not racing.running()) is not True:
        time.sleep(random.choice((0, 0.003, 0.02, 0.1, 0.3)) * random.random())
        ended += end_session(lab, worker())
    return ended


def end_session(lab, racer):
    if racer is None:
        return []
    query = f'select pg_terminate_backend(pid) from pg_stat_activity where pid = {racer.backend}'
    return [racer.backend] if lab.server.query(query) else []


def standing_still(count):
    """Whoever is at work stands still for a while, as a process without processor time does; nobody overtakes it."""
    def run(lab, random):
        with lab.database() as database, Race(lab) as racing:
            place, log = Place(lab, database, some_files(random, random.randint(6, 8), LONG_KINDS)), ServerLog(lab)
            place.enter(racing, count, '--lock-wait', '60s')
            racing.start()
            stopped = sum(stand_still(random, racing) for _ in range(4))
            racing.end()
            codes = judge_codes(racing.racers, 0)
            (rows,) = judge_left(lab, racing, [place], log)
            place.judge_complete(rows)
        return codes + Counter(faults=stopped, runs=count)
    return run


def stand_still(random, racing):
    worker = wait_until('somebody at work', lambda: at_work(racing) or not racing.running())
    if worker is True:
        return False
    worker.process.send_signal(signal.SIGSTOP)
    time.sleep(random.random())
    worker.process.send_signal(signal.SIGCONT)
    return True


def few_connections(count, *options, codes=(0,)):
    """The server has fewer connections than there are runs."""
    def run(lab, random):
        with Lab(lab.lockstep, lab.server.bin, (*SETTINGS, 'max_connections=12')) as small, small.database() as database:
            files = some_files(random, random.randint(5, 7))
            files[1] = work(2, 1_500_000)  # so long that the observer wants a connection, too
            place = Place(small, database, files)
            place.work_as('pod')
            log = ServerLog(small)
            racing = race(place, count, *options)
            found = judge_codes(racing.racers, *codes)
            for racer in racing.racers:
                judge_refused(racer)
            (rows,) = judge_left(small, racing, [place], log, REFUSED)
            place.judge_complete(rows)
            refused = sum('FATAL' in line for line in log.lines())
        return found + Counter(faults=refused, runs=count)
    return run


def judge_refused(racer):
    if racer.ended.code == 4:
        error = racer.document['error']
        expect(error['code'] == 'too_many_connections', 'the reason is another', racer.ended)


def callbacks(count):
    """With callbacks each run has something to do under the lock, one after the other."""
    def run(lab, random):
        around = [migration('beforeMigrate.sql', mark('before')), migration('afterMigrate.sql', mark('after'))]
        with lab.database() as database:
            place = Place(lab, database, some_files(random, random.randint(3, 6)), callbacks=around)
            log = ServerLog(lab)
            racing = race(place, count)
            codes = judge_codes(racing.racers, 0)
            (rows,) = judge_left(lab, racing, [place], log)
            place.judge_complete(rows)
            marks = lab.server.query(CALLBACK_MARKS, database)
            expect(marks == [['after', str(count)], ['before', str(count)]], 'each run has its callbacks once', marks)
        return codes + Counter(faults=1, runs=count)
    return run


def one_after_another(count):
    """They come as pods do that are started in turn, while others come, work, are killed and leave."""
    def run(lab, random):
        with lab.database() as database, Race(lab) as racing:
            place, log = Place(lab, database, some_files(random, random.randint(6, 10), LONG_KINDS)), ServerLog(lab)
            racing.start()
            for _ in range(count - 1):
                place.enter(racing, 1)
                time.sleep(0.05 * random.random())
                if random.random() < 0.2:
                    kill_some(random, racing, 1, (signal.SIGKILL, signal.SIGTERM))
            place.enter(racing, 1)
            racing.end()
            faults = sum(racer.killed_with is not None for racer in racing.racers)
            codes = judge_codes(racing.racers, 0)
            (rows,) = judge_left(lab, racing, [place], log)
            place.judge_complete(rows)
        return codes + Counter(faults=faults, runs=count)
    return run


def other_commands(count):
    """Who only looks is never in the way, and what changes the history takes its turn."""
    def run(lab, random):
        with lab.database() as database, Race(lab) as racing:
            place, log = Place(lab, database, some_files(random, random.randint(6, 9))), ServerLog(lab)
            for number in range(count):
                command = random.choice(('migrate', 'info', 'validate', 'plan', 'repair')) if number else 'migrate'
                place.enter(racing, 1, *(['--yes'] if command == 'repair' else []), command=command)
            racing.start()
            racing.end()
            codes = judge_codes(racing.racers, 0, 3)
            for racer in racing.racers:
                judge_command(racer)
            (rows,) = judge_left(lab, racing, [place], log)
            place.judge_complete(rows)
        return codes + Counter(faults=1, runs=count)
    return run


def judge_command(racer):
    if racer.ended.code == 3:
        told = (racer.document['command'], racer.document['error']['code'])
        expect(told == ('validate', 'running'), 'only validate has something to say of a file that is running', racer.ended)
