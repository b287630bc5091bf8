"""Who may do what with which rights: one line each. The history was made by its owner; then another role comes."""
from dataclasses import dataclass

from deployment import directories, fresh_target
from firing import Case, expect, lockstep


LEAST = 'grant usage on schema public to {role}; grant select, insert, update on lockstep_history to {role};'
READ = 'grant usage on schema public to {role}; grant select on lockstep_history to {role};'
CLOSED = 'revoke all on schema public from public;'


@dataclass(frozen=True)
class Rights:
    title: str
    sql: str  # how a superuser prepares the role, when the history is there
    outcomes: dict  # command to exit code, or to exit code and words of the error
    variables: tuple = ()


MORE = ('migrate', 'more')  # with a file that is pending
READS = {('info',): 0, ('validate',): 0, ('plan',): 0, ('migrate',): 0}
HIDDEN = (2, 'row security')
POLICY = 'alter table lockstep_history enable row level security;'

RIGHTS = (
    Rights('least privilege', CLOSED + LEAST + 'create schema mine authorization {role};', {**READS, MORE: 0}),
    Rights('read only', CLOSED + READ + 'create schema mine authorization {role};', {**READS, MORE: (6, 'permission denied')}),
    Rights('no select', CLOSED + 'grant usage on schema public to {role};', {('info',): (2, 'Least privilege'), MORE: (2, 'Least')}),
    Rights('no usage', CLOSED + 'alter role {role} set search_path = public;', {('info',): (2, 'history'), MORE: (2, 'history')},
           (('LOCKSTEP_HISTORY_SCHEMA', 'public'),)),
    Rights('no insert', CLOSED + READ + 'grant update on lockstep_history to {role}; create schema mine authorization {role};',
           {**READS, MORE: (6, 'permission denied')}),
    Rights('noinherit', 'grant {owner} to {role}; alter role {role} noinherit; alter database {database} owner to {owner};'
           'revoke all on lockstep_history from public;', {('info',): (2, 'permission denied'), MORE: (2, 'permission denied')}),
    Rights('noinherit with set role', 'grant {owner} to {role}; alter role {role} noinherit;'
           'create schema mine authorization {owner};', {**READS, MORE: 0}, (('LOCKSTEP_DATABASE_ROLE', '{owner}'),)),
    Rights('role of the role', 'grant {owner} to {role}; alter role {role} noinherit; alter role {role} set role = {owner};'
           'create schema mine authorization {owner};', {**READS, MORE: 0}),
    Rights('row security', CLOSED + LEAST + POLICY + 'create schema mine authorization {role};',
           {('info',): HIDDEN, ('validate',): HIDDEN, MORE: HIDDEN}),
    Rights('row security with a policy', CLOSED + LEAST + POLICY + 'create schema mine authorization {role};'
           'create policy part_of_it on lockstep_history using (rank < 3) with check (true);',
           {('info',): HIDDEN, ('validate',): HIDDEN, MORE: HIDDEN}),
    Rights('row security that may be bypassed', CLOSED + LEAST + POLICY + 'alter role {role} bypassrls;'
           'create schema mine authorization {role};', {**READS, MORE: 0}),
    Rights('row security of the owner', 'grant {owner} to {role};' + POLICY + 'create schema mine authorization {role};',
           {**READS, MORE: 0}),
    Rights('row security that is forced', 'grant {owner} to {role};' + POLICY +
           'alter table lockstep_history force row level security;', {('info',): HIDDEN, MORE: HIDDEN}),
    Rights('connection limit 1', LEAST + 'create schema mine authorization {role}; alter role {role} connection limit 1;',
           {**READS, MORE: 0}),
    Rights('connection limit 0', LEAST + 'alter role {role} connection limit 0;', {('info',): (4, 'connections are taken'), MORE: (4, 'CONNECTION LIMIT')}),
    Rights('no login', LEAST + 'alter role {role} nologin;', {('info',): (4, 'refuses the login')}),
    Rights('no connect', 'revoke connect on database {database} from public;', {('info',): (4, 'permission denied')}),
)


def more_files(lab):
    path = lab.work / 'deployment-mine'
    if not path.exists():
        lab.directory(path.name, {'V6__mine.sql': 'create table mine.more (n int);\n', 'V7__index.sql':
                                  'create index concurrently on mine.more (n);\n'})
    return path


def with_rights(rights):
    def run(lab, _):
        good, _ = directories(lab)
        with lab.database() as database:
            owner = fresh_target(lab, database)
            made = lockstep(lab, 'migrate', '-u', owner.url, '-d', good)
            expect(made.code == 0, 'the owner migrates', made)
            names = {'owner': owner.role, 'role': owner.role.replace('dep', 'oth'), 'database': database}
            lab.server.query('create role {role} login;'.format(**names) + rights.sql.format(**names), database)
            url = owner.url.replace(f'//{owner.role}@', f'//{names["role"]}@')
            environment = {key: value.format(**names) for key, value in rights.variables}
            for command, wanted in rights.outcomes.items():
                extra = ('-d', more_files(lab)) if command == MORE else ()
                done = lockstep(lab, command[0], '-u', url, '-d', good, *extra, environment=environment)
                code, words = wanted if isinstance(wanted, tuple) else (wanted, '')
                expect(done.code == code and words in done.err, f'{rights.title}: {" ".join(command)} ends with {code}', done)
            check_left(lab, database, rights)
        return {'faults': 1, 'worked' if rights.outcomes.get(MORE) == 0 else 'refused, and said why': 1}
    return run


def check_left(lab, database, rights):
    """Either both files are there with their rows, or neither."""
    applied = 2 if rights.outcomes.get(MORE) == 0 else 0
    left = lab.server.query("""select (select count(*) from lockstep_history where version in ('6', '7') and state = 'applied'),
      (select count(*) from lockstep_history where version in ('6', '7')),
      (select count(*) from pg_class where relname in ('more', 'more_n_idx'))""", database)
    expect(left == [[str(applied)] * 3], f'{rights.title}: {applied} files are applied', left)


def cases():
    for rights in RIGHTS:
        yield Case(f'rights: {rights.title}', with_rights(rights), fixed=rights.title in ('least privilege', 'row security with a policy'))
