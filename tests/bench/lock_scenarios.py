"""Budgets of the lock: how soon a waiter goes on, and a crowd on an empty database.

The times of a hand-off come from the server's clock alone, with real runs of lockstep on both ends. The winner has file
1 only; the waiter has files 1 and 2, so that it has work when the winner has done its own. File 1 waits inside the server
for a gate (an advisory lock of another key) that this program opens, after the waiter has said that it waits and has
been left waiting so long that its own tries are far apart. In this database the server logs when each statement ended and
how long it took.

Released: from the beginning of the statement with which the winner unlocks to the end of the try with which the waiter
gets the lock. The winner's unlocking and telling, the waiter's waking up and its try are all in it.

Killed: the winner gets SIGKILL inside file 1. The server's log tells when its backend had ended, and so the lock was
free; from then to the end of the try with which the waiter gets the lock.
"""
import contextlib
import json
import re
import signal
import statistics
import subprocess
import time

from measuring import Row, in_words, verdict
from throwaway_server import CLEAN_ENVIRONMENT, Stop

GATE = 42
DEADLINE = 60


class Gate:
    """A session that holds the gate until it is opened."""

    def __init__(self, lab, database):
        self.psql = subprocess.Popen(lab.psql(lab.server.url_of(database), '-Atq'), env=CLEAN_ENVIRONMENT, text=True,
                                     stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.say(f'select pg_advisory_lock({GATE});')

    def say(self, sql):
        self.psql.stdin.write(sql + '\n\\echo said\n')
        self.psql.stdin.flush()
        while self.psql.stdout.readline() != 'said\n':
            pass

    def open(self):
        self.say(f'select pg_advisory_unlock({GATE});')

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.psql.stdin.close()
        self.psql.wait()


def start(lab, database, directory):
    return subprocess.Popen([str(word) for word in [lab.lockstep, 'migrate', '-u', lab.server.url_of(database), '-d',
                                                    directory, '--log-format', 'json', '--output', 'json']],
                            env=CLEAN_ENVIRONMENT, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def run_id_at(process, event):
    """Reads the log up to this event; gives the id of the run."""
    for line in process.stderr:
        entry = json.loads(line)
        if entry.get('event') == event:
            return entry['run_id']
    raise Stop(f'lockstep ended before the event "{event}": {process.stdout.read()}')


def finish(process):
    out, err = process.communicate(timeout=DEADLINE)
    if process.returncode != 0:
        raise Stop(f'lockstep failed ({process.returncode}): {out}{err}')
    return json.loads(out)


def files(lab):
    one = {'V1__one.sql': f'select pg_advisory_xact_lock({GATE});\n'}
    return (lab.directory('winner', one),
            lab.directory('waiter', {**one, 'V2__two.sql': 'create table two (i int);\n'}))


def waiting_pair(lab, database, winners_files, waiters_files, pause):
    """A winner inside file 1 and a waiter that has waited at least this long, each with its backend."""
    winner = start(lab, database, winners_files)
    winners_id = run_id_at(winner, 'started')
    waiter = start(lab, database, waiters_files)
    waiters_id = run_id_at(waiter, 'waiting')
    time.sleep(pause)
    return (winner, backend(lab, database, winners_id)), (waiter, backend(lab, database, waiters_id))


def backend(lab, database, run_id):
    """The process of the run's first connection, which is the one with the lock."""
    return lab.server.query('select pid from pg_stat_activity where datname = current_database() and '
                            f"application_name like 'lockstep %{run_id}' order by backend_start limit 1", database)[0][0]


def pauses(count):
    """Spread over two seconds, after the first one: a waiter's tries are then up to a second apart, and the server looks
    after its client every two seconds. All their phases are hit."""
    return [1.0 + 2 * number / count for number in range(count)]


def ended(log, backend, statement):
    """When the backend ended its last statement with this text, and how long that took; in seconds."""
    pattern = rf'^(\d+\.\d+) {backend} LOG:  duration: (\d+\.\d+) ms  (?:statement|execute <unnamed>): [^\n]*{statement}'
    found = re.findall(pattern, log, re.M)
    if not found:
        raise Stop(f'the server has not logged {statement} of backend {backend}')
    return float(found[-1][0]), float(found[-1][1]) / 1000


@contextlib.contextmanager
def logging_database(lab):
    with lab.database() as database:
        lab.server.psql('-c', f'alter database {database} set log_min_duration_statement = 0')
        yield database


def release(lab, winners_files, waiters_files, pause):
    with logging_database(lab) as database, Gate(lab, database) as gate:
        offset = lab.log_end()
        (winner, winners_backend), (waiter, waiters_backend) = waiting_pair(lab, database, winners_files, waiters_files, pause)
        gate.open()
        finish(winner)
        finish(waiter)
        log = lab.log_since(offset)
    unlocked, duration = ended(log, winners_backend, 'pg_advisory_unlock')
    locked, _ = ended(log, waiters_backend, 'pg_try_advisory_lock')
    return locked - (unlocked - duration)


def disconnected_at(lab, offset, backend):
    deadline = time.monotonic() + DEADLINE
    while time.monotonic() < deadline:
        found = re.search(rf'^(\d+\.\d+) {backend} LOG:  disconnection', lab.log_since(offset), re.M)
        if found:
            return float(found[1])
        time.sleep(0.02)
    raise Stop('the backend of the killed winner is still there')


def kill(lab, winners_files, waiters_files, pause):
    """Seconds from the kill until the lock was free, and from then until the waiter had it."""
    with logging_database(lab) as database, Gate(lab, database) as gate:
        offset = lab.log_end()
        (winner, winners_backend), (waiter, waiters_backend) = waiting_pair(lab, database, winners_files, waiters_files, pause)
        killed = time.time()
        winner.send_signal(signal.SIGKILL)
        winner.communicate()
        free = disconnected_at(lab, offset, winners_backend)
        gate.open()
        finish(waiter)
        locked, _ = ended(lab.log_since(offset), waiters_backend, 'pg_try_advisory_lock')
    return free - killed, locked - free


def hand_off(lab, options):
    winners_files, waiters_files = files(lab)
    count = options.hand_offs
    released = [release(lab, winners_files, waiters_files, pause) for pause in pauses(count)]
    middle = statistics.median(released)
    yield Row('lock hand-off to a waiter after release', in_words(middle), '10 ms',
              verdict(middle, 0.01, min(released)),
              f'least {in_words(min(released))}, most {in_words(max(released))}; {count} times')
    count = max(3, count // 2)
    killed = [kill(lab, winners_files, waiters_files, pause) for pause in pauses(count)]
    for what, budget, values in (('winner killed inside a statement: the server frees its lock', 2, [k[0] for k in killed]),
                                 ('and then a waiter goes on', 1, [k[1] for k in killed])):
        middle = statistics.median(values)
        yield Row(what, in_words(middle), f'{budget} s', verdict(middle, budget, min(values)),
                  f'least {in_words(min(values))}, most {in_words(max(values))}; {count} times')


def crowd(lab, _):
    migrators, count = 50, 20
    directory = lab.one_table_files(count)
    with lab.database() as database:
        offset = lab.log_end()
        begin = time.perf_counter()
        processes = [start(lab, database, directory) for _ in range(migrators)]
        outcomes = [(process.communicate(timeout=DEADLINE), process.returncode) for process in processes]
        seconds = time.perf_counter() - begin
        errors = re.findall(r'^\S+ \d+ (?:ERROR|FATAL|PANIC): .*', lab.log_since(offset), re.M)
    applied = sorted(len(json.loads(out)['applied']) if code == 0 else -1 for (out, _), code in outcomes)
    good = applied == [0] * (migrators - 1) + [count] and not errors
    measured = (f'{applied.count(count)} applied all, {applied.count(0)} exit 0 with nothing applied, '
                f'{len(errors)} errors in the server log')
    yield Row(f'{migrators} migrators at once, an empty database, {count} files', measured,
              f'1, {migrators - 1}, 0', 'kept' if good else 'MISSED', in_words(seconds) + ' in all' +
              ''.join(f'; {error}' for error in errors[:1]))
