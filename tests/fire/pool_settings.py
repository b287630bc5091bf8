"""PgBouncer with TLS, other kinds of login, and settings of a database or a user that differ from the pooler's own."""
import itertools
from collections import Counter

import pool_judge
from firing import Case, expect
from pool_load import load
from pool_programs import PgBouncer, pgbouncers, version_of
from pool_security import BY_CERTIFICATE, BY_PASSWORD, give, secured, tls_login

MODES = ('session', 'transaction', 'statement')
SIZES = (1, 2, 20)
RUNS = 2

CLIENT_TLS = {'client_tls_sslmode': 'require', 'client_tls_ca_file': 'ca.crt', 'client_tls_key_file': 'server.key',
              'client_tls_cert_file': 'server.crt'}
SERVER_TLS = {'server_tls_sslmode': 'verify-full', 'server_tls_ca_file': 'ca.crt', 'server_tls_key_file': 'client.key',
              'server_tls_cert_file': 'client.crt'}


def client_tls(lab):
    return {'settings': CLIENT_TLS, 'login': ('postgres', tls_login(lab))}


def server_tls(_):
    return {'settings': SERVER_TLS}


def both_tls(lab):
    return {'settings': CLIENT_TLS | SERVER_TLS, 'login': ('postgres', tls_login(lab))}


def scram(_):
    return {'settings': {'auth_type': 'scram-sha-256'}, 'accounts': f'"{BY_PASSWORD}" "secret"',
            'login': (f'{BY_PASSWORD}:secret', {})}


def scram_over_tls(lab):
    return {**scram(lab), 'settings': CLIENT_TLS | SERVER_TLS | {'auth_type': 'scram-sha-256'},
            'login': (f'{BY_PASSWORD}:secret', tls_login(lab))}


def cert(lab):
    return {'settings': CLIENT_TLS | SERVER_TLS | {'auth_type': 'cert', 'client_tls_sslmode': 'verify-full'},
            'accounts': f'"{BY_CERTIFICATE}" ""', 'login': (BY_CERTIFICATE, tls_login(lab, certificate=True))}


SECURITY = {'client TLS': client_tls, 'server TLS': server_tls, 'TLS on both sides': both_tls, 'scram': scram,
            'scram over TLS': scram_over_tls, 'cert': cert}


def database_line(lab, database, mode):
    return f'{database} = host=127.0.0.1 port={lab.server.port} pool_mode={mode}'


# What each is given: the laboratory, the database, the mode that counts, another mode.
OVERRIDES = {
    'a mode of the database': lambda lab, database, mode, other: {
        'settings': {'pool_mode': other}, 'databases': [database_line(lab, database, mode)]},
    'a mode of the user': lambda lab, database, mode, other: {
        'settings': {'pool_mode': other}, 'users': [f'postgres = pool_mode={mode}']},
    'a mode of the user over that of the database': lambda lab, database, mode, other: {
        'settings': {'pool_mode': mode}, 'databases': [database_line(lab, database, other)],
        'users': [f'postgres = pool_mode={mode}']},
    'server_reset_query_always': lambda lab, database, mode, other: {
        'settings': {'pool_mode': mode, 'server_reset_query_always': 1}},
}
PREPARED = {
    f'max_prepared_statements = {number}': lambda lab, database, mode, other, number=number: {
        'settings': {'pool_mode': mode, 'max_prepared_statements': number}}
    for number in (0, 100)
}
PREPARED_SINCE = (1, 21)


def expect_encrypted(lab, database):
    rows = lab.server.query('select distinct ssl from pg_stat_ssl join pg_stat_activity using (pid)'
                            f" where datname = '{database}' and client_port > 0")
    expect(rows == [['t']], 'what the pooler has with the server is encrypted', rows)


def runs_through(lab, database, pooler, mode, size, kind, what):
    judge = pool_judge.judge_session if mode == 'session' else pool_judge.judge_shared
    outcomes = Counter(faults=RUNS)
    with load(lab, pooler, database, kind, mode, size):
        for _ in range(RUNS):
            words = judge(lab, database, pool_judge.migrate(lab, pooler.url(database)))
            outcomes[f'{what}: {mode} {words[0]}'] += 1
        if 'server_tls_sslmode' in pooler.settings:
            expect_encrypted(lab, database)
    return outcomes + pool_judge.census(lab, pooler, database)


def secure(lab, random, path, what, mode, size):
    lab = secured(lab)
    options = SECURITY[what](lab)
    options['settings'] = {**options['settings'], 'pool_mode': mode, 'default_pool_size': size}
    with lab.database() as database:
        pooler = PgBouncer(path, lab.server.port, **options)
        give(lab.keys, pooler.dir)
        with pooler:
            return runs_through(lab, database, pooler, mode, size, random.choice(('cold', 'warm', 'short4')), 'TLS, login')


def overridden(lab, random, path, options_of, mode, size):
    other = random.choice([name for name in MODES if name != mode])
    with lab.database() as database:
        options = options_of(lab, database, mode, other)
        options['settings']['default_pool_size'] = size
        with PgBouncer(path, lab.server.port, **options) as pooler:
            return runs_through(lab, database, pooler, mode, size, random.choice(('cold', 'warm', 'short4')), 'overrides')


def direct(lab, _):
    lab = secured(lab)
    logins = ('postgres', tls_login(lab)), (f'{BY_PASSWORD}:secret', {}), (BY_CERTIFICATE, tls_login(lab, certificate=True))
    outcomes = Counter(faults=0)
    for user, parameters in logins:
        with lab.database() as database:
            query = '&'.join(f'{name}={value}' for name, value in parameters.items())
            url = f'postgresql://{user}@127.0.0.1:{lab.server.port}/{database}?{query}'
            outcomes.update('direct ' + word for word in pool_judge.judge_direct(lab, database, pool_judge.migrate(lab, url)))
    return outcomes


def cases():
    yield Case('direct with TLS, scram, cert', direct)
    for (name, path), mode, size in itertools.product(pgbouncers(), MODES, SIZES):
        for what in SECURITY:
            yield Case(f'{name} {mode} {size}, {what}',
                       lambda lab, random, cell=(path, what, mode, size): secure(lab, random, *cell))
        prepared = PREPARED if version_of(path) >= PREPARED_SINCE else {}
        for what, options_of in (OVERRIDES | prepared).items():
            yield Case(f'{name} {mode} {size}, {what}',
                       lambda lab, random, cell=(path, options_of, mode, size): overridden(lab, random, *cell))
