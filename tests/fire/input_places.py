"""What may lie in a location of migrations, one a line: nothing may hang, crash or be taken for something else."""
import os
import socket
import subprocess

from controls import unsafe
from firing import Case, expect, finish, start

SQL = 'select 1;\n'


def file(name, text=SQL):
    return lambda path: (path / name).write_text(text)


def raw(name, data=SQL.encode()):
    def make(path):
        with open(os.path.join(os.fsencode(path), name), 'wb') as out:
            out.write(data)
    return make


def link(name, to):
    return lambda path: (path / name).symlink_to(to)


def fifo(name):
    return lambda path: os.mkfifo(path / name)


def unix_socket(name):
    def make(path):
        before = os.getcwd()
        os.chdir(path)  # the name of a socket is short
        try:
            with socket.socket(socket.AF_UNIX) as made:
                made.bind(name)
        finally:
            os.chdir(before)
    return make


def device(name, major, minor):
    return lambda path: os.mknod(path / name, 0o020666, os.makedev(major, minor))


def sparse(name, size):
    def make(path):
        with open(path / name, 'wb') as out:
            out.truncate(size)
    return make


def folders(*names):
    def make(path):
        deepest = path.joinpath(*names)
        deepest.mkdir(parents=True)
        (deepest / 'V1__a.sql').write_text(SQL)
    return make


def both(*makers):
    return lambda path: [make(path) for make in makers] and None


def denied(name):
    def make(path):
        (path / name).write_text(SQL)
        (path / name).chmod(0)
    return make


def denied_folder(path):
    folders('sub')(path)
    (path / 'sub').chmod(0)


# title: (how it is made, the exit code, what the error says); -1: whatever it is, it ends
PLACES = {
    'a FIFO': (fifo('V1__a.sql'), 3, 'not a regular file'),
    'a socket': (unix_socket('V1__a.sql'), 3, 'not a regular file'),
    'a device': (device('V1__a.sql', 1, 5), 3, 'not a regular file'),
    'a terminal': (link('V1__a.sql', '/dev/tty'), 3, 'V1__a.sql'),
    'a link to a device': (link('V1__a.sql', '/dev/zero'), 3, 'not a regular file'),
    'a link to standard input': (link('V1__a.sql', '/dev/stdin'), 3, 'not a regular file'),
    'a link to itself': (link('V1__a.sql', 'V1__a.sql'), 3, 'leads nowhere'),
    'a link to nothing': (link('V1__a.sql', 'gone'), 3, 'leads nowhere'),
    'a link to the messages of the kernel': (link('V1__a.sql', '/proc/kmsg'), 3, 'V1__a.sql'),
    'a link to memory': (link('V1__a.sql', '/proc/self/mem'), 3, 'V1__a.sql'),
    'a link to the kernel\'s core': (link('V1__a.sql', '/proc/kcore'), -1, ''),
    'folders that lead to themselves': (both(folders('a', 'b'), link('a/b/up', '..'), link('self', '.')), 0, ''),
    'a link to all that there is': (both(file('V1__a.sql'), link('root', '/'), link('up', '..')), 0, ''),
    'a FIFO of another name': (both(file('V1__a.sql'), fifo('notes')), 0, ''),
    'a FIFO as configuration': (both(file('V1__a.sql'), fifo('V1__a.sql.conf')), 3, 'V1__a.sql.conf'),
    'a device as configuration': (both(file('V1__a.sql'), link('V1__a.sql.conf', '/dev/zero')), 3, 'V1__a.sql.conf'),
    'a FIFO that is included': (both(file('V1__a.sql', '\\ir part\n'), fifo('part')), 3, 'not a regular file'),
    'a device that is included': (both(file('V1__a.sql', '\\ir part\n'), link('part', '/dev/zero')), 3, 'not in a location'),
    'standard input that is included': (file('V1__a.sql', '\\i /dev/stdin\n'), 3, 'not in a location'),
    'blanks in names': (folders(' a b ', '\t'), 0, ''),
    'a new line in a folder\'s name': (folders('new\nline'), -1, ''),
    'a new line in a name': (file('V1__new\nline.sql'), -1, ''),
    'terminal controls in a name': (file('V1__\x1b[31mred\x07.sql'), -1, ''),
    'a direction in a name': (file('V1__\u202elqs.sql'), -1, ''),
    'a C1 control in a name': (file('V1__\x9b31m.sql'), -1, ''),
    'a name that is not UTF-8': (raw(b'V1__\xff\xfe.sql'), -1, ''),
    'a folder whose name is not UTF-8': (both(lambda path: os.mkdir(os.fsencode(path) + b'/\xff'), raw(b'\xff/V1__a.sql')), 3, 'Rename the folder'),
    'a name of 255 bytes': (file('V1__' + 'x' * 247 + '.sql'), 0, ''),
    'a path of 3,000 bytes': (folders(*['x' * 200] * 15), 0, ''),
    'a file that may not be read': (denied('V1__a.sql'), 3, 'Permission denied'),
    'a folder that may not be read': (denied_folder, 3, 'Permission denied'),
    'a file with NUL bytes': (raw(b'V1__a.sql', b'select 1;\0'), 3, 'V1__a.sql'),
    'a file of UTF-16': (raw(b'V1__a.sql', 'select 1;'.encode('utf-16')), 3, 'V1__a.sql'),
    'a file of random bytes': (raw(b'V1__a.sql', bytes(range(256)) * 64), 3, 'V1__a.sql'),
    'an empty file': (raw(b'V1__a.sql', b''), -1, ''),
    'a sparse file of 8 TiB': (sparse('V1__a.sql', 2 ** 43), 3, 'V1__a.sql'),
    'controls in the SQL': (file('V1__a.sql', "select '\x1b[31m\u202e' \\gexec\n"), 3, 'gexec'),
}


def placed(title, make, code, says):
    def run(lab, _):
        path = lab.work / f'place-{abs(hash(title))}'
        path.mkdir(mode=0o755)
        lab.work.chmod(0o755)
        make(path)
        user = {'user': 12345, 'group': 12345, 'extra_groups': []} if os.geteuid() == 0 and 'may not' in title else {}
        for words in (('validate', '--offline'), ('validate', '--offline', '--output', 'json', '--log-format', 'json')):
            done = finish(start(lab, *words, '-d', path, cwd='/', **user), seconds=20)
            expect(done.code in ((code,) if code >= 0 else (0, 3)) and says in done.out + done.err, f'{title}: exit {code}', done)
            expect(not unsafe(done.out + done.err), f'{title}: nothing that a terminal obeys is printed', repr(done))
        subprocess.run(['chmod', '-R', 'u+rwX', path], check=True)
        return {'faults': 1, 'worked' if done.code == 0 else 'refused, and said why': 1}
    return run


def cases():
    for title, (make, code, says) in PLACES.items():
        fixed = title in ('a FIFO', 'a device as configuration', 'terminal controls in a name', 'a name that is not UTF-8')
        yield Case(f'a location with {title}', placed(title, make, code, says), fixed=fixed, seconds=60)
