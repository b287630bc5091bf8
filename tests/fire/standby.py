"""A hot standby of a lab's server, and the failover to it."""
import os
import tempfile
from pathlib import Path

from lab import free_port
from strikes import kill_postmaster
from throwaway_server import ThrowawayServer, output_of, unprivileged

NAME = 'second'  # of the standby, to the primary


class Standby(ThrowawayServer):
    """Streams from `primary`, by way of `through` (host, port) if that is given."""

    def __init__(self, primary, through=None):
        self.bin, self.database, self.process = primary.bin, primary.database, None
        self.dir = Path(tempfile.mkdtemp(prefix='lockstep-standby-'))
        self.port = free_port()
        self.settings = tuple(f'port={self.port}' if setting.startswith('port=') else setting for setting in primary.settings)
        user = unprivileged()
        if user:
            os.chown(self.dir, user['user'], user['group'])
        data, whom = self.dir / 'data', f'user=postgres application_name={NAME}'
        output_of([self.bin / 'pg_basebackup', '-D', data, '-R', '-c', 'fast', '-d',
                   f'host={primary.dir} port={primary.port} {whom}'], cwd=self.dir, **user)
        if through:
            with open(data / 'postgresql.auto.conf', 'a', encoding='utf-8') as settings:
                settings.write(f"primary_conninfo = 'host={through[0]} port={through[1]} {whom}'\n")

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *arguments):
        super().__exit__(*arguments)
        self.remove()

    def promote(self):
        output_of([self.bin / 'pg_ctl', 'promote', '-w', '-D', self.dir / 'data'], cwd=self.dir, **unprivileged())


def caught_up(primary):
    """Whether the standby has replayed what the primary has."""
    return primary.query("select replay_lsn >= pg_current_wal_insert_lsn() from pg_stat_replication "
                         f"where application_name = '{NAME}'") == [['t']]


def confirm_by_standby(primary):
    """From now on a commit waits for the standby."""
    primary.psql('-c', f"alter system set synchronous_standby_names = '{NAME}'", '-c', 'select pg_reload_conf()')


def is_confirming(primary):
    return primary.query('select sync_state from pg_stat_replication') == [['sync']]


def kill_primary(primary):
    """If that is not done yet."""
    if primary.process.poll() is not None:
        return
    kill_postmaster(primary.process.pid)
    primary.process.wait()


def url_of_both(first, second, database, user='postgres'):
    """Two servers, each a ThrowawayServer or DIRECTORY:PORT of a socket: libpq takes the first one that is the primary."""
    hosts, ports = zip(*(address_of(server) for server in (first, second)))
    return (f'postgresql:///{database}?host={",".join(hosts)}&port={",".join(ports)}&user={user}'
            '&target_session_attrs=read-write')


def address_of(server):
    return tuple(server.split(':')) if isinstance(server, str) else (str(server.dir), str(server.port))
