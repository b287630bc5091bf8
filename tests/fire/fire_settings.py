"""Hostile and odd settings, roles, names and servers."""
import settings_disk
import settings_limits
import settings_names
import settings_roles
import settings_servers
import settings_shadow
import settings_standby
import settings_triggers
from deployment import as_usual, directories, expect_as_usual, fresh_target, left_in, say_all
from firing import Case, expect, lockstep
from settings_table import SETTINGS

SCOPES = ('alter role {role} set', 'alter database {database} set', 'alter role {role} in database {database} set')


def server_major(lab):
    return int(lab.server.query("select pg_catalog.current_setting('server_version_num')")[0][0]) // 10000


def alter(lab, target, setting, scope):
    words = scope.format(role=target.role, database=target.database)
    lab.server.query(f'{words} {setting.name} = {setting.value}')


def with_setting(setting):
    def run(lab, random):
        if server_major(lab) < setting.since:
            return {'faults': 0}
        as_usual(lab)
        with lab.database() as database:
            target = fresh_target(lab, database)
            alter(lab, target, setting, random.choice(SCOPES))
            if setting.code:
                return stopped(lab, target, setting)
            expect_as_usual(lab, target, say_all(lab, target), setting.title)
        return {'faults': 1, 'the same': 1}
    return run


def stopped(lab, target, setting):
    """The setting is named, and when it is gone the deployment goes on."""
    good, _ = directories(lab)
    run = lockstep(lab, 'migrate', '-u', target.url, '-d', good)
    expect(run.code == setting.code and setting.says in run.err, f'{setting.title} stops it, and it says so', run)
    lab.server.query(f'alter role {target.role} reset all; alter database {target.database} reset all;'
                     f'alter role {target.role} in database {target.database} reset all')
    again = lockstep(lab, 'migrate', '-u', target.url, '-d', good)
    expect(again.code == 0 and left_in(lab, target) == as_usual(lab)[1], f'{setting.title} is gone: it goes on', again)
    return {'faults': 1, 'stopped, and said why': 1}


def all_at_once(lab, random):
    """The first harmless value of each setting, all of them together."""
    as_usual(lab)
    major, chosen = server_major(lab), {}
    for setting in SETTINGS:
        if setting.since <= major and not setting.code:
            chosen.setdefault(setting.name, setting)
    with lab.database() as database:
        target = fresh_target(lab, database)
        for setting in chosen.values():
            alter(lab, target, setting, random.choice(SCOPES))
        expect_as_usual(lab, target, say_all(lab, target), 'all settings at once')
    return {'faults': len(chosen), 'the same': 1}


def cases():
    yield Case('all settings at once', all_at_once, fixed=True)
    for setting in SETTINGS:
        yield Case(f'setting {setting.title}', with_setting(setting), fixed=setting.says == 'temporary')
    for module in (settings_shadow, settings_roles, settings_names, settings_triggers, settings_servers,
                   settings_disk, settings_limits, settings_standby):
        yield from module.cases()
