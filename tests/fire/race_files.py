"""The migrations of the races."""
import dataclasses

from corpus import Statement, index, mark, migration, outside, table


def filled(name, rows):
    return Statement(f'create table {name} as select generate_series(1, {rows}) as id', makes=(f'table {name}',))


def short(number):
    return migration(f'V{number}__short.sql', table(f't_{number}'), mark(f'V{number}'))


def work(number, rows=30_000):
    """Takes some milliseconds, so that others come in the middle of it."""
    return migration(f'V{number}__work.sql', mark(f'V{number}:1'), filled(f't_{number}', rows), mark(f'V{number}:2'),
                     index(f'i_{number}', f't_{number}', ''))


def long_work(number):
    return work(number, 300_000)


def concurrently(number, rows=1000):
    return outside(f'V{number}__index.sql', filled(f't_{number}', rows), mark(f'V{number}:1'),
                   index(f'i_{number}', f't_{number}'), mark(f'V{number}:2'))


def long_concurrently(number):
    return concurrently(number, 200_000)


def many_concurrently(number):
    parts = [step for part in range(1, 5)
             for step in (index(f'i_{number}_{part}', f't_{number}'), mark(f'V{number}:{part}'))]
    return outside(f'V{number}__indexes.sql', table(f't_{number}'), *parts, Statement(f'vacuum t_{number}'))


def repeatable(name, release=1):
    view = Statement(f'create or replace view v_{name} as select {release} as release', makes=(f'view v_{name}',))
    return migration(f'R__{name}.sql', view, mark(f'R {name}:{release}'))


def gate(number, key=42):
    """Waits until nobody holds that advisory lock alone."""
    return migration(f'V{number}__gate.sql', mark(f'V{number}'), Statement(f'select pg_advisory_xact_lock_shared({key})'),
                     head='-- lockstep: lock_timeout=60s\n')


def broken(one):
    """The same with a statement that fails behind the others."""
    return dataclasses.replace(one, statements=(*one.statements, Statement('select broken_on_purpose')))


KINDS = (short, work, concurrently, many_concurrently)
LONG_KINDS = (short, long_work, concurrently, long_concurrently, many_concurrently)


def some_files(random, count, kinds=KINDS, repeatables=2):
    versions = [random.choice(kinds)(number) for number in range(1, count + 1)]
    return versions + [repeatable(name) for name in 'ab'[:repeatables]]


def gated_files(random):
    """The first run to come stays in the second file until the gate is open."""
    return [short(1), gate(2), *some_files(random, random.randint(4, 6))[2:]]
