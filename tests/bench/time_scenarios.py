"""Budgets of time and memory against psql, and of round trips."""
from pathlib import Path

from counting_proxy import CountingProxy
from delaying_proxy import DelayingProxy
from lab import HISTORY, server_socket
from measuring import Pairs, Row, in_words, run, run_watched, verdict

MIB = 1024 * 1024
UNPROBED = ('--pooler', 'assume-session')  # through a proxy, as if it were a direct connection


def round_trips(lab, _):
    def counted(url, directory):
        before = proxy.round_trips
        run(lab.migrate(url, directory, *UNPROBED))
        return proxy.round_trips - before

    directory = lab.one_table_files(10)
    (lab.work / 'proxy').mkdir()
    with lab.database() as database, CountingProxy(lab.work / 'proxy', server_socket(lab)) as proxy:
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


def transactions(lab, directory):
    """What psql gets: for each file BEGIN, the file, the plain insert of its history row, COMMIT. The rows are those
    that lockstep has written."""
    with lab.database() as database:
        run(lab.migrate(lab.server.url_of(database), directory))
        rows = lab.server.query('select rank, version, description, kind, script, checksum, state, run_id, installed_by, '
                                f'duration_ms, statements_done, tool_version from {HISTORY} order by rank', database)
        history = lab.history_ddl(database)
    path = lab.work / f'{directory.name}.sql'
    with open(path, 'w', encoding='utf-8') as file:
        for rank, version, description, kind, script, checksum, state, run_id, by, duration, done, tool in rows:
            texts = ', '.join(literal(text) for text in (version, description, kind, script, checksum, state, run_id, by))
            text = (directory / script).read_text()
            file.write(f'begin;\n{text}insert into {HISTORY} (rank, version, description, kind, script, '
                       'checksum, state, run_id, installed_by, started_at, finished_at, duration_ms, statements_done, '
                       f'tool_version) values ({rank}, {texts}, now(), clock_timestamp(), {duration}, {done}, '
                       f'{literal(tool)});\ncommit;\n')
    return path, history


def many_files(lab, options):
    count = 1000
    pairs = applying_pairs(lab, lab.one_table_files(count), lab.server.url_of, 2 * options.pairs)
    yield ratio_row(f'{count:,} one-table migrations against psql with the same transactions', pairs, 0.9)


def applying_pairs(lab, directory, url_of, count, *options):
    """lockstep with the directory and psql with the same transactions. Both find the history table there, and empty."""
    script, history = transactions(lab, directory)

    def in_new_database(command):
        with lab.database(template) as database:
            return run(command(url_of(database)))

    with lab.database() as template:
        lab.server.psql('-c', history, database=template)
        return Pairs(lambda: in_new_database(lambda url: lab.migrate(url, directory, *options)),
                     lambda: in_new_database(lambda url: lab.psql(url, '-q', '-v', 'ON_ERROR_STOP=1', '-f', script)),
                     count)


def fifty_statements(number):
    rows = ''.join(f"insert into place_{number} (id, name) values ({row}, 'place {row}');\n" for row in range(1, 48))
    return (f'create table place_{number} (id int primary key, name text not null);\n{rows}'
            f"create index on place_{number} (name);\ncomment on table place_{number} is 'where things are';\n")


def delay(lab, options):
    files, round_trip, budget = 20, 0.002, 5
    directory = lab.directory('fifty-statements', {f'V{number}__place_{number}.sql': fifty_statements(number)
                                                   for number in range(1, files + 1)})
    (lab.work / 'far').mkdir()
    with DelayingProxy(lab.work / 'far', server_socket(lab), round_trip / 2) as proxy:
        pairs = applying_pairs(lab, directory, lambda database: lab.server.url_of(database, proxy.directory, 5432),
                               2 * options.pairs, *UNPROBED)
    yield Row(f'{files} files of 50 statements, {round_trip * 1000:.0f} ms of network delay, against psql with the same '
              'transactions', f'{1 / pairs.ratio():.1f} × faster', f'{budget} × faster',
              verdict(pairs.ratio(), 1 / budget, pairs.least_ratio()), pairs.times())


def write_copy(path, size):
    lines = ''.join(f'{number}\tcustomer {number % 977} of the month\t2024-03-{number % 28 + 1:02} 10:00:00+00\t'
                    f'{number * 37 % 100000}\n' for number in range(1, 20001))
    with open(path, 'w', encoding='utf-8') as file:
        file.write('create table big (id int, name text, at timestamptz, amount bigint);\ncopy big from stdin;\n')
        for _ in range(max(1, size // len(lines))):
            file.write(lines)
        file.write('\\.\n')


INSERTS_AT_ONCE = 5000
INSERTS = ''.join(f"insert into big (id, name, at, amount) values ({number}, 'customer {number % 977} of the month, "
                  f"with words that make the line as long as such lines are, to about two hundred bytes', "
                  f"'2024-03-{number % 28 + 1:02} 10:00:00+00', {number * 37 % 100000});\n"
                  for number in range(1, INSERTS_AT_ONCE + 1))


def write_inserts(path, times):
    with open(path, 'w', encoding='utf-8') as file:
        file.write('create table big (id int, name text, at timestamptz, amount bigint);\n')
        for _ in range(max(1, times)):
            file.write(INSERTS)


def write_statement(path, size):
    line = 'one line of a text that is a single constant, as an exported document or image would be\n'
    with open(path, 'w', encoding='utf-8') as file:
        file.write("create table big (id int, body text);\ninsert into big values (1, '")
        for _ in range(max(1, size // len(line))):
            file.write(line)
        file.write("');\n")


def write_rows(path, count):
    path.write_text(f"create table big as select id, repeat('x', 100) as name from generate_series(1, {count}) as id;\n"
                    'select * from big;\n')


def large_files(lab, options):
    yield from one_large_file(lab, options, f'{options.copy_mb} MiB of COPY data',
                              lambda path: write_copy(path, options.copy_mb * MIB), 64)
    times, inserts = options.insert_mb * MIB // len(INSERTS), f'{options.insert_mb} MiB of INSERT lines'
    if options.insert_lines:
        times, inserts = options.insert_lines // INSERTS_AT_ONCE, f'{options.insert_lines:,} INSERT lines'
    yield from one_large_file(lab, options, inserts, lambda path: write_inserts(path, times), 64)
    if options.statement_mb:
        # The statement itself must be held: how often beside it?
        yield from one_large_file(lab, options, f'a single statement of {options.statement_mb} MiB',
                                  lambda path: write_statement(path, options.statement_mb * MIB), None)
    if options.rows:
        yield from one_large_file(lab, options, f'a statement that returns {options.rows:,} rows',
                                  lambda path: write_rows(path, options.rows), 64)


def one_large_file(lab, options, what, write, memory_budget):
    directory = lab.directory(what.replace(' ', '-'), {})
    path = directory / 'V1__big.sql'
    write(path)
    yield from large_file_rows(lab, options, path, what, memory_budget)
    path.unlink()


def large_file_rows(lab, options, file, what, memory_budget):
    """Without a budget for the memory, psql must not need less."""
    def in_new_database(command):
        with lab.large_database() as database:
            return run_watched(command(lab.server.url_of(database)))

    pairs = Pairs(lambda: in_new_database(lambda url: lab.migrate(url, file.parent)),
                  lambda: in_new_database(lambda url: lab.psql(url, '-q', '-1', '-v', 'ON_ERROR_STOP=1', '-f', file)),
                  options.large_pairs)
    memory = max(result.memory for result in pairs.ours) / MIB
    of_psql = max(result.memory for result in pairs.theirs) / MIB
    budget = memory_budget or of_psql
    yield Row(f'{what}: peak memory', f'{memory:.0f} MiB', f'{memory_budget} MiB' if memory_budget else "psql's",
              verdict(memory, budget), f'psql {of_psql:.0f} MiB')
    yield ratio_row(f'{what}: time against `psql -1 -f`', pairs, 1.1)
