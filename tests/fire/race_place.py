"""A history, its files, and the schema in which they work: what a crowd of runs works on."""
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

    def __init__(self, lab, database, files, older=(), schema='public', history=('public', HISTORY)):
        self.lab, self.database, self.files, self.schema = lab, database, files, schema
        self.history, self.known = '.'.join(history), (*older, *files)
        self.environment = {'LOCKSTEP_HISTORY_SCHEMA': history[0], 'LOCKSTEP_HISTORY_TABLE': history[1],
                            'LOCKSTEP_DATABASE_SEARCH_PATH': schema}
        self.directories, self.racers = 0, []
        self.directory = self.directory_of(files)
        lab.server.psql('-c', f'create schema if not exists {schema}; set search_path = {schema}; {MARKS}', database=database)

    def directory_of(self, files):
        self.directories += 1
        return self.lab.directory(f'{self.database}-{self.schema}-{self.directories}', texts(files))

    @property
    def url(self):
        return self.lab.server.url_of(self.database)

    def rewrite(self, files):
        for name, text in texts(files).items():
            (self.directory / name).write_text(text)

    def enter(self, racing, count, *options, directory=None):
        """Racers of this place; they wait for the start of the race if that is still to come."""
        added = racing.add(count, self.url, directory or self.directory, *options, environment=self.environment)
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
        judge = Judge(psql, self.known, schema=self.schema, history=self.history)
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
        if racer.document is not None:
            claims = [applied['script'] for applied in racer.document['applied']]
            expect(claims == owned[racer.run_id], 'a run claims what the history says it did', owned[racer.run_id], racer.ended)
