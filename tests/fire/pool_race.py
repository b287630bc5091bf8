"""Migrators at once through a pool that shares backends, with the probe overridden: the guards alone stand between them.

Each migration tells the server's log when it is inside, which no rollback takes back. What was committed must have been
inside alone.
"""
import re
import time
from collections import Counter

import pool_judge
from firing import Case, expect, finish, lockstep, start
from pool_imitations import Starved
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
MARK = re.compile(r'LOG:  inside (begin|end) (\d+) ([\d.]+)$', re.MULTILINE)


def inside(step):
    """The transaction that does the work of a file. The log tells its number, and so does what it leaves."""
    return f"""do $$ begin
  raise log 'inside begin % %', txid_current(), extract(epoch from clock_timestamp());
  insert into effects values ({step}, txid_current());
  perform pg_sleep(0.02);
  raise log 'inside end % %', txid_current(), extract(epoch from clock_timestamp());
end $$;
"""


FILES = {
    'V1__create.sql': 'create table effects (step int, transaction bigint);\n' + inside(1),
    'V2__in_a_transaction.sql': inside(2),
    'V3__outside.sql': '-- lockstep: transaction=off\nvacuum pg_class;\n' + inside(3),
    'V4__last.sql': inside(4),
}
STEPS = [str(number) for number in range(1, len(FILES) + 1)]


def files(lab):
    path = lab.work / 'pool-race'
    return path if path.exists() else lab.directory(path.name, FILES)


def judge_overlap(lab, database, log):
    """Of what was committed, no two were inside at the same time. Returns how many attempts there were beside that."""
    marks = {(which, transaction): float(at) for which, transaction, at in MARK.findall(log)}
    committed = [row[0] for row in lab.server.query('select transaction from effects', database)]
    spans = sorted((marks['begin', transaction], marks['end', transaction]) for transaction in committed)
    for (_, end), (begin, _) in zip(spans, spans[1:]):
        expect(end <= begin, 'two were inside at the same time', spans, log)
    return sum(which == 'begin' for which, _ in marks) - len(committed)


def expect_all_once(lab, database, *evidence):
    effects = lab.server.query('select step from effects order by step', database)
    expect([step for step, in effects] == STEPS, 'each migration has its effect once', effects, *evidence)


def word(run):
    expect(run.code in (0, 4, 5, 6, 7, 75), 'the guards end a run with a word of theirs', run)
    return f"{run.json['error']['code']}" if run.code else 'exit 0'


def race(lab, random, url_of, options):
    outcomes, begin = Counter(), lab.log_end()
    with lab.database() as database:
        migrators = []
        for _ in range(MIGRATORS):
            time.sleep(random.uniform(0, 0.03))  # they start together, but not in step
            migrators.append(start(lab, 'migrate', '-u', url_of(database), '-d', files(lab), '--lock-wait', '1s', '--output',
                                   'json', *options))
        runs = [finish(migrator) for migrator in migrators]
        outcomes.update('race: ' + word(run) for run in runs)
        locks = pool_judge.advisory_locks(lab, database)
        outcomes['race: rounds that left the lock'] += bool(locks)
        lab.server.query(f"select pg_terminate_backend(pid) from pg_stat_activity where datname = '{database}'"
                         ' and pid <> pg_backend_pid()')
        last = lockstep(lab, 'migrate', '-u', lab.loopback(database), '-d', files(lab), '--output', 'json')
        expect(last.code == 0, 'a direct run finishes what the others left', last, *runs)
        expect_all_once(lab, database, last, *runs)
        outcomes['race: attempts rolled back'] += judge_overlap(lab, database, lab.log_since(begin))
    return outcomes


def races(lab, random, pool, rounds):
    mode, size, *_ = pool.split()
    settings = {'pool_mode': mode, 'default_pool_size': size, **POOLS[pool]}
    outcomes = Counter(faults=rounds * MIGRATORS)
    with PgBouncer('pgbouncer', lab.server.port, settings) as pooler:
        for _ in range(rounds):
            outcomes += race(lab, random, pooler.url, ('--pooler', 'assume-session'))
    return outcomes


def starved_races(lab, random, size, rounds):
    """A pooler that keeps another connection waiting although it has a backend for it looks like a full one in session
    mode."""
    outcomes = Counter(faults=rounds * MIGRATORS)
    with PgBouncer('pgbouncer', lab.server.port, {'pool_mode': 'transaction', 'default_pool_size': size}) as pooler, \
            Starved(('127.0.0.1', pooler.port)) as proxy:
        for _ in range(rounds):
            outcomes += race(lab, random, lambda database: pooler.url(database, port=proxy.port), ())
    return outcomes


def cases():
    for pool in POOLS:
        yield Case(f'assumed to be a session: {pool}', lambda lab, random, pool=pool: races(lab, random, pool, 10))
    for size in (1, 2, 20):
        yield Case(f'taken for a full session pool: transaction {size}',
                   lambda lab, random, size=size: starved_races(lab, random, size, 5))
    yield Case('assumed to be a session, in short', lambda lab, random: races(lab, random, 'transaction 2 rr', 3), fixed=True)
