"""What a run through a pooler may leave. The truth comes from the configuration; what happened, from psql."""
import re
import subprocess
from collections import Counter

from firing import expect, lockstep
from throwaway_server import CLEAN_ENVIRONMENT

NAMESPACE = 1280262987  # docs/locks.md
REFUSALS = ('pooler_transaction_mode', 'pooler_undecidable')

# How a pooler that shares backends was found out: the words of the evidence, and ours for the page.
EVIDENCE = {
    'statements of this session': 'moved',
    'served a second connection': 'same backend for both',
    'did not reach this idle session': 'not notified',
    'lost its backend': 'blocked',
    'did not get a backend': 'blocked',
    'emulates LISTEN': 'does not listen',
    'LISTEN was refused': 'LISTEN refused',
    'second connection': 'no second connection',
}

MARK = (f"insert into marks select %d, pg_backend_pid(), (select string_agg(l.pid::text, ',') from pg_locks as l"
        f" where l.locktype = 'advisory' and l.mode = 'ExclusiveLock' and l.classid = {NAMESPACE} and l.database ="
        " (select d.oid from pg_database as d where d.datname = current_database()));\n")
FILES = {
    'V1__marks.sql': 'create table marks (step int, backend int, holders text);\n' + MARK % 1,
    'V2__outside_a_transaction.sql': '-- lockstep: transaction=off\n' + MARK % 2 + 'vacuum marks;\n' + MARK % 3,
    'V3__last.sql': MARK % 4,
}


def marked_files(lab):
    """Migrations that write down which backend ran them, and which ones held a migration lock meanwhile."""
    path = lab.work / 'pool-marks'
    return path if path.exists() else lab.directory(path.name, FILES)


def evidence_in(text):
    return next((ours for words, ours in EVIDENCE.items() if words in text), 'other evidence')


def advisory_locks(lab, database):
    return lab.server.query('select l.pid, l.mode, l.classid from pg_locks as l join pg_database as d on d.oid = l.database'
                            f" where l.locktype = 'advisory' and d.datname = '{database}'")


def expect_nothing_written(lab, database, run):
    """Also no lock: a refused run has taken none."""
    found = lab.server.query("select relname from pg_class where relname in ('marks', 'lockstep_history')", database)
    expect(not found, 'a refused run wrote something', found, run)
    locks = advisory_locks(lab, database)
    expect(not locks, 'a refused run left a lock', locks, run)


def expect_applied_once(lab, database, run):
    marks = lab.server.query('select * from marks order by step', database)
    expect([row[0] for row in marks] == ['1', '2', '3', '4'], 'each step runs once', marks, run)
    history = lab.server.query('select version, state from lockstep_history order by rank', database)
    expect(history == [['1', 'applied'], ['2', 'applied'], ['3', 'applied']], 'the history has each file once', history, run)
    expect(len({row[1] for row in marks}) == 1 and all(row[1] == row[2] for row in marks),
           'one backend runs everything and holds the lock all along', marks, run)
    locks = advisory_locks(lab, database)
    expect(not locks, 'an accepted run left a lock', locks, run)


def judge_shared(lab, database, run):
    """The words for a run through a pooler that shares backends: it must be refused."""
    expect(run.code == 5 and run.json['error']['code'] in REFUSALS, 'a pooler that shares backends was not refused', run)
    expect_nothing_written(lab, database, run)
    return ['refused', 'by: ' + evidence_in(run.json['error']['detail'])]


def judge_session(lab, database, run):
    """The words for a run through a pooler in session mode: never taken for a transaction pool."""
    if run.code == 5 and run.json['error']['code'] == 'pooler_undecidable':
        expect_nothing_written(lab, database, run)
        return ['undecided', 'undecided: ' + evidence_in(run.json['error']['detail'])]
    expect(run.code == 0, 'a pooler in session mode was not accepted', run)
    expect_applied_once(lab, database, run)
    return ['accepted']


def judge_direct(lab, database, run):
    expect(run.code == 0, 'a direct connection was refused', run)
    expect('pooler' not in run.err, 'a direct connection was taken for a pooler', run)
    expect_applied_once(lab, database, run)
    return ['accepted']


def migrate(lab, url, *options, **keywords):
    return lockstep(lab, 'migrate', '-u', url, '-d', marked_files(lab), '--output', 'json', *options, **keywords)


CENSUS = ("select pg_backend_pid(), (select count(*) from pg_listening_channels() as c (name)"
          " where name like 'lockstep%'), pg_sleep(0.3)")


def census(lab, pooler, database):
    """Looks at the idle backends of a pool, all at the same time, so that each client gets one of its own. Counts the
    backends, and the channels of ours that they still listen to."""
    pooled = lab.server.query(f"select count(*) from pg_stat_activity where datname = '{database}' and pid <> pg_backend_pid()")
    clients = [subprocess.Popen([lab.server.bin / 'psql', '-XAtq', '-F', ' ', '-d', pooler.url(database), '-c', CENSUS],
                                env=CLEAN_ENVIRONMENT, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, encoding='utf-8')
               for _ in range(int(pooled[0][0]))]
    answers = [re.match(r'(\d+) (\d+) ', client.communicate()[0]) for client in clients]
    channels = {answer[1]: int(answer[2]) for answer in answers if answer}
    return Counter({'backends looked at': len(channels), 'channels left': sum(channels.values())})
