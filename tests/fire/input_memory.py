"""64 MiB for everything that the process allocates: what streams does not notice, what cannot fit says so, and of a file that
failed for it nothing is left."""
from deployment import FILES
from firing import Case, expect, finish, start

MIB = 1 << 20
LIMIT = ('prlimit', f'--data={64 * MIB}', '--core=unlimited')
MILLION = 1_000_000
ROW = 'x' * 1023 + '\n'


def write(path, *parts):
    """A file of parts, each a text and how often it is repeated."""
    with open(path, 'w', encoding='utf-8') as file:
        for text, count in parts:
            for _ in range(count):
                file.write(text)


def normal(path):
    for name, text in FILES.items():
        (path / name).write_text(text)


def copied(path):
    write(path / 'V1__a.sql', ('create table a (x text);\ncopy a from stdin;\n', 1), (ROW, 256 * 1024), ('\\.\n', 1))


def inserted(path):
    write(path / 'V1__a.sql', ('create table a (x text);\n', 1), ("insert into a values ('1');\n", MILLION))


def controlled(path):
    write(path / 'V1__a.sql', ('-- lockstep: transaction=off\ncreate table a (x text);\n', 1),
          ("begin;\ninsert into a values ('1');\ncommit;\n", 2000))


# title: (how it is made, the rows of table a)
FITS = {'a deployment': (normal, None), '256 MiB of COPY data': (copied, 256 * 1024), '1,000,000 INSERTs': (inserted, MILLION),
        '2,000 transactions of its own': (controlled, 2000)}


def fits(title, make, rows):
    def run(lab, _):
        with lab.large_database() as database:
            path = lab.directory(f'memory-{database}', {})
            make(path)
            done = finish(start(lab, 'migrate', '-u', lab.server.url_of(database), '-d', path, within=LIMIT), seconds=500)
            for file in path.iterdir():
                file.unlink()
            expect(done.code == 0, f'{title}: 64 MiB are enough', done)
            if rows is not None:
                found = int(lab.server.query('select count(*) from a', database)[0][0])
                expect(found == rows, f'{title}: all rows are there', found)
        return {'faults': 1, 'worked': 1}
    return run


def too_large(size):
    """Where reading it still fits and sending it does not, the run has begun."""
    def run(lab, _):
        with lab.database() as database:
            path = lab.directory(f'memory-{database}', {'V1__a.sql': 'create table a (x int);\n'})
            write(path / 'V2__b.sql', ("create table b (x int);\nselect '", 1), ('x' * MIB, size), ("';\n", 1))
            arguments = ('migrate', '-u', lab.server.url_of(database), '-d', path)
            cores = lab.directory(f'cores-{database}', {})
            done = finish(start(lab, *arguments, within=LIMIT, cwd=cores))
            left = lab.server.query("select relname from pg_class where relname in ('a', 'b') order by 1", database)
            expect(not list(cores.iterdir()), f'{size} MiB: no core', done)
            if done.code == 0:
                expect(left == [['a'], ['b']], f'{size} MiB: all is applied', left, done)
                return {'faults': 1, 'worked': 1}
            expect(done.code in (6, 70) and 'out of memory' in done.err and 'V2__b.sql' in done.err, f'{size} MiB: it says why', done)
            expect(left in ([], [['a']]), f'{size} MiB: nothing of the file is left', left, done)
            again = finish(start(lab, *arguments))
            expect(again.code == 0, f'{size} MiB: with more memory it goes on', again)
        return {'faults': 1, 'said what is wrong': 1}
    return run


def cases():
    for title, (make, rows) in FITS.items():
        yield Case(f'64 MiB of memory: {title}', fits(title, make, rows), seconds=600)
    for size in (1, 2, 4, 6, 8, 10, 12, 14, 16, 20, 24, 32, 48, 64, 100):
        yield Case(f'64 MiB of memory: a statement of {size} MiB', too_large(size))
