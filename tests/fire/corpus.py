"""Migrations whose every statement leaves something to count, so that a judge can tell how often it was done.

A statement that writes puts its label into the table `marks`, which has no unique constraint: done twice, it is there
twice. A statement that cannot write so makes or drops a named object: "table a", "index a_i", "label mood.happy",
"partition m_1 of m".
"""
import hashlib
from dataclasses import dataclass

MARKS = 'create table marks (label text not null);\n'
OUTSIDE = '-- lockstep: transaction=off\n'


@dataclass(frozen=True)
class Statement:
    sql: str  # without its semicolon, but for COPY, whose data follow it
    marks: tuple = ()
    makes: tuple = ()
    drops: tuple = ()


@dataclass(frozen=True)
class Migration:
    script: str
    statements: tuple
    head: str = ''  # comments before the first statement

    @property
    def text(self):
        return self.head + ''.join(one.sql if one.sql.endswith('\\.\n') else one.sql + ';\n' for one in self.statements)

    @property
    def outside(self):
        return self.head.startswith(OUTSIDE)

    @property
    def checksum(self):
        """docs/history-table.md: of a file with LF, without a byte order mark."""
        return 'sha256:' + hashlib.sha256(self.text.rstrip('\n').encode()).hexdigest()


def mark(label):
    return Statement(f"insert into marks values ('{label}')", marks=(label,))


def large_mark(label, size):
    """A statement as long as it is asked for, so that a file takes several messages."""
    return Statement(f"insert into marks select '{label}' where '{'x' * size}' <> ''", marks=(label,))


def copied_marks(*labels):
    return Statement('copy marks from stdin;\n' + ''.join(label + '\n' for label in labels) + '\\.\n', marks=labels)


def called_mark(label):
    """A procedure that commits: no catalog tells whether it was done. See PROCEDURE."""
    return Statement(f"call leave_mark('{label}')", marks=(label,))


PROCEDURE = ('create procedure leave_mark(label text) language plpgsql as '
             '$$ begin insert into marks values (label); commit; end $$;')


def table(name):
    return Statement(f'create table {name} (id int)', makes=(f'table {name}',))


def index(name, on, how='concurrently'):
    return Statement(f'create index {how} {name} on {on} (id)', makes=(f'index {name}',))


def migration(script, *statements, head=''):
    return Migration(script, statements, head)


def outside(script, *statements):
    return Migration(script, statements, OUTSIDE)


def texts(migrations):
    """Name of a file to its text, as Lab.directory takes them."""
    return {one.script: one.text for one in migrations}
