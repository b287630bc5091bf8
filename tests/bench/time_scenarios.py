"""Budgets of time and memory against psql, and of round trips."""
from pathlib import Path

from counting_proxy import CountingProxy
from lab import HISTORY, one_table
from measuring import Pairs, Row, in_words, run, run_watched, verdict

MIB = 1024 * 1024


def round_trips(lab, _):
    def counted(url, directory):
        before = proxy.round_trips
        run(lab.migrate(url, directory))
        return proxy.round_trips - before

    socket = f'{lab.server.dir}/.s.PGSQL.{lab.server.port}'
    directory = lab.one_table_files(10)
    (lab.work / 'proxy').mkdir()
    with lab.database() as database, CountingProxy(lab.work / 'proxy', socket) as proxy:
        url = lab.server.url_of(database, host=proxy.directory, port=5432)
        applying = counted(url, directory)
        nothing = counted(url, directory)
    yield Row('round trips, nothing pending', str(nothing), '2', verdict(nothing, 2))
    yield Row('round trips, 10 files applied to an empty database', str(applying), '4 + 2 × 10', verdict(applying, 24))


def start(lab, options):
    pairs = Pairs(lambda: run([lab.lockstep, '--version']), lambda: run(['/bin/true']), 10 * options.pairs)
    difference = pairs.difference()
    yield Row('`lockstep --version` against `true`', f'+{in_words(difference)}', '+5 ms',
              verdict(difference, 0.005, pairs.least_difference()), pairs.times())


def nothing_pending(lab, options):
    for count, budget in ((1000, 1.5), (10000, 4)):
        directory = lab.one_table_files(count)
        with lab.database() as database:
            run(lab.migrate(lab.server.url_of(database), directory))
            for where, url in (('unix socket', lab.server.url_of(database)), ('loopback', lab.loopback(database))):
                yield no_op_row(lab, options, directory, url, budget, f'nothing pending, {count:,} files, {where}')


def no_op_row(lab, options, directory, url, budget, what):
    pairs = Pairs(lambda: run(lab.migrate(url, directory)), lambda: run(lab.psql(url, '-c', 'select 1')),
                  5 * options.pairs)
    return ratio_row(what + ', against `psql -c \'select 1\'`', pairs, budget)


def ratio_row(what, pairs, budget):
    return Row(what, f'{pairs.ratio():.2f} ×', f'{budget} ×', verdict(pairs.ratio(), budget, pairs.least_ratio()),
               pairs.times())


def literal(text):
    return "'" + text.replace("'", "''") + "'"


def transactions(lab, directory, count):
    """What psql gets: for each file BEGIN, the file, the plain insert of its history row, COMMIT. The rows are those
    that lockstep has written."""
    with lab.database() as database:
        run(lab.migrate(lab.server.url_of(database), directory))
        rows = lab.server.query('select rank, version, description, kind, script, checksum, state, run_id, installed_by, '
                                f'duration_ms, statements_done, tool_version from {HISTORY} order by rank', database)
        history = lab.history_ddl(database)
    path = lab.work / f'transactions-{count}.sql'
    with open(path, 'w', encoding='utf-8') as file:
        for rank, version, description, kind, script, checksum, state, run_id, by, duration, done, tool in rows:
            texts = ', '.join(literal(text) for text in (version, description, kind, script, checksum, state, run_id, by))
            file.write(f'begin;\n{one_table(version)}insert into {HISTORY} (rank, version, description, kind, script, '
                       'checksum, state, run_id, installed_by, started_at, finished_at, duration_ms, statements_done, '
                       f'tool_version) values ({rank}, {texts}, now(), clock_timestamp(), {duration}, {done}, '
                       f'{literal(tool)});\ncommit;\n')
    return path, history


def many_files(lab, options):
    count = 1000
    directory = lab.one_table_files(count)
    script, history = transactions(lab, directory, count)

    def in_new_database(command):
        with lab.database(template) as database:
            return run(command(lab.server.url_of(database)))

    # Both find the history table there, and empty.
    with lab.database() as template:
        lab.server.psql('-c', history, database=template)
        pairs = Pairs(lambda: in_new_database(lambda url: lab.migrate(url, directory)),
                      lambda: in_new_database(lambda url: lab.psql(url, '-q', '-v', 'ON_ERROR_STOP=1', '-f', script)),
                      2 * options.pairs)
    yield ratio_row(f'{count:,} one-table migrations against psql with the same transactions', pairs, 0.9)


def write_copy(path, size):
    lines = ''.join(f'{number}\tcustomer {number % 977} of the month\t2024-03-{number % 28 + 1:02} 10:00:00+00\t'
                    f'{number * 37 % 100000}\n' for number in range(1, 20001))
    with open(path, 'w', encoding='utf-8') as file:
        file.write('create table big (id int, name text, at timestamptz, amount bigint);\ncopy big from stdin;\n')
        for _ in range(max(1, size // len(lines))):
            file.write(lines)
        file.write('\\.\n')


def write_inserts(path, size):
    lines = ''.join(f"insert into big (id, name, at, amount) values ({number}, 'customer {number % 977} of the month, "
                    f"with words that make the line as long as such lines are, to about two hundred bytes', "
                    f"'2024-03-{number % 28 + 1:02} 10:00:00+00', {number * 37 % 100000});\n" for number in range(1, 5001))
    with open(path, 'w', encoding='utf-8') as file:
        file.write('create table big (id int, name text, at timestamptz, amount bigint);\n')
        for _ in range(max(1, size // len(lines))):
            file.write(lines)


def large_files(lab, options):
    for what, write, size in (('COPY data', write_copy, options.copy_mb), ('INSERT lines', write_inserts, options.insert_mb)):
        directory = lab.work / what.replace(' ', '-')
        directory.mkdir()
        path = directory / 'V1__big.sql'
        write(path, size * MIB)
        yield from large_file_rows(lab, options, directory, f'{size} MiB of {what}')
        path.unlink()


def large_file_rows(lab, options, directory, what):
    def in_new_database(command):
        with lab.large_database() as database:
            return run_watched(command(lab.server.url_of(database)))

    file = next(Path(directory).iterdir())
    pairs = Pairs(lambda: in_new_database(lambda url: lab.migrate(url, directory)),
                  lambda: in_new_database(lambda url: lab.psql(url, '-q', '-1', '-v', 'ON_ERROR_STOP=1', '-f', file)),
                  options.large_pairs)
    memory = max(result.memory for result in pairs.ours) / MIB
    of_psql = max(result.memory for result in pairs.theirs) / MIB
    yield Row(f'{what}: peak memory', f'{memory:.0f} MiB', '64 MiB', verdict(memory, 64), f'psql {of_psql:.0f} MiB')
    yield ratio_row(f'{what}: time against `psql -1 -f`', pairs, 1.1)
