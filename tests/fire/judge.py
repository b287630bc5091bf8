"""Tells from the database alone whether a run was true to its promises. Shares no code with lockstep: psql and Python.

The judge reads the history table, replays in its order what each row says was done, and compares with what is there:
marks, tables, indexes, enum labels, partitions (corpus.py). So schema and history agree in both directions, nothing is done
twice, and nothing is lost.
"""
import time
from collections import Counter
from dataclasses import dataclass, field

from firing import expect

LOCK_NAMESPACE = 1280262987  # docs/locks.md
LOCK_SECONDS = 5

HISTORY = '''
select rank, kind, coalesce(version, ''), script, checksum, state, statements_done, intent is not null
from {history} order by rank'''

FACTS = '''
select 'mark ' || label from {schema}.marks
union all select case relkind when 'v' then 'view ' else 'table ' end || relname from pg_class
  where relnamespace = '{schema}'::regnamespace and relkind in ('r', 'p', 'v') and relname not in ('marks', 'lockstep_history')
union all select case when indisvalid then 'index ' else 'INVALID index ' end || i.relname
  from pg_index join pg_class as i on i.oid = indexrelid join pg_class as t on t.oid = indrelid
  where t.relnamespace = '{schema}'::regnamespace and t.relname not in ('marks', 'lockstep_history')
union all select 'label ' || typname || '.' || enumlabel from pg_enum join pg_type as t on t.oid = enumtypid
union all select 'partition ' || inhrelid::regclass || ' of ' || inhparent::regclass from pg_inherits
  where inhrelid in (select oid from pg_class where relkind in ('r', 'p'))'''

LOCKS = f'''
select count(*) from pg_locks where locktype = 'advisory' and classid = {LOCK_NAMESPACE} and objsubid = 2
  and database = (select oid from pg_database where datname = current_database())'''


@dataclass(frozen=True)
class Row:
    """One of the history."""
    rank: int
    kind: str
    version: str
    script: str
    checksum: str
    state: str
    statements_done: int
    in_doubt: bool

    @classmethod
    def of(cls, texts):
        rank, kind, version, script, checksum, state, done, doubt = texts
        return cls(int(rank), kind, version, script, checksum, state, int(done), doubt == 't')

    @property
    def finished(self):
        return self.state not in ('running', 'failed')


@dataclass
class Expected:
    """What must be there, and what may be there besides since its statement is in doubt."""
    marks: Counter = field(default_factory=Counter)
    doubtful_marks: Counter = field(default_factory=Counter)
    objects: set = field(default_factory=set)
    doubtful_objects: set = field(default_factory=set)

    def do(self, statement):
        self.marks.update(statement.marks)
        self.objects -= set(statement.drops)
        self.objects |= set(statement.makes)

    def doubt(self, statement):
        self.doubtful_marks.update(statement.marks)
        self.doubtful_objects |= {*statement.makes, *statement.drops}


@dataclass(frozen=True)
class State:
    history: tuple
    marks: Counter
    objects: set

    def __str__(self):
        return '\n'.join(['--- history', *map(str, self.history), '--- marks', str(dict(self.marks)),
                          '--- objects', str(sorted(self.objects))])

    def applied(self):
        """The scripts of the rows that are done, undo files too, as often as they are."""
        return Counter(row.script for row in self.history if row.finished)


class Judge:
    """`migrations` are all that may be in the history, with every text they ever had; `given` are the objects that were
    there before lockstep came; `loose` are marks that the history does not tell of, such as those of callbacks; `schema` is
    where the migrations work."""

    def __init__(self, psql, migrations, given=(), loose=(), schema='public', history='lockstep_history'):
        self.schema, self.history = schema, history
        self.psql, self.given, self.loose = psql, set(given), set(loose)
        self.by_checksum = {(one.script, one.checksum): one for one in migrations}
        self.by_script = {one.script: one for one in migrations}

    def wait_until_free(self, database, seconds=LOCK_SECONDS):
        """How long the lock was still held."""
        self.psql.use(database)
        begin = time.monotonic()
        while self.psql.query(LOCKS) != [['0']]:
            expect(time.monotonic() - begin < seconds, f'the lock is not free {seconds} s after the fault')
            time.sleep(0.005)
        return time.monotonic() - begin

    def look(self, database):
        self.psql.use(database)
        there = self.psql.query(f"select to_regclass('{self.history}') is not null") == [['t']]
        history = tuple(Row.of(row) for row in self.psql.query(HISTORY.format(history=self.history))) if there else ()
        facts = [fact for fact, in self.psql.query(FACTS.format(schema=self.schema))]
        marks = Counter(fact.removeprefix('mark ') for fact in facts if fact.startswith('mark '))
        return State(history, marks, {fact for fact in facts if not fact.startswith('mark ')})

    def migration_of(self, row):
        if row.finished:
            known = self.by_checksum.get((row.script, row.checksum))
            expect(known, f'the history has a checksum of {row.script} that no file ever had', row)
            return known
        expect(row.script in self.by_script, f'the history has a script that never was: {row.script}', row)
        return self.by_script[row.script]

    def expected(self, history):
        result = Expected(objects=set(self.given))
        for row in history:
            if row.kind == 'baseline':
                continue
            statements = self.migration_of(row).statements
            done = len(statements) if row.finished else row.statements_done
            expect(row.statements_done == done <= len(statements), 'a row counts as many statements as it has', row)
            for statement in statements[:done]:
                result.do(statement)
            if row.in_doubt:
                expect(not row.finished and done < len(statements), 'only a statement of an unfinished file is in doubt', row)
                result.doubt(statements[done])
        return result

    def agree(self, state):
        """The history and what is there say the same."""
        wanted = self.expected(state.history)
        for label in {*wanted.marks, *wanted.doubtful_marks, *state.marks} - self.loose:
            least, most = wanted.marks[label], wanted.marks[label] + wanted.doubtful_marks[label]
            expect(least <= state.marks[label] <= most,
                   f'{label} was done {state.marks[label]} times; by the history it is {least} to {most}', state)
        unfinished = any(not row.finished for row in state.history)
        # Building or dropping an index concurrently that fails half-way leaves it so, until the file goes on.
        half_way = {thing for thing in state.objects if unfinished and thing.startswith('INVALID')}
        doubtful = wanted.doubtful_objects | half_way | {thing.removeprefix('INVALID ') for thing in half_way}
        found = set(state.objects)
        for thing in (found ^ wanted.objects) - doubtful:
            place = 'only in the database' if thing in found else 'only by the history'
            expect(False, f'{thing} is there {place}', state)

    def complete(self, database, final):
        """After the rerun: `final` is the history's (script, state) in order of rank, and nothing of it is in doubt."""
        state = self.look(database)
        self.agree(state)
        found = [(row.script, row.state) for row in state.history]
        expect(found == list(final), f'the history is not {final}', state)
        expect(not any(row.in_doubt for row in state.history), 'a statement is in doubt at the end', state)
        expect(not any(thing.startswith('INVALID') for thing in state.objects), 'an index is INVALID at the end', state)
        expect(self.psql.query(LOCKS) == [['0']], 'the lock is held after the end')
        return state
