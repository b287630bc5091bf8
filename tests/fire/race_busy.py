"""What runs do while another one really holds the lock: wait, fail, skip; and a gate that keeps one there."""
import subprocess
import time
from collections import Counter

from firing import expect
from handoff import TRIED, crowd, moment
from race_files import gated_files, some_files
from race_judge import ServerLog, judge, judge_codes
from race_place import Place
from racing import Race, wait_until
from throwaway_server import CLEAN_ENVIRONMENT

MIGRATION_LOCK = '1280262987, -507739328'  # docs/locks.md, for "public"."lockstep_history"
INSIDE = """select count(*) from pg_stat_activity
where application_name like 'lockstep %' and wait_event_type = 'Lock' and wait_event = 'advisory'"""


class Gate:
    """A session with the advisory lock for which the file `gate` waits."""

    def __init__(self, lab, database, key=42):
        self.lab = lab
        self.psql = subprocess.Popen([lab.server.bin / 'psql', '-XAtq', '-d', lab.server.url_of(database)],
                                     env=CLEAN_ENVIRONMENT, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.psql.stdin.write(f'select pg_backend_pid() from pg_advisory_lock({key});\n'.encode())
        self.psql.stdin.flush()
        self.backend = int(self.psql.stdout.readline())

    def wait_for(self, count):
        wait_until(f'{count} runs in the gate', lambda: self.lab.server.query(INSIDE) == [[str(count)]])

    def open(self):
        self.psql.communicate()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.psql.kill()
        self.psql.wait()
        self.psql.stdin.close()
        self.psql.stdout.close()


def told_holder(racer):
    """Process id and run of the holder, by what a waiter said first."""
    waiting = racer.events('waiting')
    return (waiting[0]['holder']['pid'], waiting[0]['holder']['application'].split()[-1]) if waiting else None


def wait_until_all_wait(racers, worker):
    wait_until('all to wait', lambda: all(map(told_holder, racers)))
    for racer in racers:
        expect(told_holder(racer) == (worker.backend, worker.run_id), 'a waiter says a wrong holder', racer.events())


def held_lock(count):
    """While one run is in the middle of a file, the others do as they were told, and name it."""
    def run(lab, random):
        several = count // 4
        with lab.database() as database, Gate(lab, database) as closed, Race(lab) as racing:
            place, log = Place(lab, database, gated_files(random)), ServerLog(lab)
            worker, = place.enter(racing, 1)
            racing.start()
            closed.wait_for(1)
            fail = place.enter(racing, several, '--on-busy', 'fail')
            skip = place.enter(racing, several, '--on-busy', 'skip')
            short = place.enter(racing, several, '--lock-wait', f'{random.randint(50, 400)}ms')
            patient = place.enter(racing, several, '--lock-wait', '60s')
            judge_left(worker, [*fail, *short], skip, len(place.files) - 1)
            wait_until_all_wait(patient, worker)
            closed.open()
            racing.end()
            codes = judge_codes(racing.racers, 0, 75)
            judge_codes([worker, *patient], 0)
            (rows,), outcomes = judge(lab, racing, [place], log)
            place.judge_complete(rows)
        return codes + outcomes + Counter({'faults': 4 * several, 'skipped': several})
    return run


def judge_left(worker, busy, skipped, pending):
    """These end while the lock is held."""
    for racer in (*busy, *skipped):
        racer.end(time.monotonic() + 60)
    for racer in skipped:
        told = (racer.ended.code, racer.document['applied'], racer.document['skipped'])
        expect(told == (0, [], pending), 'what is skipped is not counted', racer.ended)
    for racer in busy:
        error = racer.document['error']
        expect((racer.ended.code, error['code']) == (75, 'lock_busy'), 'a run does not say that the lock is busy', racer.ended)
        expect(worker.run_id in error['detail'] and str(worker.backend) in error['detail'], 'it does not say who has the lock',
               racer.ended)
    expect(worker.process.poll() is None, 'the holder has gone')


def mixed_options(count):
    """Everybody with another option, and nobody held up: whoever says busy names a run that was at work."""
    def run(lab, random):
        options = [('--on-busy', 'fail'), ('--on-busy', 'skip'), ('--lock-wait', '20ms'), ()]
        with lab.database() as database, Race(lab) as racing:
            place, log = Place(lab, database, some_files(random, random.randint(5, 9))), ServerLog(lab)
            for _ in range(count):
                place.enter(racing, 1, *random.choice(options))
            racing.start()
            racing.end()
            codes = judge_codes(racing.racers, 0, 75)
            (rows,), outcomes = judge(lab, racing, [place], log)
            place.judge_complete(rows)
            for racer in racing.racers:
                judge_busy(racer, {row.run_id for row in rows})
        return codes + outcomes + Counter(faults=1)
    return run


def judge_busy(racer, worked):
    if racer.ended.code == 75:
        detail = racer.document['error']['detail']
        expect(detail is None or any(run in detail for run in worked), 'who is named as the holder has not worked', worked,
               racer.ended)
        expect(not racer.document['applied'], 'a run that found the lock busy has applied something', racer.ended)


def foreign_lock(count):
    """Something else holds the lock, and tells nobody of its end: the waiters find out."""
    def run(lab, random):
        with lab.database() as database, Gate(lab, database, MIGRATION_LOCK) as closed, Race(lab) as racing:
            place, log = Place(lab, database, some_files(random, random.randint(4, 6))), ServerLog(lab)
            place.enter(racing, count)
            racing.start()
            wait_until('all to wait', lambda: all(map(told_holder, racing.racers)))
            told = {told_holder(racer) for racer in racing.racers}
            expect(told == {(closed.backend, 'psql')}, 'a waiter says a wrong holder', told)
            opened = time.time()
            closed.open()
            racing.end()
            codes = judge_codes(racing.racers, 0)
            first = min(moment(event) for racer in racing.racers for event in racer.events('planned'))
            expect(first - opened <= TRIED + crowd(racing), f'the lock was free for {first - opened:.1f} s')
            (rows,), outcomes = judge(lab, racing, [place], log)
            place.judge_complete(rows)
        return codes + outcomes + Counter(faults=1)
    return run
