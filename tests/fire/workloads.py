"""What lockstep is busy with while it is under fire: a command, its files, what was there before, and how it must end."""
from dataclasses import dataclass

from corpus import (PROCEDURE, Statement, called_mark, copied_marks, index, large_mark, mark, migration, outside, table,
                    texts)


@dataclass(frozen=True)
class Workload:
    name: str
    files: tuple
    final: tuple              # the history at the end: (script, state) in order of rank
    command: tuple = ('migrate',)
    prior: tuple = ()         # files that were migrated before
    setup: str = ''           # SQL that ran before lockstep came
    given: tuple = ()         # the objects that it made
    callbacks: tuple = ()     # in no history
    environment: tuple = ()   # pairs

    @property
    def texts(self):
        return texts((*self.files, *self.callbacks))


def all_applied(files):
    return tuple((one.script, 'applied') for one in files)


def workload(name, *files, **more):
    return Workload(name, files, **{'final': all_applied(files), **more})


TRANSACTIONAL = workload(
    'transactional',
    migration('V1__tables.sql', table('a'), table('b'), mark('V1')),
    migration('V2__copy.sql', mark('V2:1'), copied_marks('V2:2', 'V2:3'), mark('V2:4')),
    migration('V3__large.sql', *(large_mark(f'V3:{number}', 40_000) for number in range(3))),
    migration('V4__index.sql', index('a_id', 'a', ''), mark('V4')))

INDEXES = workload(
    'indexes outside a transaction',
    migration('V1__table.sql', table('a'), mark('V1')),
    outside('V2__indexes.sql', mark('V2:1'), index('a_id', 'a'), mark('V2:3'), Statement('reindex index concurrently a_id'),
            copied_marks('V2:5'), Statement('drop index concurrently a_old', drops=('index a_old',)), mark('V2:7')),
    migration('V3__after.sql', mark('V3')),
    setup='create table old (id int); create index a_old on old (id);', given=('table old', 'index a_old'))

MIXED = workload(
    'mixed outside a transaction',
    outside('V1__mixed.sql', Statement('vacuum marks'), mark('V1:2'), Statement("alter type mood add value 'happy'",
                                                                                makes=('label mood.happy',)),
            Statement('begin'), mark('V1:5'), mark('V1:6'), Statement('commit'),
            Statement('alter table m detach partition m_1 concurrently', drops=('partition m_1 of m',)), mark('V1:9')),
    outside('V2__more.sql', mark('V2:1'), Statement('vacuum analyze m'), mark('V2:3')),
    setup="create type mood as enum ('sad'); create table m (id int) partition by list (id);"
          'create table m_1 partition of m for values in (1);',
    given=('table m', 'table m_1', 'partition m_1 of m', 'label mood.sad'))

CALLS = workload(
    'procedures that commit',
    outside('V1__calls.sql', mark('V1:1'), called_mark('V1:2'), mark('V1:3'),
            Statement("do $$ begin insert into marks values ('V1:4'); commit; end $$", marks=('V1:4',)), mark('V1:5')),
    setup=PROCEDURE)

REPEATABLES = workload(
    'repeatables',
    migration('V1__table.sql', mark('V1')),
    migration('V2__more.sql', mark('V2')),
    migration('R__marks.sql', mark('R new')),
    migration('R__view.sql', Statement('create or replace view v as select 1 as one', makes=('view v',)), mark('R view')),
    prior=(migration('V1__table.sql', mark('V1')), migration('R__marks.sql', mark('R old'))),
    final=(('V1__table.sql', 'applied'), ('R__marks.sql', 'applied'), ('V2__more.sql', 'applied'),
           ('R__marks.sql', 'applied'), ('R__view.sql', 'applied')))

CALLBACKS = workload(
    'callbacks',
    migration('V1__table.sql', table('a'), mark('V1')),
    outside('V2__index.sql', mark('V2:1'), index('a_id', 'a')),
    migration('V3__more.sql', mark('V3')),
    callbacks=tuple(migration(f'{event}.sql', mark(event)) for event in (
        'beforeMigrate', 'beforeEachMigrate', 'afterEachMigrate', 'afterMigrateApplied', 'afterMigrate', 'afterMigrateError')))

BASELINE = workload(
    'baseline', migration('V1__table.sql', table('a')), migration('V2__more.sql', mark('V2')),
    command=('baseline', '--version', '2'), final=(('', 'applied'),), setup='create table a (id int);', given=('table a',))

EDITED = '-- edited\n'
KEPT = (migration('V1__table.sql', table('a'), mark('V1')), migration('V3__more.sql', mark('V3')))
REPAIR = workload(
    'repair', migration('V1__table.sql', *KEPT[0].statements, head=EDITED), KEPT[1],
    command=('repair', '--yes'), prior=(KEPT[0], migration('V2__gone.sql', mark('V2')), KEPT[1]),
    final=(('V1__table.sql', 'applied'), ('V2__gone.sql', 'deleted'), ('V3__more.sql', 'applied')))

UNDONE = tuple(migration(f'V{number}__table.sql', table(f't_{number}'), mark(f'V{number}')) for number in (1, 2, 3))
UNDO = workload(
    'undo', *UNDONE,
    *(migration(f'U{number}__table.sql', Statement(f'drop table t_{number}', drops=(f'table t_{number}',)),
                mark(f'U{number}')) for number in (1, 2, 3)),
    command=('undo', '--target', '1'), environment=(('LOCKSTEP_UNDO_ENABLED', 'true'),), prior=UNDONE,
    final=(('V1__table.sql', 'applied'), ('V2__table.sql', 'undone'), ('V3__table.sql', 'undone'),
           ('U3__table.sql', 'undone'), ('U2__table.sql', 'undone')))


def workloads():
    return (TRANSACTIONAL, INDEXES, MIXED, CALLS, REPEATABLES, CALLBACKS, BASELINE, REPAIR, UNDO)
