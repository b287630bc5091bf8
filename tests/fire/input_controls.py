"""Text from the server with what a terminal obeys: in notices, errors, the names of sessions that block, SQL that is shown.
Nothing of it reaches the terminal, and JSON says it as it is."""
import json

from controls import unsafe
from deployment import fresh_target, sql_text
from firing import Case, expect, lockstep

ODD = {'an escape': '\x1b[2J\x1b]0;title\x07', 'a C1 control': '\x9b31m', 'a direction': '\u202e\u2066', 'a carriage return': 'safe\rerror:',
       'a line separator': '\u2028x', 'a byte order mark': '\ufeff', 'a backspace': 'x\b\b\b'}
NOTICES = '''do $$ begin
  raise notice using message = {text}, detail = {text}, hint = {text};
  raise warning using message = {text};
end $$;
'''
ERROR = '''do $$ begin
  raise exception using message = {text}, detail = {text}, hint = {text}, column = {text}, constraint = {text},
    datatype = {text}, table = {text}, schema = {text};
end $$;
'''


def odd_text(odd):
    def run(lab, _):
        with lab.database() as database:
            target, text = fresh_target(lab, database), sql_text(odd)
            files = lab.directory(f'controls-{database}', {
                'V1__notices.sql': NOTICES.format(text=text), 'V2__error.sql': f'/* {odd} */ ' + ERROR.format(text=text)})
            shown = lockstep(lab, 'migrate', '-v', '-u', target.url, '-d', files)
            expect(shown.code == 6 and 'V2__error.sql' in shown.err, 'the second file fails', shown)
            expect(not unsafe(shown.out + shown.err), 'nothing of it reaches the terminal', repr(shown))
            told = lockstep(lab, 'migrate', '-u', target.url, '-d', files, '--output', 'json', '--log-format', 'json')
            expect(not unsafe(told.err.replace('\u2028', '')) or all(map(json.loads, told.err.splitlines())), 'the log is JSON', told)
            expect(told.json['error']['message'] == odd, 'JSON says it as it is', repr(told))
        return {'faults': 2, 'neutralised': 1}
    return run


def cases():
    for title, odd in ODD.items():
        yield Case(f'text with {title}', odd_text(odd), fixed=title == 'a C1 control')
