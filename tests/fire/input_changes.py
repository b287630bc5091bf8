"""A file that changes between its check and its run, or while it runs. The file before it holds the run at a gate, or its own
first statement does; then the test does something to the file. Either what was checked runs, or an error comes before any of
the changed content is committed."""
import os
import subprocess

from deployment import fresh_target
from firing import Case, expect, finish, lockstep, start
from settings_servers import wait_until

GATE = "select pg_catalog.pg_advisory_xact_lock(77);\n"
OPEN = "select 1 from pg_locks where locktype = 'advisory' and objid = 77 and not granted"
FILLER = '-- nothing\n' * 200000  # two megabytes: more than is read at once
MANY = 'select 1;\n' * 20000  # more than is sent at once

GOOD = 'create table good (n int);\n'
EVIL = 'create table evil (n int);\n'
# Ends the transaction of the file, and sends more than one message.
ESCAPE = 'rollback;\n' + EVIL + MANY


def rewrite(path):
    path.write_text(EVIL)


def rewrite_in_place(path):
    with open(path, 'r+b') as file:
        file.write(EVIL.encode())


def append(path):
    with open(path, 'a') as file:
        file.write('\n' + EVIL)


def truncate(path):
    path.write_text('')


def replace(path):
    other = path.with_name('other')
    other.write_text(EVIL)
    other.rename(path)


def delete(path):
    path.unlink()


def become_a_folder(path):
    path.unlink()
    path.mkdir()


def become_a_fifo(path):
    path.unlink()
    os.mkfifo(path)


def become_a_device(path):
    path.unlink()
    path.symlink_to('/dev/zero')


def break_out(path):
    path.write_text(ESCAPE)


def touch(path):
    path.write_text(path.read_text())


CHANGES = (rewrite, rewrite_in_place, append, truncate, replace, delete, become_a_folder, become_a_fifo, become_a_device,
           break_out, touch)
# How the file runs: what stands before its good statement, and whether the gate is in the file itself.
FORMS = {
    'in a transaction': ('', False),
    'in a large transaction': ('create table first_half (n int);\n' + MANY, False),
    'outside a transaction': ('-- lockstep: transaction=off\n', False),
    'outside a transaction, while it runs': ('-- lockstep: transaction=off\n' + GATE + FILLER, True),
    'in a large transaction, while it runs': (GATE + MANY, True),
}


def changed(form, change):
    begin, own_gate = FORMS[form]

    def run(lab, _):
        with lab.database() as database:
            target = fresh_target(lab, database)
            files = lab.directory(f'changes-{database}', {'V1__gate.sql': 'select 1;\n' if own_gate else GATE,
                                                          'V2__good.sql': begin + GOOD})
            holder = start_holder(lab, database)
            process = start(lab, 'migrate', '-u', target.url, '-d', files)
            wait_until(lambda: lab.server.query(OPEN, database), 'a run at the gate')
            change(files / 'V2__good.sql')
            holder.communicate()
            done = finish(process)
            return judge(lab, target, form, change, done)
    return run


def start_holder(lab, database):
    """psql that holds the gate until its input ends."""
    holder = subprocess.Popen([lab.server.bin / 'psql', '-XAtq', '-d', lab.server.url_of(database)], stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE, encoding='utf-8')
    holder.stdin.write('select pg_advisory_lock(77);\n')
    holder.stdin.flush()
    holder.stdout.readline()
    return holder


def judge(lab, target, form, change, done):
    what = f'{form}, {change.__name__}'
    tables = {name for (name,) in lab.server.query(
        "select relname from pg_class where relname in ('good', 'evil', 'first_half')", target.database)}
    state = lab.server.query("select coalesce(max(state), 'none') from lockstep_history where version = '2'", target.database)[0][0]
    expect('evil' not in tables, f'{what}: nothing of the changed content is committed', tables, done)
    if done.code == 0:
        expect('good' in tables and state == 'applied', f'{what}: what was checked has run', tables, state, done)
        return {'faults': 1, 'what was checked ran': 1}
    expect(done.code in (3, 6, 7) and 'V2__good.sql' in done.err, f'{what}: the error names the file', done)
    expect('good' not in tables and state in ('none', 'failed'), f'{what}: the file is not applied', tables, state, done)
    return {'faults': 1, 'refused, and said why': 1}


def cases():
    for form in FORMS:
        for change in CHANGES:
            fixed = (form, change) in (('in a large transaction', break_out), ('outside a transaction, while it runs', append))
            yield Case(f'a file {form}: {change.__name__}', changed(form, change), fixed=fixed)
