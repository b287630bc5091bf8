"""Many runs at once: one applies, the others wait or leave, nothing is applied twice, and whoever waits goes on."""
import signal

from firing import Case
from race_busy import foreign_lock, held_lock, mixed_options
from race_crowds import failing_file, kills, releases, same_files
from race_files import many_concurrently, work
from race_places import databases, histories, same_key, schemas_of_their_own, tables_of_one_schema
from race_troubles import callbacks, ended_sessions, few_connections, one_after_another, other_commands, standing_still

SECONDS = 300  # a hundred processes on two busy cores take their time
ENDS = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT)


def case(name, run, fixed=False):
    return Case(name, run, fixed, SECONDS)


def crowds(count, fixed=()):
    yield case(f'{count} on an empty database', same_files(count, False), 'empty' in fixed)
    yield case(f'{count} on a half-migrated database', same_files(count, True), 'half way' in fixed)
    yield case(f'{count} with a file that fails', failing_file(count, work, 6), 'fails' in fixed)
    yield case(f'{count} with a file that stops part-way', failing_file(count, many_concurrently, 7), 'part-way' in fixed)
    yield case(f'{count} with kill -9', kills(count, (signal.SIGKILL,)), 'kill' in fixed)
    yield case(f'{count} with signals', kills(count, ENDS), 'signals' in fixed)
    yield case(f'{count} of several releases', releases(count), 'releases' in fixed)
    yield case(f'{count} with options of all kinds', mixed_options(count), 'options' in fixed)


def cases():
    yield from crowds(2, fixed=('part-way', 'kill'))
    yield from crowds(20, fixed=('empty', 'fails', 'signals', 'releases'))
    yield from crowds(100)
    yield case('options while the lock is held', held_lock(20), fixed=True)
    yield case('a lock that something else holds', foreign_lock(20), fixed=True)
    yield case('histories in one schema', histories(4, 3, tables_of_one_schema), fixed=True)
    yield case('histories in schemas of their own', histories(8, 5, schemas_of_their_own))
    yield case('two histories with the same key', same_key(5), fixed=True)
    yield case('databases on one server', databases(4, 5), fixed=True)
    yield case('20 one after another', one_after_another(20))
    yield case('20 with callbacks', callbacks(20))
    yield case('20 whose sessions are ended', ended_sessions(20))
    yield case('20 that stand still', standing_still(20))
    yield case('60 with a few connections', few_connections(60, codes=(0, 4)))
    yield case('60 that wait for a few connections', few_connections(60, '--wait-for-db', '60s'))
    yield case('40 of all commands', other_commands(40))
