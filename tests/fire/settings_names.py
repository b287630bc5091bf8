"""Names that need quoting wherever they stand: each is the name of the database, the role, the schemas and the tables."""
from urllib.parse import quote

from controls import unsafe
from deployment import sql_name
from firing import Case, expect, lockstep

NAMES = {
    'upper case and blanks': 'Upper Case  ',
    'quotes': '"quo""te"',
    'apostrophes': "it's ''quoted''",
    'backslashes': 'back\\slash\\',
    'dollars': '$$dol$lar$1',
    'percents': '%s %20 100%',
    'braces': '{} {0} ${name}',
    'a semicolon and a comment': 'a; drop table b; --',
    'a comment that is open': '/* open',
    'new lines': 'new\nline\r',
    'unicode': 'Größe 漢字 🚀 e\u0301',
    '63 bytes': 'x' * 63,
    '63 bytes of two': 'ü' * 31 + 'x',
    'a word of SQL': 'select',
    'a path': '../../etc/passwd',
    'dots and commas': 'a.b,c="d"',
    'terminal controls': '\x1b[31mred\x07',
    'a direction': 'abc\u202edef',
    'a C1 control': 'abc\x9bdef',
    'an option': '--help',
}
SETUP = ('create role {name} login', 'create database {name} owner {name} template template0')
FILES = {'V1__table.sql': 'create table item (n int primary key);\ninsert into item values (1);\n',
         'V2__index.sql': 'create index concurrently on item (n);\n'}
COMMANDS = (('migrate',), ('validate',), ('plan',), ('repair',), ('migrate', '-v'))
LEFT = '''select (select count(*) from {name}.{name} where state = 'applied' and installed_by = {text}),
  (select count(*) from {name}.item), (select count(*) from pg_class where relname = 'item_n_idx');
'''


def named(title, name):
    def run(lab, _):
        files = lab.work / 'deployment-names'
        if not files.exists():
            lab.directory(files.name, FILES)
        sql, server = sql_name(name), lab.server
        for statement in SETUP:
            server.query(statement.format(name=sql))
        url = server.url_of(quote(name, safe='')).replace('//postgres@', f'//{quote(name, safe="")}@')
        server.psql('-c', f'create schema {sql} authorization {sql}', database=quote(name, safe=''))
        variables = {'LOCKSTEP_HISTORY_SCHEMA': name, 'LOCKSTEP_HISTORY_TABLE': name, 'LOCKSTEP_DATABASE_ROLE': name,
                     'LOCKSTEP_DATABASE_SEARCH_PATH': sql, 'LOCKSTEP_URL': url}
        for command in COMMANDS:
            done = lockstep(lab, *command, '-d', files, environment=variables)
            expect(done.code == 0, f'{title}: {command[0]} works', done)
            shown = done.err if command == ('plan',) else done.out + done.err  # its SQL is for psql
            expect(not unsafe(shown), f'{title}: {command[0]} prints nothing that a terminal obeys', repr(done))
        told = lockstep(lab, 'info', '--output', 'json', '-d', files, environment=variables).json
        expect(told['database'] == name and told['history'] == {'schema': name, 'table': name}, f'{title}: the names are told', told)
        text = "E'" + name.replace('\\', '\\\\').replace("'", "''") + "'"
        left = server.query(LEFT.format(name=sql, text=text), quote(name, safe=''))
        expect(left == [['2', '1', '1']], f'{title}: both files are applied', left)
        return {'faults': 5, 'worked': 1}
    return run


def cases():
    for title, name in NAMES.items():
        yield Case(f'names: {title}', named(title, name), fixed=title in ('quotes', 'new lines', 'terminal controls'))
