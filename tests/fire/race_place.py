"""A history, its files, and the schema in which they work: what a crowd of runs works on."""
import os
from collections import Counter, defaultdict
from dataclasses import dataclass

from corpus import MARKS, texts
from firing import expect, lockstep
from judge import Judge
from lab import HISTORY

HISTORY_ROWS = '''
select rank, script, checksum, state, run_id, extract(epoch from finished_at) from {} order by rank'''


@dataclass(frozen=True)
class Row:
    rank: int
    script: str
    checksum: str
    state: str
    run_id: str
    finished_at: float

    @property
    def key(self):
        """A repeatable has a row for each of its texts."""
        return (self.script, self.checksum if self.script.startswith('R') else '')


def key_of(migration):
    return (migration.script, migration.checksum if migration.script.startswith('R') else '')


class Place:
    """`older` are texts that other releases have of the same files."""

    def __init__(self, lab, database, files, older=(), callbacks=(), schema='public', history=('public', HISTORY)):
        self.lab, self.database, self.files, self.schema, self.callbacks = lab, database, files, schema, callbacks
        self.history, self.known, self.user = '.'.join(history), (*older, *files), 'postgres'
        self.environment = {'LOCKSTEP_HISTORY_SCHEMA': history[0], 'LOCKSTEP_HISTORY_TABLE': history[1],
                            'LOCKSTEP_DATABASE_SEARCH_PATH': schema}
        self.directories, self.racers = 0, []
        self.directory = self.directory_of((*files, *callbacks))
        # A parallel worker whose session was ended would write errors of its own into the server's log.
        lab.server.psql('-c', f'create schema if not exists {schema}; set search_path = {schema}; {MARKS}'
                        f'alter database {database} set max_parallel_maintenance_workers = 0', database=database)

    def directory_of(self, files):
        self.directories += 1
        return self.lab.directory(f'{self.database}-{self.schema}-{self.directories}', texts(files))

    @property
    def url(self):
        return self.lab.server.url_of(self.database).replace('postgres@', f'{self.user}@')

    def work_as(self, user):
        """From now on the runs are no superusers; the database is theirs."""
        self.user = user
        self.lab.server.psql('-c', f'create role {user} login', '-c', f'alter database {self.database} owner to {user}',
                             '-c', f'grant all on {self.schema}.marks to {user}', database=self.database)

    def rewrite(self, files):
        for name, text in texts(files).items():
            (self.directory / name).write_text(text)

    def enter(self, racing, count, *options, directory=None, command='migrate'):
        """Racers of this place; they wait for the start of the race if that is still to come."""
        added = racing.add(count, self.url, directory or self.directory, *options, command=command,
                           environment=self.environment)
        self.racers += added
        return added

    def alone(self, *options, directory=None):
        done = lockstep(self.lab, 'migrate', '-u', self.url, '-d', directory or self.directory, *options,
                        environment=self.environment)
        expect(done.code == 0, 'a run of its own ends well', done)

    def half_way(self, random, directory=None, versions=None):
        """Some of the versions, as an earlier release has left them."""
        versions = versions or sum(file.script.startswith('V') for file in self.files)
        self.alone('--target', str(random.randint(1, versions - 1)), directory=directory)

    def judge(self, psql):
        """Schema, history and what each run claims agree. Returns the history."""
        loose = [label for one in self.callbacks for step in one.statements for label in step.marks]
        judge = Judge(psql, self.known, loose=loose, schema=self.schema, history=self.history)
        judge.agree(judge.look(self.database))
        rows = self.rows(psql)
        twice = [key for key, count in Counter(row.key for row in rows).items() if count > 1]
        expect(not twice, 'a file is in the history twice', twice, rows)
        judge_claims(self.racers, rows)
        return rows

    def rows(self, psql):
        psql.use(self.database)
        if psql.query(f"select to_regclass('{self.history}') is null") == [['t']]:
            return []
        return [Row(int(rank), script, checksum, state, run, float(finished or 0))
                for rank, script, checksum, state, run, finished in psql.query(HISTORY_ROWS.format(self.history))]

    def judge_complete(self, rows, but=()):
        """Every file is applied; there may also be rows of `but`."""
        found = {row.key: row.state for row in rows if row.key not in {key_of(one) for one in but}}
        expect(found == {key_of(file): 'applied' for file in self.files}, 'every file is applied', rows)


def judge_claims(racers, rows):
    """Each file is claimed by the run that the history names, and by no other one."""
    owned = defaultdict(list)
    for row in rows:
        if row.state == 'applied':
            owned[row.run_id].append(row.script)
    for racer in racers:
        if racer.document is not None and racer.document['command'] == 'migrate':
            claims = [applied['script'] for applied in racer.document['applied']]
            allowed = (claims, [*claims, *in_doubt(racer.document['error'])])
            expect(owned[racer.run_id] in allowed, 'a run claims other files than the history says', allowed, racer.ended)


def in_doubt(error):
    return [os.path.basename(error['file'])] if error and error['code'] == 'commit_in_doubt' else []
