"""Paths that are made to deceive: proxies, imitated poolers, poolers in a row."""
import contextlib
import itertools
from collections import Counter

import pool_imitations as imitations
import pool_judge
from firing import Case, expect
from lab import server_socket
from pool_programs import PgBouncer

SIZES = (1, 2, 20)
KEYS = (imitations.Imitation, imitations.RandomKey, imitations.NoKey, imitations.BackendsKey)
LISTENS = (imitations.EmulatedListen, imitations.RepeatedListen)
RUNS = 3


def url(imitation, database):
    return f'postgresql://postgres@127.0.0.1:{imitation.port}/{database}'


def judged_runs(lab, database, judge, url_of_pooler, pooler=None):
    outcomes = Counter(faults=RUNS)
    for _ in range(RUNS):
        run = pool_judge.migrate(lab, url_of_pooler)
        outcomes.update(judge(lab, database, run))
    return outcomes + (pool_judge.census(lab, pooler, database) if pooler else Counter())


def proxy_alone(lab, kind):
    """One backend for each client: whatever key the client was given, it must be accepted."""
    with lab.database() as database, kind(('127.0.0.1', lab.server.port)) as proxy:
        return judged_runs(lab, database, pool_judge.judge_session, url(proxy, database))


def proxy_on_a_socket(lab, kind):
    with lab.database() as database, PgBouncer('pgbouncer', lab.server.port, {}) as somewhere, \
            kind(server_socket(lab), somewhere.dir / '.s.PGSQL.5432'):
        return judged_runs(lab, database, pool_judge.judge_session, somewhere.url(database, host=somewhere.dir, port=5432))


def before_pool(lab, kind, mode, size, round_robin):
    settings = {'pool_mode': mode, 'default_pool_size': size, 'server_round_robin': round_robin}
    judge = pool_judge.judge_session if mode == 'session' else pool_judge.judge_shared
    with lab.database() as database, PgBouncer('pgbouncer', lab.server.port, settings) as pooler, \
            kind(('127.0.0.1', pooler.port)) as proxy:
        return judged_runs(lab, database, judge, url(proxy, database), pooler)


def like_the_server(lab, mode, size):
    """Over unix sockets, which have no ports, and with the pid of the right backend: only who listens tells."""
    settings = {'pool_mode': mode, 'default_pool_size': size, 'server_round_robin': 1}
    judge = pool_judge.judge_session if mode == 'session' else pool_judge.judge_shared
    with lab.database() as database, PgBouncer('pgbouncer', lab.server.port, settings, server_host=lab.server.dir) as pooler, \
            imitations.BackendsKey(str(pooler.dir / f'.s.PGSQL.{pooler.port}'), pooler.dir / '.s.PGSQL.5432'):
        return judged_runs(lab, database, judge, pooler.url(database, pooler.dir, 5432), pooler)


def emulated_before_session_pool(lab, size):
    """What arrives is no proof, as it was not the backend that sent it: refused, though the pool would be safe."""
    with lab.database() as database, \
            PgBouncer('pgbouncer', lab.server.port, {'pool_mode': 'session', 'default_pool_size': size}) as pooler, \
            imitations.EmulatedListen(('127.0.0.1', pooler.port)) as proxy:
        outcomes = judged_runs(lab, database, pool_judge.judge_shared, url(proxy, database))
        expect(outcomes['by: does not listen'] == RUNS, 'it was found out by the backend, which does not listen', outcomes)
        return outcomes


def in_a_row(lab, first, second, size):
    """The client's pooler is `first`, the server's `second`. A client of the inner one in session mode would wait for what
    the outer one keeps."""
    judge = pool_judge.judge_session if (first, second) == ('session', 'session') else pool_judge.judge_shared
    with contextlib.ExitStack() as all_of_it:
        database = all_of_it.enter_context(lab.database())
        inner = all_of_it.enter_context(
            PgBouncer('pgbouncer', lab.server.port, {'pool_mode': second, 'default_pool_size': size}))
        outer = all_of_it.enter_context(PgBouncer('pgbouncer', inner.port, {'pool_mode': first, 'default_pool_size': 20}))
        return judged_runs(lab, database, judge, outer.url(database), None if second == 'session' else inner)


def cleaned_pool(lab, size, round_robin):
    """server_reset_query_always: what a session left behind is gone at the next statement."""
    settings = {'pool_mode': 'transaction', 'default_pool_size': size, 'server_round_robin': round_robin,
                'server_reset_query_always': 1}
    with lab.database() as database, PgBouncer('pgbouncer', lab.server.port, settings) as pooler:
        return judged_runs(lab, database, pool_judge.judge_shared, pooler.url(database), pooler)


def case(name, attempt, *arguments, fixed=False):
    return Case(name, lambda lab, _: attempt(lab, *arguments), fixed)


def cases():
    for kind in KEYS:
        yield case(f'{kind.__name__} before a server', proxy_alone, kind, fixed=kind is imitations.Imitation)
        yield case(f'{kind.__name__} before a server, on sockets', proxy_on_a_socket, kind)
    for kind, size, round_robin in itertools.product((*KEYS, *LISTENS), SIZES, (0, 1)):
        colliding = kind is imitations.BackendsKey and size == 1 and not round_robin
        yield case(f'{kind.__name__} before a transaction pool of {size} rr{round_robin}', before_pool, kind, 'transaction',
                   size, round_robin, fixed=colliding)
        if kind in KEYS:
            yield case(f'{kind.__name__} before a session pool of {size} rr{round_robin}', before_pool, kind, 'session',
                       size, round_robin)
    for mode, size in itertools.product(('session', 'transaction', 'statement'), SIZES):
        yield case(f'like the server: a {mode} pool of {size}', like_the_server, mode, size,
                   fixed=(mode, size) == ('transaction', 1))
    for size in (2, 20):
        yield case(f'EmulatedListen before a session pool of {size}', emulated_before_session_pool, size)
    for first, second in itertools.product(('session', 'transaction', 'statement'), repeat=2):
        for size in SIZES:
            yield case(f'{first} pool before a {second} pool of {size}', in_a_row, first, second, size)
    for size, round_robin in itertools.product(SIZES, (0, 1)):
        yield case(f'a cleaned transaction pool of {size} rr{round_robin}', cleaned_pool, size, round_robin)
