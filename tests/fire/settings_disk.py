"""The server's disk is full: while a file works, when its row is written, and under the write-ahead log."""
import contextlib
import signal
import subprocess
from collections import Counter

from corpus import PROCEDURE, Statement, called_mark, index, mark, migration, outside
from firing import SETTINGS, Case, expect
from held import holding
from lab import Lab
from site_of_fire import Site
from small_disk import possible, small_disk
from throwaway_server import output_of, unprivileged
from workloads import BASELINE, CALLS, INDEXES, MIXED, TRANSACTIONAL, UNDO, workload

DURABLE = (*SETTINGS, 'synchronous_commit=on')
SMALL, LARGE = 16, 400  # megabytes
ROOM = ('table filler',)
FILLER = ("create table filler (id int, t text); insert into filler select n, repeat('x', 200) from generate_series(1, 20000) as n;"
          'alter table filler add primary key (id);')
FILL = Statement("insert into filler select n, repeat('x', 500) from generate_series(100000, 160000) as n")
GIVEN = (*ROOM, 'index filler_pkey')


def on_filler(name, *files):
    return workload(name, *files, setup=FILLER, given=GIVEN)


WIDE = Statement("create index concurrently filler_wide on filler (id, t, (t || '1'), (t || '2'), (t || '3'))",
                 makes=('index filler_wide',))
FILLS = (
    (on_filler('a transactional file', migration('V1__fill.sql', mark('V1:1'), FILL, mark('V1:3'))), 6),
    (on_filler('CREATE INDEX CONCURRENTLY', outside('V1__index.sql', mark('V1:1'), WIDE, mark('V1:3'))), 7),
    (on_filler('REINDEX CONCURRENTLY', outside('V1__reindex.sql', mark('V1:1'), FILL,
                                               Statement('reindex table concurrently filler'), mark('V1:4'))), 7),
    (on_filler('VACUUM FULL', outside('V1__vacuum.sql', mark('V1:1'), Statement('vacuum full filler'),
                                      mark('V1:3'), FILL, mark('V1:5'))), 7),
)


@contextlib.contextmanager
def on_a_small_disk(lab, chosen):
    """The site, the disk, and a tablespace `small` on it."""
    with small_disk(SMALL) as disk, Lab(lab.lockstep, lab.server.bin, DURABLE) as own, Site(own, chosen) as site:
        own.server.query(f"create tablespace small location '{disk.directory('space')}'")
        yield site, disk
        site.psql.use(own.server.database)
        own.server.drop_database(site.name)
        own.server.query('drop tablespace small')
        own.server.create_database(site.name)


def expect_full(run, code):
    error = run.json['error']
    expect(run.code == code and error['sqlstate'] == '53100', f'exit {code} and disk_full', run)
    expect('Mend the statement' not in error['hint'] and 'Mend it' not in error['hint'], 'the file is not at fault', run)


def while_it_works(chosen, code):
    """The database is on the disk that becomes full."""
    def run(lab, _):
        with on_a_small_disk(lab, chosen) as (site, disk):
            site.psql.use(site.lab.server.database)
            site.lab.server.query(f'alter database {site.name} set tablespace small')
            done = site.run(site.url)
            expect_full(done, code)
            outcome, after = site.judge_fault(done)
            expect(not any(thing.startswith('INVALID') for thing in after.objects), 'no index is left INVALID', after)
            disk.enlarge(LARGE)
            site.rerun(after)
        return {'faults': 1, outcome: 1}
    return run


EARLIER = tuple(migration(f'V{number}__m.sql', mark(f'V{number}')) for number in (1, 2, 3, 4))
HISTORY_THERE = ('alter table lockstep_history set (fillfactor = 10); alter table lockstep_history set tablespace small;'
                 'alter index lockstep_history_pkey set tablespace small')


def recorded(name, file, code, setup=''):
    return workload(name, *EARLIER, file, prior=EARLIER, setup=setup), code


RECORDS = (recorded('a transactional file', migration('V5__more.sql', mark('V5')), 6),
           recorded('a file outside a transaction', outside('V5__more.sql', mark('V5:1'), Statement('vacuum marks')), 7))


def when_it_is_recorded(chosen, code):
    """The history alone is on that disk, and its page is full."""
    def run(lab, _):
        with on_a_small_disk(lab, chosen) as (site, disk):
            site.psql.use(site.name)
            site.psql.send(HISTORY_THERE)
            disk.fill()
            done = site.run(site.url)
            expect_full(done, code)
            outcome, after = site.judge_fault(done)
            expect(after == site.before, 'nothing was done', after)
            disk.enlarge(LARGE)
            site.rerun(after)
        return {'faults': 1, outcome: 1}
    return run


LONG = 40


def journaled(leading, label):
    statements = [mark(f'V5:{number}') for number in range(leading)]
    for number in range(leading, LONG, 2):
        statements += [Statement('vacuum marks'), mark(f'{label}:{number}')]
    return outside('V5__more.sql', *statements)


def called(leading):
    return outside('V5__more.sql', *(mark(f'V5:{number}') for number in range(leading)),
                   *(called_mark(f'call:{number}') for number in range(LONG)))


def while_progress_is_noted(make):
    """Another session's snapshot keeps all versions of the row, so that somewhere its page is full."""
    def run(lab, random):
        outcomes = Counter()
        for leading in random.sample(range(8), 4):
            chosen, code = recorded('a journal', make(leading), 7, PROCEDURE)
            with on_a_small_disk(lab, chosen) as (site, disk):
                site.psql.use(site.name)
                site.psql.send(HISTORY_THERE)
                site.psql.send('alter table lockstep_history reset (fillfactor)')
                disk.fill()
                with holding(site, 'begin isolation level repeatable read; select from marks'):
                    done = site.run(site.url)
                expect_full(done, code)
                outcome, after = site.judge_fault(done)
                disk.enlarge(LARGE)
                site.rerun(after)
                outcomes.update(['faults', outcome + (', a statement in doubt' if after.history[-1].in_doubt else '')])
        return outcomes
    return run


SEGMENT = 1 << 20
LOG_DISK = 12  # megabytes
LOG_SETTINGS = (*DURABLE, 'wal_recycle=off', 'max_wal_size=1GB', 'checkpoint_timeout=1h')
LOG_LEFT = f"select {SEGMENT} - pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::bigint % {SEGMENT}"


@contextlib.contextmanager
def log_on_a_small_disk(lab, chosen):
    """The site, and the disk that holds nothing but the write-ahead log, in segments of a megabyte."""
    with small_disk(LOG_DISK) as disk, Lab(lab.lockstep, lab.server.bin, LOG_SETTINGS) as own:
        server, user = own.server, unprivileged()
        server.process.send_signal(signal.SIGINT)
        server.process.wait()
        data, log = server.dir / 'data', disk.directory('log')
        output_of([server.bin / 'pg_resetwal', '--wal-segsize=1', '-D', data], cwd=server.dir, **user)
        output_of(['cp', '-r', f'{data}/pg_wal/.', log], **user)
        output_of(['rm', '-r', data / 'pg_wal'], **user)
        (data / 'pg_wal').symlink_to(log)
        server.start()
        with Site(own, chosen) as site:
            yield site, disk


def leave_room_for(site, disk, size):
    """The log has room for so many bytes. Then the next segment cannot be made."""
    site.psql.use(site.lab.server.database)
    site.psql.send('select pg_switch_wal(); checkpoint')
    while (left := int(site.psql.query(LOG_LEFT)[0][0])) > size + 300:
        # The pages of the log have headers: rather two pieces than one that is too long.
        piece = max(1, (left - size) * 95 // 100 - 100)
        site.psql.query(f"select pg_logical_emit_message(false, '', repeat('x', {piece}))")
    disk.fill()


# How many bytes of log a run of it writes, about.
LOGGED = ((TRANSACTIONAL, 42_000), (INDEXES, 42_000), (MIXED, 34_000), (CALLS, 27_000), (BASELINE, 24_000), (UNDO, 4_000))


def recover(site, disk):
    """The server comes back by itself if what it must write at the end of its recovery still has room; else it stops, and
    somebody makes room and starts it."""
    server = site.lab.server
    with contextlib.suppress(subprocess.TimeoutExpired):
        server.process.wait(1)
    disk.enlarge(LOG_DISK)
    if server.process.poll() is None:
        return site.psql.reopen()
    site.start_again()


def log_is_full(chosen, largest):
    """PANIC: the server crashes wherever the run is."""
    def run(lab, random):
        outcomes = Counter()
        with log_on_a_small_disk(lab, chosen) as (site, disk):
            for _ in range(6):
                site.renew()
                leave_room_for(site, disk, random.randrange(500, largest))
                begin = site.lab.log_end()
                done = site.run(site.url)
                crashed = 'PANIC' in site.lab.log_since(begin)
                if crashed:
                    recover(site, disk)
                disk.enlarge(LOG_DISK)
                expect(done.code in ((4, 7) if crashed else (0,)), 'the exit code is true', crashed, done)
                outcome, after = site.judge_fault(done)
                site.rerun(after)
                outcomes.update(['faults', outcome] if crashed else ['not reached'])
        return outcomes
    return run


def cases():
    if not possible():
        return
    for chosen, code in FILLS:
        yield Case(f'disk full while {chosen.name} works', while_it_works(chosen, code))
    for chosen, code in RECORDS:
        yield Case(f'disk full when {chosen.name} is recorded', when_it_is_recorded(chosen, code))
    yield Case('disk full while progress is noted', while_progress_is_noted(lambda leading: journaled(leading, 'V5')), seconds=300)
    yield Case('disk full while progress of procedures is noted', while_progress_is_noted(called), seconds=300)
    for chosen, size in LOGGED:
        yield Case(f'no room for the log in the middle of {chosen.name}', log_is_full(chosen, size), seconds=300)
