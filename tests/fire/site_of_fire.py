"""Where a workload is put under fire: a proxy, one psql, and a database that is made new for each fault."""
import contextlib
import re
import time

from corpus import MARKS
from firing import expect, lockstep
from judge import Judge
from proxy import OPTIONS, UNIX, Proxy
from psql_session import PsqlSession
from throwaway_server import Stop, output_of
from verdict import verdict_on

SETTLED = 'was running when an earlier run ended'


class Site:
    """Everything is gone after its `with` block."""

    numbers = iter(range(1, 1 << 30))

    def __init__(self, lab, workload):
        self.lab, self.workload = lab, workload
        self.exits = contextlib.ExitStack()

    def __enter__(self):
        self.psql = self.exits.enter_context(PsqlSession(self.lab.server))
        self.proxy = self.exits.enter_context(Proxy(self.lab))
        self.name = f'site_{next(self.numbers)}'
        self.files = self.lab.directory(self.name, self.workload.texts)
        self.judge = Judge(self.psql, (*self.workload.files, *self.workload.prior), self.workload.given,
                           [label for one in self.workload.callbacks for step in one.statements for label in step.marks])
        self.lab.server.create_database(self.name)
        self.prepare()
        self.before = self.judge.look(self.name)
        self.dump = output_of([self.lab.server.bin / 'pg_dump', '-O', '-d', self.url])
        return self

    def __exit__(self, kind, *_):
        self.exits.close()
        if kind is None:  # else there may be no server any more
            self.lab.server.drop_database(self.name)

    @property
    def url(self):
        return self.lab.server.url_of(self.name)

    def prepare(self):
        self.psql.use(self.name)
        self.psql.send(MARKS + self.workload.setup)
        if self.workload.prior:
            directory = self.lab.directory(f'{self.name}_prior', {one.script: one.text for one in self.workload.prior})
            done = lockstep(self.lab, 'migrate', '-u', self.url, '-d', directory)
            expect(done.code == 0, 'what was migrated before', done)

    def renew(self):
        """The database as it was before. That takes a tenth of the time of a new one."""
        self.psql.use(self.name)
        self.psql.send('drop schema public cascade; create schema public;')
        self.psql.send(self.dump + 'reset all;')

    def arguments(self, url, *options):
        return [*self.workload.command, '-u', url, '-d', self.files, '--output', 'json', *options]

    def run(self, url, *options):
        return lockstep(self.lab, *self.arguments(url, *options), environment=dict(self.workload.environment))

    def under_fire(self, fault, transport=UNIX):
        """The run through the proxy, which the fault may hit."""
        self.renew()
        self.proxy.arm(fault)
        return self.run(self.proxy.url(self.name, transport), *OPTIONS[transport])

    def start_again(self):
        """After the server was stopped or killed."""
        self.lab.server.process.wait()
        deadline = time.monotonic() + 10
        while True:
            try:
                self.lab.server.start()
                return self.psql.reopen()
            except Stop:  # a child that was killed a moment ago still holds the shared memory
                if time.monotonic() > deadline:
                    raise

    def wait_for_crash(self, seconds=2):
        """After a backend was killed: the server ends all sessions, if that backend had not ended by itself just then."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            try:
                self.psql.query('select 1')
                time.sleep(0.005)
            except (Stop, BrokenPipeError):
                return self.psql.reopen()

    def judge_fault(self, run):
        """The outcome in a word or two, and the state. What the run said, and what it left, must be true."""
        self.judge.wait_until_free(self.name)
        after = self.judge.look(self.name)
        self.judge.agree(after)
        return verdict_on(run, self.before, after, self.workload.final), after

    def rerun(self, after):
        """It ends the work by itself; only a statement that no catalog tells of is answered for it, from what is there."""
        run = self.run(self.url)
        in_doubt = any(row.in_doubt for row in after.history)
        expect(not in_doubt or run.code == 3 or SETTLED in run.err, 'what was in doubt is settled without a word', run, after)
        if run.code == 3:
            self.answer(run, after)
            run = self.run(self.url)
        expect(run.code == 0, 'the rerun does not end well', run, after)
        self.judge.complete(self.name, self.workload.final)
        return run

    def answer(self, run, after):
        """Takes the command that the error names."""
        error = run.json['error']
        expect(error['code'] == 'statement_in_doubt', 'the rerun needs help', run, after)
        version, number = re.search(r'--statement-again V([\d.]+):(\d+)', error['hint']).groups()
        migration = next(one for one in self.workload.files if one.script.startswith(f'V{version}__'))
        statement = migration.statements[int(number) - 1]
        done = all(after.marks[label] for label in statement.marks)
        repaired = lockstep(self.lab, 'repair', '-u', self.url, '-d', self.files, '--yes',
                            '--statement-done' if done else '--statement-again', f'V{version}:{number}')
        expect(repaired.code == 0, 'the repair fails', repaired, after)
