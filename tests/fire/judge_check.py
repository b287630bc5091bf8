"""The judge itself on trial: it must notice what is put wrong on purpose."""
from firing import Broken, expect
from psql_session import PsqlSession
from site_of_fire import Site
from workloads import INDEXES

WRONGS = (
    ('done twice', "insert into marks values ('V1')"),
    ('lost', "delete from marks where label = 'V2:5'"),
    ('a table that no row tells of', 'create table stray ()'),
    ('a table that is gone', 'drop table a'),
    ('an index that is gone', 'drop index a_id'),
    ('an index that is INVALID', "update pg_index set indisvalid = false where indexrelid = 'a_id'::regclass"),
    ('a row that is gone', 'delete from lockstep_history where rank = 3'),
    ('a row that is there twice', 'insert into lockstep_history select rank + 10, null, description, kind, script, checksum, state,'
     ' run_id, installed_by, started_at, finished_at, duration_ms, statements_done, tool_version, intent from lockstep_history'
     ' where rank = 1'),
    ('a checksum of no file', "update lockstep_history set checksum = 'sha256:0' where rank = 1"),
    ('a file that is not finished', "update lockstep_history set state = 'running' where rank = 2"),
    ('a lock that is held', 'select pg_advisory_lock(1280262987, 1)'))


def notices(site, wrong):
    with PsqlSession(site.lab.server) as other:
        other.use(site.name)
        other.send(wrong)
        try:
            site.judge.wait_until_free(site.name, 0.1)
            site.judge.complete(site.name, site.workload.final)
        except Broken:
            return True
    return False


def judge_on_trial(lab, _):
    with Site(lab, INDEXES) as site:
        for what, wrong in WRONGS:
            site.renew()
            site.run(site.url)
            site.judge.complete(site.name, site.workload.final)
            expect(notices(site, wrong), f'the judge does not notice: {what}')
            site.judge.wait_until_free(site.name)
    return {'noticed': len(WRONGS)}
