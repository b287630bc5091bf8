"""Servers in a bad way: nobody confirms a commit, every connection that the database may have is taken."""
import signal
import time
from contextlib import contextmanager

from deployment import directories, fresh_target
from firing import Broken, Case, expect, finish, lockstep, start
from psql_session import PsqlSession

ONE = {'V1__one.sql': 'create table one (n int);\n'}
TWO = {'V2__two.sql': 'create table two (n int);\n'}


def wait_until(holds, what, seconds=30):
    deadline = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > deadline:
            raise Broken(f'this did not come: {what}')
        time.sleep(0.01)


def files_of(lab, name, files):
    path = lab.work / name
    return path if path.exists() else lab.directory(name, files)


@contextmanager
def nobody_confirms(lab, target):
    """COMMIT waits for a standby that is not there."""
    lab.server.query(f'alter role {target.role} set synchronous_commit = on')
    lab.server.psql('-c', "alter system set synchronous_standby_names = 'nobody'", '-c', 'select pg_reload_conf()')
    wait_until(lambda: lab.server.query('show synchronous_standby_names') == [['nobody']], 'the setting')
    try:
        yield
    finally:
        lab.server.psql('-c', 'alter system reset synchronous_standby_names', '-c', 'select pg_reload_conf()')
        wait_until(lambda: lab.server.query('show synchronous_standby_names') == [['']], 'the setting')


WAITING = "select pid from pg_stat_activity where datname = '{}' and wait_event = 'SyncRep' and application_name like 'lockstep%'"


def unconfirmed(hit, code, says):
    """A commit that is done here but confirmed by nobody. What is said of it must be true: the file is applied."""
    def run(lab, _):
        with lab.database() as database:
            target = fresh_target(lab, database)
            one, two = files_of(lab, 'deployment-one', ONE), files_of(lab, 'deployment-two', TWO)
            expect(lockstep(lab, 'migrate', '-u', target.url, '-d', one).code == 0, 'the first file is applied')
            with nobody_confirms(lab, target):
                process = start(lab, 'migrate', '-u', target.url, '-d', one, '-d', two)
                wait_until(lambda: lab.server.query(WAITING.format(database)), 'a commit that waits')
                hit(lab, process, WAITING.format(database))
                done = finish(process)
            applied = lab.server.query("select count(*) from lockstep_history where state = 'applied'", database)
            expect(applied == [['2']], 'the file was committed where it ran', applied, done)
            expect(done.code == code and says in done.err, f'exit {code}, and it is said that {says}', done)
            for untrue in ('was rolled back', 'trying again'):
                expect(untrue not in done.err, f'nobody says that it {untrue}', done)
            again = lockstep(lab, 'migrate', '-u', target.url, '-d', one, '-d', two)
            expect(again.code == 0 and 'nothing to do' in again.out, 'there is nothing left to do', again)
        return {'faults': 1, 'committed, and said so': 1}
    return run


def interrupt(_, process, __):
    process.send_signal(signal.SIGINT)


def cancel(lab, _, waiting):
    lab.server.query(waiting.replace('select pid', 'select pg_cancel_backend(pid)'))


def terminate(lab, _, waiting):
    lab.server.query(waiting.replace('select pid', 'select pg_terminate_backend(pid)'))


def every_connection_taken(lab, _):
    with lab.database() as database:
        target, (good, __) = fresh_target(lab, database), directories(lab)
        lab.server.query(f'alter database {database} connection limit 1')
        with PsqlSession(lab.server) as other:
            other.use(database)
            full = lockstep(lab, 'migrate', '-u', target.url, '-d', good)
            expect(full.code == 4 and 'all connections are taken' in full.err, 'it is said that there is no room', full)
            waiting = start(lab, 'migrate', '-u', target.url, '-d', good, '--wait-for-db', '60s')
        done = finish(waiting)
        expect(done.code == 0 and done.out.startswith('applied 6'), 'who waits gets the connection that is given back', done)
    return {'faults': 2, 'said why': 1, 'worked': 1}


def cases():
    yield Case('nobody confirms the commit: SIGINT', unconfirmed(interrupt, 0, 'already committed locally'))
    yield Case('nobody confirms the commit: cancel', unconfirmed(cancel, 0, 'already committed locally'))
    yield Case('nobody confirms the commit: terminate', unconfirmed(terminate, 4, 'run lockstep migrate again'.capitalize()))
    yield Case('every connection is taken', every_connection_taken, fixed=True)
