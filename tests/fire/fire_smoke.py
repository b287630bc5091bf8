"""No fault at all: what the other scenarios stand on."""
from firing import Case, expect, lockstep


def clean_run(lab, _):
    files = lab.one_table_files(3)
    with lab.database() as database:
        done = lockstep(lab, 'migrate', '-u', lab.server.url_of(database), '-d', files, '--output', 'json')
        expect(done.code == 0 and len(done.json['applied']) == 3, 'three files are applied', done)
        rows = lab.server.query('select count(*) from lockstep_history', database)
        expect(rows == [['3']], 'the history has three rows', rows)
    return {'faults': 0, 'applied': 1}


def cases():
    yield Case('a clean run', clean_run, fixed=True)
