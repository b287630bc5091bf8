"""Poolers of every kind in the path: none that shares backends is accepted, none in session mode is taken for one that
does, and nothing stays on a pooled backend.

LOCKSTEP_TEST_PGBOUNCER=/path/of/pgbouncer[:/another] adds other PgBouncers to the one that is installed.
"""
import itertools
from collections import Counter

import pool_adversaries
import pool_containers
import pool_judge
import pool_race
import pool_settings
from firing import Case
from pool_load import LOADS, load
from pool_programs import PgBouncer, Pgpool, pgbouncers, version_of

MODES = ('session', 'transaction', 'statement')
SIZES = (1, 2, 20)


def judged(lab, database, mode, run):
    return (pool_judge.judge_session if mode == 'session' else pool_judge.judge_shared)(lab, database, run)


def trial(lab, path, mode, size, round_robin, kind, runs):
    """Some runs through one pool under one load."""
    outcomes = Counter()
    settings = {'pool_mode': mode, 'default_pool_size': size, 'server_round_robin': round_robin}
    name = 'PgBouncer ' + '.'.join(map(str, version_of(path)))
    with lab.database() as database, PgBouncer(path, lab.server.port, settings) as pooler:
        with load(lab, pooler, database, kind, mode, size):
            for _ in range(runs):
                run = pool_judge.migrate(lab, pooler.url(database))
                words = judged(lab, database, mode, run)
                outcomes.update(f'{name} {mode} {word}' for word in words)
        outcomes += pool_judge.census(lab, pooler, database)
    return {'faults': runs, **outcomes}


def matrix():
    for (name, path), mode, size, round_robin, kind in itertools.product(pgbouncers(), MODES, SIZES, (0, 1), LOADS):
        def run(lab, _, cell=(path, mode, size, round_robin, kind)):
            return trial(lab, *cell, runs=3)
        yield Case(f'{name} {mode} {size} rr{round_robin} {kind}', run)


def short_matrix():
    for mode, size in itertools.product(MODES, (1, 2)):
        def run(lab, _, cell=('pgbouncer', mode, size, 0, 'short4')):
            return trial(lab, *cell, runs=1)
        yield Case(f'in short: {mode} {size}', run, fixed=True)


def direct(lab, _):
    """Over both transports, and not taken for a pooler."""
    outcomes = Counter(faults=0)
    for url in (lab.loopback, lab.server.url_of):
        for _ in range(5):
            with lab.database() as database:
                outcomes.update('direct ' + word for word in pool_judge.judge_direct(
                    lab, database, pool_judge.migrate(lab, url(database))))
    return outcomes


def pgpool(lab, runs):
    """Each of its children serves one client with one backend, as long as the client stays."""
    outcomes = Counter(faults=runs)
    with lab.database() as database, Pgpool(lab.server.port) as pooler:
        for _ in range(runs):
            run = pool_judge.migrate(lab, pooler.url(database))
            outcomes.update('Pgpool-II ' + word for word in pool_judge.judge_session(lab, database, run))
    return outcomes


def cases():
    yield Case('direct', direct, fixed=True)
    yield from short_matrix()
    yield from matrix()
    yield Case('Pgpool-II', lambda lab, _: pgpool(lab, 20))
    yield Case('Pgpool-II, once', lambda lab, _: pgpool(lab, 1), fixed=True)
    yield from pool_settings.cases()
    yield from pool_adversaries.cases()
    yield from pool_containers.cases()
    yield from pool_race.cases()
