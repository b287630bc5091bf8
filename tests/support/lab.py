"""What benchmarks and the tests under fire share: a server, the programs, directories of migrations, databases."""
import contextlib
import socket
import tempfile
from pathlib import Path

from throwaway_server import ThrowawayServer, output_of

HISTORY = 'lockstep_history'


def free_port():
    with socket.socket() as probe:
        probe.bind(('127.0.0.1', 0))
        return probe.getsockname()[1]


def server_socket(lab):
    return f'{lab.server.dir}/.s.PGSQL.{lab.server.port}'


def one_table(number):
    return f'create table t_{number} (\n  id bigint primary key,\n  name text not null\n);\n'


class Lab:
    """Everything is gone after its `with` block."""

    def __init__(self, lockstep, server_bin, settings=(), kind=ThrowawayServer):
        self.lockstep = lockstep
        self.exits = contextlib.ExitStack()
        self.server = kind(server_bin, settings, free_port())
        self.exits.callback(self.server.remove)
        self.exits.enter_context(self.server)
        self.work = Path(self.exits.enter_context(tempfile.TemporaryDirectory(prefix='lockstep-lab-')))
        self.databases = 0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.exits.close()

    def directory(self, name, files):
        """A new directory with these files: name of a file to its text."""
        path = self.work / name
        path.mkdir()
        for file, text in files.items():
            (path / file).write_text(text)
        return path

    def one_table_files(self, count):
        """The directory of this many migrations, made once."""
        path = self.work / f'tables-{count}'
        if path.exists():
            return path
        return self.directory(path.name, {f'V{number}__create_table_{number}.sql': one_table(number)
                                          for number in range(1, count + 1)})

    @contextlib.contextmanager
    def database(self, template='template0'):
        """A new database. It stays until the server goes: where thousands of files were deleted a minute ago, ext4 takes
        several times as long to make new ones, and that would be measured."""
        self.databases += 1
        name = f'lab_{self.databases}'
        self.server.create_database(name, template)
        yield name

    @contextlib.contextmanager
    def large_database(self):
        """One that is gone after the block."""
        with self.database() as name:
            try:
                yield name
            finally:
                self.server.drop_database(name)

    def migrate(self, url, directory, *options):
        return [self.lockstep, 'migrate', '-u', url, '-d', directory, '-q', *options]

    def psql(self, url, *arguments):
        """The program itself: what a distribution calls psql may be a wrapper that takes longer to start."""
        return [self.server.bin / 'psql', '-X', '-d', url, *arguments]

    def loopback(self, database):
        return self.server.url_of(database, host='127.0.0.1')

    def history_ddl(self, database):
        """The statements that create the history table of a database that has one."""
        dump = output_of([self.server.bin / 'pg_dump', '-s', '-O', '-t', HISTORY, '-d', self.server.url_of(database)])
        # psql's own commands, which newer versions put around a dump, are none for psql -c.
        return '\n'.join(line for line in dump.splitlines() if not line.startswith('\\'))

    def log_since(self, offset):
        with open(self.server.log, 'rb') as log:
            log.seek(offset)
            return log.read().decode('utf-8', 'replace')

    def log_end(self):
        return self.server.log.stat().st_size
