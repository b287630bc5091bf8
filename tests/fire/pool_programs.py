"""Poolers of a scenario: real programs in a private directory, each in front of a server on loopback."""
import os
import re
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path

from firing import Broken
from lab import free_port
from throwaway_server import CLEAN_ENVIRONMENT, die_with_parent, output_of, unprivileged

# A distribution puts them where only root looks.
PATH = f'{os.environ.get("PATH", "/usr/bin:/bin")}:/usr/sbin:/sbin'


def program(name):
    found = shutil.which(name, path=PATH)
    if not found:
        raise Broken(f'{name} is not installed: run scripts/setup')
    return found


def pgbouncers():
    """(name, program) of the distribution's PgBouncer, and of those that LOCKSTEP_TEST_PGBOUNCER lists."""
    others = os.environ.get('LOCKSTEP_TEST_PGBOUNCER', '').split(':')
    return [('pgbouncer', 'pgbouncer'),
            *((f'pgbouncer-{number}', path) for number, path in enumerate(filter(None, others), start=2))]


def version_of(path):
    """(1, 18) of PgBouncer 1.18.0."""
    return tuple(map(int, re.search(r'PgBouncer (\d+)\.(\d+)', output_of([program(path), '--version'])).groups()))


class Daemon:
    """Runs from the beginning of its `with` block to the end, as a user without rights, in a directory of its own."""

    def __init__(self, login=('postgres', {})):
        self.login = login
        self.dir = Path(tempfile.mkdtemp(prefix='lockstep-pooler-'))
        self.port = free_port()
        self.process = None

    def command(self):
        raise NotImplementedError

    def ready(self):
        """Whether it serves. The log says so without a connection, which would be one of its clients."""
        raise NotImplementedError

    @property
    def log(self):
        return (self.dir / 'log').read_text(encoding='utf-8', errors='replace')

    def write(self, name, text):
        (self.dir / name).write_text(text)

    def __enter__(self):
        user = unprivileged()
        for path in (self.dir, *self.dir.iterdir()):
            if user:
                os.chown(path, user['user'], user['group'])
        with open(self.dir / 'log', 'wb') as log:
            self.process = subprocess.Popen(self.command(), cwd=self.dir, env=CLEAN_ENVIRONMENT, stdin=subprocess.DEVNULL,
                                            stdout=log, stderr=log, preexec_fn=die_with_parent, **user)
        deadline = time.monotonic() + 30
        while not self.ready():
            if self.process.poll() is not None or time.monotonic() > deadline:
                raise Broken(f'{Path(self.command()[0]).name} did not start:\n{self.log}')
            time.sleep(0.005)
        return self

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGINT)
        try:
            self.process.wait(2)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        shutil.rmtree(self.dir, ignore_errors=True)

    def url(self, database, host='127.0.0.1', port=None):
        user, parameters = self.login
        query = '&'.join(f'{name}={value}' for name, value in parameters.items())
        return f'postgresql://{user}@{str(host).replace("/", "%2F")}:{port or self.port}/{database}?{query}'


class PgBouncer(Daemon):
    """`settings` are of its section [pgbouncer], `databases` and `users` whole lines of theirs. `login` is how clients of
    it come: the user, and more parameters."""

    def __init__(self, path, server_port, settings, databases=(), users=(), accounts='"postgres" ""',
                 server_host='127.0.0.1', **login):
        super().__init__(**login)
        self.path = path
        self.settings = {'listen_addr': '127.0.0.1', 'listen_port': self.port, 'unix_socket_dir': self.dir,
                      'auth_type': 'trust', 'auth_file': 'accounts', 'max_client_conn': 500, 'server_login_retry': 1,
                      **settings}
        self.write('accounts', accounts + '\n')
        self.write('pgbouncer.ini', '\n'.join([
            '[databases]', *databases, f'* = host={server_host} port={server_port}',
            '[users]', *users,
            '[pgbouncer]', *(f'{name} = {value}' for name, value in self.settings.items()), '']))

    def command(self):
        return [program(self.path), 'pgbouncer.ini']

    def ready(self):
        return 'process up' in self.log


class Pgpool(Daemon):
    def __init__(self, server_port):
        super().__init__()
        everything = {'listen_addresses': '127.0.0.1', 'port': self.port, 'pcp_port': free_port(), 'socket_dir': self.dir,
                      'unix_socket_directories': self.dir, 'pcp_socket_dir': self.dir, 'wd_ipc_socket_dir': self.dir,
                      'backend_hostname0': '127.0.0.1', 'backend_port0': server_port, 'backend_weight0': 1,
                      'pid_file_name': self.dir / 'pid', 'logdir': self.dir, 'work_dir': self.dir,
                      'num_init_children': 8, 'sr_check_period': 0, 'health_check_period': 0, 'sr_check_user': 'postgres',
                      'health_check_user': 'postgres', 'backend_clustering_mode': 'streaming_replication'}
        self.write('pgpool.conf', ''.join(f"{name} = '{value}'\n" for name, value in everything.items()))
        for name in ('pcp.conf', 'pool_hba.conf'):
            self.write(name, '')

    def command(self):
        return [program('pgpool'), '-n', '-f', 'pgpool.conf', '-F', 'pcp.conf', '-a', 'pool_hba.conf']

    def ready(self):
        return 'successfully started' in self.log
