"""What lockstep is busy with while it is under fire: a command, its files, what was there before, and how it must end."""
from dataclasses import dataclass

from corpus import (MARKS, PROCEDURE, Statement, called_mark, copied_marks, index, large_mark, mark, migration, outside, table,
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


def workloads():
    return (TRANSACTIONAL,)
