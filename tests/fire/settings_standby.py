"""A hot standby, and the failover to it: before a run, in the middle of it, and before its COMMIT is confirmed."""
import contextlib
from collections import Counter

from corpus import mark, migration
from deployment import directories, fresh_target, left_in, normal
from firing import SETTINGS, Case, expect, finish, lockstep, start
from held import HELD, holding, wait_until_it_waits
from lab import Lab
from proxy import AFTER, BEFORE, CLIENT, OPTIONS, UNIX, Fault, Proxy
from settings_servers import wait_until
from site_of_fire import Site
from standby import Standby, caught_up, confirm_by_standby, is_confirming, kill_primary, url_of_both
from verdict import told_scripts
from workloads import BASELINE, INDEXES, MIXED, TRANSACTIONAL, UNDO, workload

MORE = {'V7__more.sql': 'create table more (n int);\n', 'U7__more.sql': 'drop table more;\n'}
ALLOWED = {'LOCKSTEP_UNDO_ENABLED': 'true', 'LOCKSTEP_CLEAN_ENABLED': 'true'}
READING = {('info',): 0, ('info', '--check'): 1, ('validate',): 0, ('plan',): 0, ('migrate', '--dry-run'): 0}
WRITING = (('migrate',), ('baseline', '--version', '9'), ('repair', '--yes'), ('undo',), ('clean', '--confirm', '{}'))
DURABLE = (*SETTINGS, 'synchronous_commit=on', 'wal_level=replica')


def asked(lab, url, command, more):
    good, _ = directories(lab)
    return lockstep(lab, *command, '-u', url, '-d', good, '-d', more, environment=ALLOWED)


def on_a_standby(lab, _):
    """Who only reads is told the same as by the primary; who would write is refused, and nothing of it is on either."""
    with Lab(lab.lockstep, lab.server.bin, DURABLE) as own, own.database() as database, Standby(own.server) as second:
        target, (good, __), more = fresh_target(own, database), directories(own), own.directory('more', MORE)
        expect(lockstep(own, 'migrate', '-u', target.url, '-d', good).code == 0, 'the deployment works')
        wait_until(lambda: caught_up(own.server), 'the standby has it')
        url, before = second.url_of(database).replace('//postgres@', f'//{target.role}@'), left_in(own, target)
        for command, code in READING.items():
            here, there = asked(own, url, command, more), asked(own, target.url, command, more)
            same = normal(here.out, target) == normal(there.out, target)
            expect(here.code == there.code == code and same, f'{command} works on a standby', here, there)
        for command in WRITING:
            done = asked(own, url, [word.format(database) for word in command], more)
            expect(done.code == 5 and 'this server is a standby' in done.err and not done.out, f'{command} is refused', done)
        expect(left_in(own, target) == before, 'nothing was done')
        found_by_attributes(own, second, target, more)
    return {'faults': len(WRITING) + 2, 'refused, and said why': len(WRITING) + 1, 'worked': len(READING) + 1}


def found_by_attributes(lab, second, target, more):
    """The standby is the first host."""
    both = url_of_both(second, lab.server, target.database, target.role)
    done = asked(lab, both.replace('read-write', 'any'), ('migrate',), more)
    expect(done.code == 5 and 'target_session_attrs=read-write' in done.err, 'it is said how the primary is found', done)
    done = asked(lab, both, ('migrate',), more)
    expect(done.code == 0 and 'applied 1' in done.out, 'the primary is found behind the standby', done)


def before_the_run(lab, _):
    """The primary is dead and the standby still is one: whoever waits goes on with the new primary."""
    with Lab(lab.lockstep, lab.server.bin, DURABLE) as own, own.database() as database, Standby(own.server) as second:
        target, (good, __) = fresh_target(own, database), directories(own)
        wait_until(lambda: caught_up(own.server), 'the standby has the role')
        kill_primary(own.server)
        for urls in (url_of_both(own.server, second, database, target.role),
                     second.url_of(database).replace('//postgres@', f'//{target.role}@') + '?target_session_attrs=read-write'):
            done = lockstep(own, 'migrate', '-u', urls, '-d', good)
            expect(done.code == 4 and 'no server there takes writes' in done.err, 'it is said that no primary is there', done)
            expect('--wait-for-db' in done.err, 'and how to wait for one', done)
        process = start(own, 'migrate', '-u', urls, '-d', good, '--wait-for-db', '60s')
        expect('no server there takes writes' in process.stderr.readline(), 'it is said what is waited for')
        second.promote()
        done = finish(process)
        expect(done.code == 0 and done.out.startswith('applied 6'), 'who waits goes on with the new primary', done)
    return {'faults': 3, 'said why': 2, 'worked': 1}


class Pair(Site):
    """A site whose server has a standby. Gone with the primary is everything that was not streamed to that."""

    second = None

    def __init__(self, lab, workload, confirmed):
        super().__init__(lab, workload)
        self.confirmed = confirmed

    def __enter__(self):
        super().__enter__()
        self.stream = self.exits.enter_context(Proxy(self.lab))
        self.second = self.exits.enter_context(Standby(self.lab.server, ('127.0.0.1', self.stream.port)))
        if self.confirmed:
            confirm_by_standby(self.lab.server)
            wait_until(lambda: is_confirming(self.lab.server), 'the standby confirms')
        wait_until(lambda: caught_up(self.lab.server), 'the standby has everything')
        return self

    def __exit__(self, *_):
        self.exits.close()

    @property
    def url(self):
        """Both servers by the way that can be struck, the primary first."""
        first = f'{self.proxy.dir.name}:{self.proxy.port}'
        return url_of_both(first, self.second, self.name) if self.second else super().url

    def stop_streaming(self):
        """Nothing reaches the standby any more, and neither end can tell."""
        self.stream.call(lambda: [link.stall() for link in self.stream.links])

    def fail_over(self):
        """The judge goes along."""
        kill_primary(self.lab.server)
        self.stream.hang_up()
        self.second.promote()
        self.lab.server = self.psql.server = self.second
        self.psql.reopen()

    def judge_loss(self, run):
        """What nobody had confirmed may be gone: history and schema agree all the same."""
        self.judge.wait_until_free(self.name)
        after = self.judge.look(self.name)
        self.judge.agree(after)
        lost = told_scripts(run.json) - (after.applied() - self.before.applied())
        return f'exit {run.code}' + (', what it told is lost' if lost else ''), after


@contextlib.contextmanager
def pair_for(lab, workload, confirmed):
    with Lab(lab.lockstep, lab.server.bin, DURABLE) as own, Pair(own, workload, confirmed) as pair:
        yield pair


def in_the_middle(held, confirmed):
    """The run waits in a statement when its server dies."""
    def run(lab, _):
        with pair_for(lab, held.workload, confirmed) as pair:
            with holding(pair, held.hold):
                process = start(pair.lab, *pair.arguments(pair.url))
                wait_until_it_waits(pair, process)
                wait_until(lambda: caught_up(pair.lab.server), 'the standby has what is done')
                pair.fail_over()
                done = finish(process, 20)
            expect(done.code in (4, 7), 'the run tells that it was stopped', done)
            outcome, after = pair.judge_fault(done)
            pair.rerun(after)
        return {'faults': 1, outcome: 1}
    return run


ONE_MORE = workload('one more', migration('V1__one.sql', mark('V1')), migration('V2__two.sql', mark('V2')),
                    migration('V3__three.sql', mark('V3')), prior=(migration('V1__one.sql', mark('V1')),))
UNCONFIRMED = "select count(*) from pg_stat_activity where wait_event = 'SyncRep' and application_name like 'lockstep%'"


def before_it_is_confirmed(lab, _):
    """COMMIT waits for a standby that has nothing of it, and the primary dies: what is said to be in doubt is gone."""
    with pair_for(lab, ONE_MORE, confirmed=True) as pair:
        pair.stop_streaming()
        process = start(pair.lab, *pair.arguments(pair.url))
        wait_until(lambda: pair.psql.query(UNCONFIRMED) == [['1']], 'a commit that waits')
        pair.fail_over()
        done = finish(process, 20)
        expect(done.code == 4 and done.json['error']['code'] == 'commit_in_doubt', 'it is said to be in doubt', done)
        outcome, after = pair.judge_fault(done)
        expect(after == pair.before, 'and it is gone', after)
        pair.rerun(after)
    return {'faults': 1, outcome: 1}


def behind_the_run(chosen):
    """All of it was committed, exit 0, and nothing had reached the standby: the next run does it again, once."""
    def run(lab, _):
        with pair_for(lab, chosen, confirmed=False) as pair:
            pair.stop_streaming()
            done = pair.run(pair.url)
            expect(done.code == 0, 'nothing is wrong yet', done)
            pair.fail_over()
            outcome, after = pair.judge_loss(done)
            expect(after == pair.before, 'the new primary is as the old one was', after)
            pair.rerun(after)
            expect('lost' in outcome, 'a commit was lost', outcome)
        return {'faults': 1, outcome: 1}
    return run


def at_some_message(chosen, confirmed, faults):
    """The primary dies at a message of the run, which is anywhere in it."""
    def run(lab, random):
        outcomes = Counter()
        for _ in range(faults):
            with pair_for(lab, chosen, confirmed) as pair:
                pair.proxy.arm(None)
                expect(pair.run(pair.url, *OPTIONS[UNIX]).code == 0, 'the run as such works')
                message = random.randint(1, pair.proxy.counts[CLIENT])
                if not confirmed and random.random() < 0.5:
                    pair.stop_streaming()
                fault = Fault(lambda _: kill_primary(pair.lab.server), CLIENT, message, random.choice((BEFORE, AFTER)))
                done = pair.under_fire(fault)
                pair.proxy.arm(None)  # a run can have fewer messages than the one before
                pair.fail_over()
                outcome, after = pair.judge_fault(done) if confirmed else pair.judge_loss(done)
                pair.rerun(after)
                outcomes.update(['faults', outcome])
        return outcomes
    return run


def cases():
    yield Case('a hot standby', on_a_standby, fixed=True)
    yield Case('failover before the run', before_the_run)
    yield Case('failover before the commit is confirmed', before_it_is_confirmed)
    for chosen in (TRANSACTIONAL, INDEXES, UNDO):
        yield Case(f'failover behind {chosen.name}, all of it lost', behind_the_run(chosen))
    for confirmed, how in ((True, 'synchronous'), (False, 'asynchronous')):
        for held in HELD:
            yield Case(f'failover in the middle of {held.workload.name}, {how}', in_the_middle(held, confirmed))
        for chosen in (TRANSACTIONAL, INDEXES, MIXED, BASELINE, UNDO):
            name = f'failover at some messages of {chosen.name}, {how}'
            yield Case(name, at_some_message(chosen, confirmed, 4), seconds=300)
