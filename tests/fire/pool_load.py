"""Other clients of a pool, made with pgbench. They end when their database gets a row that says so, each behind a
statement: a client that is killed would take its backend with it, and with that what a probe left there."""
import contextlib
import subprocess
import time

from firing import Broken
from throwaway_server import CLEAN_ENVIRONMENT

STOP = 'pool_load_ends'
GO_ON = f'select 1 / (case when exists (select from {STOP}) then 0 else 1 end)'

# name: how many clients (None: as many as the pool has backends), what each of them does again and again
WORKS = {
    'short4': (4, f'{GO_ON}, pg_sleep(0.002);'),
    'slow4': (4, f'{GO_ON};\nbegin;\nselect pg_sleep(0.03);\nend;'),
    'short30': (30, f'{GO_ON}, pg_sleep(0.002);'),
    'held': (None, f'{GO_ON};\nbegin;\nselect pg_sleep(1.5);\nend;'),
}
LOADS = ('cold', 'warm', *WORKS)


def in_statement_mode(script):
    """Statement mode allows no transaction of several messages."""
    return script.replace('begin;\n', '').replace('end;', '')


def pgbench(lab, pooler, database, clients, script, *options):
    path = lab.work / f'{database}.load.sql'
    path.write_text(script + '\n')
    return subprocess.Popen([lab.server.bin / 'pgbench', '-n', '-c', str(clients), '-f', path, *options,
                             pooler.url(database)],
                            env=CLEAN_ENVIRONMENT, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                            stderr=subprocess.PIPE, encoding='utf-8')


def warm_up(lab, pooler, database, pool_size):
    """All backends of the pool are there, and idle."""
    process = pgbench(lab, pooler, database, pool_size, 'select pg_sleep(0.02);', '-t', '1', '-C')
    if process.wait(60) != 0:
        raise Broken(f'the pool was not warmed up: {process.stderr.read()}')


def wait_until_busy(lab, process, database, backends):
    sql = f"select count(*) from pg_stat_activity where datname = '{database}' and query like '%pg_sleep%'"
    deadline = time.monotonic() + 30
    while int(lab.server.query(sql)[0][0]) < backends:
        if process.poll() is not None or time.monotonic() > deadline:
            raise Broken(f'the load did not begin: {process.stderr.read()}')


@contextlib.contextmanager
def load(lab, pooler, database, kind, mode, pool_size):
    """The load `kind` on the pool of this database. In session mode its clients come and go, or a small pool would be
    taken for good."""
    lab.server.query(f'create table if not exists {STOP} (i int)', database)
    if kind == 'warm':
        warm_up(lab, pooler, database, pool_size)
    if kind not in WORKS:
        yield
        return
    clients, script = WORKS[kind]
    script = in_statement_mode(script) if mode == 'statement' else script
    process = pgbench(lab, pooler, database, clients or pool_size, script, '-T', '600', *(['-C'] * (mode == 'session')))
    try:
        wait_until_busy(lab, process, database, min(clients or pool_size, pool_size, 4))
        yield
    finally:
        lab.server.query(f'insert into {STOP} values (1)', database)
        try:
            process.communicate(timeout=20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
        lab.server.query(f'delete from {STOP}', database)
