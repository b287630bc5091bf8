"""A server with TLS and passwords, and the certificates that it takes."""
import copy
import functools
import os
import shutil
from pathlib import Path

from firing import SETTINGS
from lab import free_port
from throwaway_server import ThrowawayServer, output_of, unprivileged

BY_PASSWORD, BY_CERTIFICATE = 'checked', 'certified'
HBA = f'''
local   all all               trust
hostssl all {BY_CERTIFICATE}  127.0.0.1/32 cert
host    all {BY_PASSWORD}     127.0.0.1/32 scram-sha-256
host    all all               127.0.0.1/32 trust
'''


def certificates(directory):
    """An authority, a server on loopback, a client."""
    def certificate(name, subject, *options):
        output_of(['openssl', 'req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes',
                   '-days', '2', '-subj', f'/CN={subject}', '-keyout', directory / f'{name}.key',
                   '-out', directory / f'{name}.crt', *options])
        (directory / f'{name}.key').chmod(0o600)

    certificate('ca', 'lockstep')
    signed = ('-CA', directory / 'ca.crt', '-CAkey', directory / 'ca.key', '-addext', 'basicConstraints=critical,CA:FALSE')
    certificate('server', 'localhost', *signed, '-addext', 'subjectAltName=IP:127.0.0.1')
    certificate('client', BY_CERTIFICATE, *signed)


def give(source, directory):
    """Copies of all keys and certificates, for a program that does not run as this user."""
    user = unprivileged()
    for path in Path(source).iterdir():
        copied = shutil.copy(path, directory)
        if user:
            os.chown(copied, user['user'], user['group'])


@functools.cache
def secured(lab):
    """The same laboratory with such a server, and `keys`, the directory of the certificates."""
    other = copy.copy(lab)
    other.keys = lab.work / 'keys'
    other.keys.mkdir()
    certificates(other.keys)
    tls = ('ssl=on', 'ssl_cert_file=server.crt', 'ssl_key_file=server.key', 'ssl_ca_file=ca.crt')
    other.server = ThrowawayServer(lab.server.bin, (*SETTINGS, *tls), free_port())
    lab.exits.callback(other.server.remove)
    give(other.keys, other.server.dir / 'data')
    (other.server.dir / 'data' / 'pg_hba.conf').write_text(HBA)
    lab.exits.enter_context(other.server)
    for role in (BY_PASSWORD, BY_CERTIFICATE):
        other.server.query(f"set password_encryption = 'scram-sha-256'; create role {role} superuser login password 'secret'")
    return other


def tls_login(lab, *, certificate=False):
    """Parameters of a client that checks whom it talks to, and shows its own certificate if asked to."""
    parameters = {'sslmode': 'verify-full', 'sslrootcert': lab.keys / 'ca.crt'}
    if certificate:
        parameters |= {'sslcert': lab.keys / 'client.crt', 'sslkey': lab.keys / 'client.key'}
    return parameters
