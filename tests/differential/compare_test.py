#!/usr/bin/env python3
"""Proves that `compare` sees what it is for: a stand-in for lockstep applies the files with psql and then, or instead,
does one thing wrong."""
import subprocess
import sys
import tempfile
from pathlib import Path

COMPARE = Path(__file__).resolve().parent / 'compare'

FILES = {
    'V2__b.sql': 'alter table t add column note text; insert into t values (1, \'x\'), (2, \'y\');',
    'V1__a.sql': 'create table t (id serial, at timestamptz default clock_timestamp());'
                 'alter table t drop column at; create table moment (at timestamptz default clock_timestamp());'
                 'insert into moment default values;',
    'V10__c.sql': 'create index concurrently t_note on t (note);',
}

STAND_IN = r'''#!/bin/sh
url=$3 dir=$5
sql() { psql -XAtq -v ON_ERROR_STOP=1 -d "$url" "$@" || exit 1; }
sql -c 'create table lockstep_history (rank serial, script text, statements_done int default 1, state text default $$applied$$)'
for name in %(order)s; do
  sql -f "$dir/$name"
  sql -c "insert into lockstep_history (script) values ('$name')"
done
%(after)s
'''

FAITHFUL = {'order': 'V1__a.sql V2__b.sql V10__c.sql', 'after': ''}

EVERYTHING_WRONG = {'after': """
sql -c 'drop index t_note'
sql -c "update t set note = 'z' where id = 1"
sql -c 'insert into moment default values'
sql -c "select nextval('t_id_seq')"
sql -c 'create role helper'
"""}

CASES = [
    ('a faithful program passes', {}, 0, ['identical (left out, never the same twice: moment (at))']),
    ('every kind of difference is seen', EVERYTHING_WRONG, 1,
     ['-CREATE INDEX t_note', 't (note): psql ', 'moment: rows: psql 1; lockstep 2', 'sequence public.t_id_seq: ',
      '+CREATE ROLE helper', ': different']),
    ('a file left out is seen', {'order': 'V1__a.sql V2__b.sql'}, 1, ['-V10__c.sql']),
    ('a program that fails is seen', {'after': 'echo no luck >&2; exit 6'}, 1, ['no luck']),
]


def main():
    failures = 0
    with tempfile.TemporaryDirectory(prefix='lockstep-compare-test-') as folder:
        directory = Path(folder) / 'sql'
        directory.mkdir()
        for name, text in FILES.items():
            (directory / name).write_text(text)
        for title, change, code, texts in CASES:
            program = Path(folder) / 'stand-in'
            program.write_text(STAND_IN % {**FAITHFUL, **change})
            program.chmod(0o755)
            done = subprocess.run([COMPARE, '--lockstep', program, directory], capture_output=True, text=True, check=False)
            missing = [text for text in texts if text not in done.stdout]
            if done.returncode != code or missing:
                failures += 1
                print(f'FAILED: {title}: exit {done.returncode}, wanted {code}; missing {missing} in:\n'
                      f'{done.stdout}{done.stderr}')
    print(f'{len(CASES) - failures} of {len(CASES)} passed')
    return 1 if failures else 0


if __name__ == '__main__':
    sys.exit(main())
