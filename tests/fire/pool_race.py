"""Migrators at once through a pool that shares backends, with the probe overridden: the guards alone stand between them.

Each migration tells the server's log when it is inside, which no rollback takes back. What was committed must have been
inside alone.
"""
import re
import time
from collections import Counter

import pool_judge
from firing import Case, expect, finish, lockstep, start
from pool_programs import PgBouncer

MIGRATORS = 4
POOLS = {
    'transaction 1': {},
    'transaction 2': {},
    'transaction 20': {},
    'transaction 2 rr': {'server_round_robin': 1},
    'transaction 20 rr': {'server_round_robin': 1},
    'transaction 20 cleaned': {'server_reset_query_always': 1},
    'transaction 20 short-lived': {'server_lifetime': 1},
    'statement 2': {},
    'statement 20 rr': {'server_round_robin': 1},
}
MARK = re.compile(r'LOG:  inside (begin|end) (\d) lockstep migrate (\S+) ([\d.]+)$', re.MULTILINE)


def mark(which, step):
    return (f"do $$ begin raise log 'inside {which} {step} % %', current_setting('application_name'),"
            " extract(epoch from clock_timestamp()); end $$;\n")


def inside(step, *middle):
    insert = f"insert into effects values ({step}, current_setting('application_name'));\n"
    return mark('begin', step) + ''.join(middle) + insert + 'select pg_sleep(0.02);\n' + mark('end', step)


FILES = {
    'V1__create.sql': inside(1, 'create table effects (step int, run text);\n'),
    'V2__in_a_transaction.sql': inside(2),
    'V3__outside.sql': '-- lockstep: transaction=off\n' + inside(3, 'vacuum pg_class;\n'),
    'V4__last.sql': inside(4),
}
STEPS = [str(number) for number in range(1, len(FILES) + 1)]


def files(lab):
    path = lab.work / 'pool-race'
    return path if path.exists() else lab.directory(path.name, FILES)


def intervals(log):
    """(step, run) to the times between which it was inside, of its last attempt. A file outside a transaction may be begun
    by one run and ended by another."""
    found = {}
    for which, step, run, at in MARK.findall(log):
        begin = float(at) if which == 'begin' else found.get((step, run), (float(at), None))[0]
        found[step, run] = (begin, float(at))
    return found


def judge_overlap(lab, database, log):
    """Of what was committed, no two runs were inside at the same time. Returns how many attempts there were beside that."""
    attempts = intervals(log)
    done = {tuple(row) for row in lab.server.query(
        "select version, run_id::text from lockstep_history where state = 'applied' and version <> '3'"
        " union select step::text, substr(run, 18) from effects", database)}
    expect(done <= set(attempts), 'a run has told the log that it was inside', done, attempts)
    counting = sorted((*attempts[which], *which) for which in done)
    for (_, end, *_, run), (begin, *_, next_run) in zip(counting, counting[1:]):
        expect(run == next_run or end <= begin, 'two runs were inside at the same time', *counting)
    return len(attempts) - len(done)


def expect_all_once(lab, database, *evidence):
    effects = lab.server.query('select step from effects order by step', database)
    expect([step for step, in effects] == STEPS, 'each migration has its effect once', effects, *evidence)


def word(run):
    expect(run.code in (0, 4, 5, 6, 7, 75), 'the guards end a run with a word of theirs', run)
    return f"{run.json['error']['code']}" if run.code else 'exit 0'


def race(lab, pooler, random):
    outcomes, begin = Counter(), lab.log_end()
    with lab.database() as database:
        migrators = []
        for _ in range(MIGRATORS):
            time.sleep(random.uniform(0, 0.03))  # they start together, but not in step
            migrators.append(start(lab, 'migrate', '-u', pooler.url(database), '-d', files(lab), '--pooler', 'assume-session',
                                   '--lock-wait', '1s', '--output', 'json'))
        runs = [finish(migrator) for migrator in migrators]
        outcomes.update('assumed: ' + word(run) for run in runs)
        locks = pool_judge.advisory_locks(lab, database)
        outcomes['assumed: rounds that left the lock'] += bool(locks)
        lab.server.query(f"select pg_terminate_backend(pid) from pg_stat_activity where datname = '{database}'"
                         ' and pid <> pg_backend_pid()')
        last = lockstep(lab, 'migrate', '-u', lab.loopback(database), '-d', files(lab), '--output', 'json')
        expect(last.code == 0, 'a direct run finishes what the others left', last, *runs)
        expect_all_once(lab, database, last, *runs)
        outcomes['assumed: attempts rolled back'] += judge_overlap(lab, database, lab.log_since(begin))
    return outcomes


def races(lab, random, pool, rounds):
    mode, size, *_ = pool.split()
    settings = {'pool_mode': mode, 'default_pool_size': size, **POOLS[pool]}
    outcomes = Counter(faults=rounds * MIGRATORS)
    with PgBouncer('pgbouncer', lab.server.port, settings) as pooler:
        for _ in range(rounds):
            outcomes += race(lab, pooler, random)
    return outcomes


def cases():
    for pool in POOLS:
        yield Case(f'assumed to be a session: {pool}', lambda lab, random, pool=pool: races(lab, random, pool, 10))
    yield Case('assumed to be a session, in short', lambda lab, random: races(lab, random, 'transaction 2 rr', 3), fixed=True)
