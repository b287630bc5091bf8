"""A throwaway PostgreSQL server for programs in Python, and how to run a command beside it."""
import ctypes
import os
import pwd
import re
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path

CLEAN_ENVIRONMENT = {'PATH': os.environ.get('PATH', '/usr/bin:/bin'), 'LC_ALL': 'C.UTF-8'}
SETTINGS = ('fsync=off', 'synchronous_commit=off', 'full_page_writes=off', 'autovacuum=off', 'jit=off')


class Stop(Exception):
    """The work cannot go on; the text says why."""


def newest_server():
    """The folder of initdb, postgres and psql."""
    found = [path.parent for path in Path('/usr/lib/postgresql').glob('*/bin/initdb')]
    if found:
        return max(found, key=lambda path: int(re.match(r'\d+', path.parent.name)[0]))
    if shutil.which('initdb'):
        return Path(os.path.realpath(shutil.which('initdb'))).parent
    raise Stop('no PostgreSQL server programs found; give --server-bin')


def unprivileged():
    """Keywords for subprocess: servers refuse to be root."""
    if os.geteuid() != 0:
        return {}
    for name in ('postgres', 'nobody'):
        try:
            user = pwd.getpwnam(name)
            return {'user': user.pw_uid, 'group': user.pw_gid, 'extra_groups': []}
        except KeyError:
            continue
    raise Stop('no user to run a server as')


def die_with_parent():
    """Also where a shell that started all this in the background has SIGQUIT ignored."""
    pr_set_pdeathsig = 1
    signal.signal(signal.SIGQUIT, signal.SIG_DFL)
    ctypes.CDLL(None).prctl(pr_set_pdeathsig, signal.SIGQUIT)


def is_ready(pid_file, pid):
    """By postmaster.pid, which may be that of a server that was killed, until the new one removes it."""
    try:
        text = pid_file.read_text()
    except FileNotFoundError:
        return False
    return text.startswith(f'{pid}\n') and ('\nready' in text or '\nstandby' in text)


def output_of(command, **keywords):
    done = subprocess.run([str(part) for part in command], env=CLEAN_ENVIRONMENT, capture_output=True,
                          encoding='utf-8', errors='surrogateescape', check=False, **keywords)
    if done.returncode != 0:
        raise Stop(f'{Path(str(command[0])).name} failed ({done.returncode}): {done.stderr or done.stdout}')
    return done.stdout


class ThrowawayServer:
    """A server with one empty database, on a unix socket in a private directory, and on loopback if it has a port of
    its own. It stops at the end of its `with` block, or with this process."""

    def __init__(self, bin_dir, settings=(), port=None):
        self.bin = bin_dir
        self.dir = Path(tempfile.mkdtemp(prefix='lockstep-server-'))
        self.process = None
        self.database = 'app'
        self.port = port or 5432
        self.settings = (*SETTINGS, f'listen_addresses={"127.0.0.1" if port else ""}', f'port={self.port}', *settings)
        user = unprivileged()
        if user:
            os.chown(self.dir, user['user'], user['group'])
        output_of([bin_dir / 'initdb', '-D', self.dir / 'data', '-U', 'postgres', '-A', 'trust', '-N', '-E', 'UTF8',
                   '--locale=C'], cwd=self.dir, **user)

    def __enter__(self):
        self.start()
        self.create_database(self.database)
        return self

    def start(self):
        """Also after it has been killed."""
        settings = [argument for setting in self.settings for argument in ('-c', setting)]
        with open(self.log, 'ab') as log:
            self.process = self.started([self.bin / 'postgres', '-D', self.dir / 'data', '-k', self.dir, *settings],
                                        env=CLEAN_ENVIRONMENT, cwd=self.dir, stdin=subprocess.DEVNULL, stdout=log,
                                        stderr=log, preexec_fn=die_with_parent)
        self.wait_until_ready()

    def started(self, command, **keywords):
        return subprocess.Popen(command, **keywords, **unprivileged())

    @property
    def own_pid(self):
        """As the server itself sees it."""
        return self.process.pid

    def wait_until_ready(self):
        deadline = time.monotonic() + 60
        pid_file = self.dir / 'data' / 'postmaster.pid'
        while not is_ready(pid_file, self.own_pid):
            if self.process.poll() is not None or time.monotonic() > deadline:
                raise Stop('the server did not start: ' + self.log.read_text())
            time.sleep(0.01)

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGQUIT)
        self.process.wait()

    def remove(self):
        shutil.rmtree(self.dir, ignore_errors=True)

    @property
    def log(self):
        return self.dir / 'log'

    @property
    def address(self):
        return ['-h', self.dir, '-p', self.port, '-U', 'postgres']

    @property
    def conninfo(self):
        return f'host={self.dir} port={self.port} user=postgres dbname={self.database}'

    @property
    def url(self):
        return self.url_of(self.database)

    def url_of(self, database, host=None, port=None):
        host = str(host or self.dir).replace('/', '%2F')
        return f'postgresql://postgres@{host}:{port or self.port}/{database}'

    def create_database(self, name, template='template0'):
        output_of([self.bin / 'createdb', *self.address, '-T', template, name])

    def drop_database(self, name):
        output_of([self.bin / 'dropdb', '--force', *self.address, name])

    def psql(self, *arguments, database=None, **keywords):
        return output_of([self.bin / 'psql', '-XAtq', '-v', 'ON_ERROR_STOP=1', '-v', 'VERBOSITY=verbose', '-d',
                          self.url_of(database) if database else self.conninfo, *arguments], **keywords)

    def query(self, sql, database=None):
        text = self.psql('-F', '\x1f', '-R', '\x1e', database=database, input=sql)
        return [row.split('\x1f') for row in text[:-1].split('\x1e')] if text else []
