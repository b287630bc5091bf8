"""Limits that are really reached: no connection is left, or one alone; timeouts in which nothing can be done."""
from contextlib import ExitStack, contextmanager

from deployment import as_usual, directories, fresh_target, left_in
from firing import SETTINGS, Case, expect, finish, lockstep, start
from lab import Lab
from proxy import TCP, Proxy
from psql_session import PsqlSession
from settings_servers import files_of, wait_until

FEW = (*SETTINGS, 'max_connections=6', 'superuser_reserved_connections=1', 'max_wal_senders=0')
EVERYBODY = 5  # who is no superuser
SLOW = {'V7__slow.sql': 'select pg_sleep(1.5);\n'}  # longer than a run goes without its observer
COMMANDS = (('migrate',), ('info',), ('validate',), ('plan',), ('baseline', '--version', '1'), ('repair', '--yes'))


@contextmanager
def taken(server, count):
    """So many connections are taken. Gives what gives one back."""
    with ExitStack() as exits:
        others = [exits.enter_context(PsqlSession(server)) for _ in range(count)]
        for other in others:
            other.send('select 1')

        def give_back():
            others.pop().close()
            wait_until(lambda: len(others) >= in_use(server), 'a connection that is free')
        yield give_back


def in_use(server):
    counted = "select count(*) - 1 from pg_stat_activity where backend_type = 'client backend'"
    return int(server.query(counted)[0][0])


def no_connection_left(lab, _):
    """It is said, with the server's words; who waits goes on with the one that is given back."""
    with Lab(lab.lockstep, lab.server.bin, FEW) as own, own.database() as database:
        target, (good, __) = fresh_target(own, database), directories(own)
        with taken(own.server, EVERYBODY) as give_back:
            for command in COMMANDS:
                done = lockstep(own, *command, '-u', target.url, '-d', good)
                says = 'all connections are taken [SQLSTATE 53300]' in done.err and 'FATAL' in done.err
                expect(done.code == 4 and says and '--wait-for-db' in done.err, f'{command}: no room, and it is said', done)
            process = start(own, 'migrate', '-u', target.url, '-d', good, '--wait-for-db', '60s')
            expect('all connections are taken' in process.stderr.readline(), 'it is said what is waited for')
            give_back()
            done = finish(process)
            expect(done.code == 0 and done.out.startswith('applied 6'), 'who waits gets the one that is given back', done)
    return {'faults': len(COMMANDS) + 1, 'said why': len(COMMANDS), 'worked': 1}


def one_connection_left(lab, _):
    """Its session is all that a run gets: a long statement goes unobserved, and what a proxy in the path is stays unproved."""
    with Lab(lab.lockstep, lab.server.bin, FEW) as own, own.database() as database, Proxy(own) as proxy:
        target, (good, __), slow = fresh_target(own, database), directories(own), own.directory('slow', SLOW)
        with taken(own.server, EVERYBODY - 1):
            done = lockstep(own, 'migrate', '-u', proxy.url(database, TCP).replace('=postgres', f'={target.role}'), '-d', good)
            says = 'could not be opened: ' in done.err and 'FATAL' in done.err
            expect(done.code == 5 and says, 'what cannot be proved is refused, with the reason', done)
            there = own.server.query("select to_regclass('lockstep_history')", database)
            expect(there == [['']], 'nothing was written', there)
            wait_until(lambda: in_use(own.server) < EVERYBODY, 'the end of that session')
            done = lockstep(own, 'migrate', '-u', target.url, '-d', good, '-d', slow)
            expect(done.code == 0 and done.out.startswith('applied 7'), 'one connection is enough', done)
    return {'faults': 2, 'refused, and said why': 1, 'worked': 1}


def role_with_one_connection(lab, _):
    """The run waits for a lock for longer than its observer would have been asked twice."""
    with lab.database() as database, PsqlSession(lab.server) as holder:
        target, (good, __) = fresh_target(lab, database), directories(lab)
        waits = files_of(lab, 'deployment-waits', {'V7__waits.sql': '-- lockstep: lock_timeout=60s\nlock table held;\n'})
        lab.server.query(f'alter role {target.role} connection limit 1')
        holder.use(database)
        holder.send(f'create table held (); alter table held owner to {target.role}; begin; lock table held')
        process = start(lab, 'migrate', '-u', target.url, '-d', good, '-d', waits)
        waiting = "select count(*) from pg_stat_activity where application_name like 'lockstep%' and datname = '{}' "
        waiting += "and wait_event_type = 'Lock' and clock_timestamp() - query_start > '2.2 s'"
        wait_until(lambda: lab.server.query(waiting.format(database)) == [['1']], 'a run that waits for long')
        holder.send('commit')
        done = finish(process)
        expect(done.code == 0 and done.out.startswith('applied 7'), 'the run goes on without an observer', done)
    return {'faults': 1, 'worked': 1}


def too_short(name, since=12):
    """A millisecond is no time for anything; on a quick machine a run may get through, but never half."""
    def run(lab, _):
        if int(lab.server.query('show server_version_num')[0][0]) < since * 10000:
            return {'faults': 0}
        with lab.database() as database:
            target, (good, __) = fresh_target(lab, database), directories(lab)
            lab.server.query(f'alter role {target.role} set {name} = 1')
            done = lockstep(lab, 'migrate', '-u', target.url, '-d', good)
            says = f'alter role … set {name}' in done.err or f'its own with: -- lockstep: {name}' in done.err
            expect(done.code == 0 or (done.code in (4, 6, 7) and says), 'it works, or it is said what to change', done)
            lab.server.query(f'alter role {target.role} reset all')
            again = lockstep(lab, 'migrate', '-u', target.url, '-d', good)
            expect(again.code == 0 and left_in(lab, target) == as_usual(lab)[1], 'without the limit it goes on', again)
        return {'faults': 1, 'worked' if done.code == 0 else 'stopped, and said why': 1}
    return run


def cases():
    yield Case('no connection is left', no_connection_left, fixed=True)
    yield Case('one connection is left', one_connection_left)
    yield Case('one connection for the role, and a statement that waits', role_with_one_connection)
    yield Case('statement_timeout of a millisecond', too_short('statement_timeout'), fixed=True)
    yield Case('idle_session_timeout of a millisecond', too_short('idle_session_timeout', 14))
    yield Case('transaction_timeout of a millisecond', too_short('transaction_timeout', 17))
