"""Input that is much larger, deeper or more than anybody means, with the time and the memory that it takes."""
import os
import resource
import subprocess
import time

from firing import Broken, Case, expect
from throwaway_server import CLEAN_ENVIRONMENT

MILLION = 1_000_000


def script(text):
    return lambda path: (path / 'V1__a.sql').write_text(text)


def chain(depth):
    def make(path):
        (path / 'V1__a.sql').write_text('\\ir f1\n')
        for n in range(1, depth + 1):
            (path / f'f{n}').write_text(f'\\ir f{n + 1}\n' if n < depth else 'select 1;\n')
    return make


def fan(depth, width):
    """Each file includes the next one that often: width to the depth."""
    def make(path):
        (path / 'V1__a.sql').write_text('\\ir f1\n')
        for n in range(1, depth + 1):
            (path / f'f{n}').write_text(f'\\ir f{n + 1}\n' * width if n < depth else 'select 1;\n')
    return make


def many_files(count, name='V{}__f.sql'):
    def make(path):
        for n in range(1, count + 1):
            folder = path / str(n // 1000)
            if n % 1000 == 0 or n == 1:
                folder.mkdir()
            (folder / name.format(n)).write_text(f'select {n};\n')
    return make


# title: (how it is made, the exit code of validate, what it says, the most MiB)
BOMBS = {
    'a line of 100 MB in a string': (lambda: script("select '" + 'x' * 100 * MILLION + "';\n"), 0, '', 700),
    'a line of 100 MB in a comment': (lambda: script('-- ' + 'x' * 100 * MILLION + '\nselect 1;\n'), 0, '', 64),
    'a statement of 100 MB of words': (lambda: script('select ' + '1,' * 50 * MILLION + '1;\n'), 0, '', 700),
    'COPY data of 100 MB in one line': (lambda: script('copy t from stdin;\n' + 'x' * 100 * MILLION + '\n\\.\n'), 0, '', 64),
    '1,000,000 nested parentheses': (lambda: script('select ' + '(' * MILLION + '1' + ')' * MILLION + ';\n'), 0, '', 64),
    '1,000,000 nested comments': (lambda: script('/*' * MILLION + '*/' * MILLION + ' select 1;\n'), 0, '', 64),
    '1,000,000 comments that stay open': (lambda: script('/*' * MILLION), 3, 'comment', 64),
    '1,000,000 dollar quotes': (lambda: script('select ' + '$a$x$a$,' * MILLION + '1;\n'), 0, '', 64),
    '1,000,000 dollar quotes that do not end': (lambda: script('select $a$' + '$b$' * MILLION), 3, 'V1__a.sql', 64),
    '1,000,000 statements': (lambda: script('select 1;\n' * MILLION), 0, '', 64),
    '1,000,000 psql commands': (lambda: script('\\x\n' * MILLION), 3, 'V1__a.sql', 64),
    '1,000,000 BEGIN': (lambda: script('begin;\n' * MILLION), 3, 'V1__a.sql', 64),
    '1,000,000 COMMIT': (lambda: script('commit;\n' * MILLION), 3, 'V1__a.sql', 64),
    '1,000,000 settings': (lambda: script('-- lockstep: a=1\n' * MILLION), 3, 'V1__a.sql', 64),
    '1,000,000 settings in a line': (lambda: script('-- lockstep: ' + 'a=1,' * MILLION + '\n'), 3, 'V1__a.sql:1:1', 64),
    '1,000,000 transactions of its own': (lambda: script('-- lockstep: transaction=off\n' + 'begin;select 1;commit;\n' * MILLION), 0, '', 64),
    '1,000,000 VACUUM': (lambda: script('vacuum;\n' * MILLION), 0, '', 64),
    '100,000 included files that are not there': (lambda: script('\\ir gone\n' * 100_000), 3, 'there is no file', 64),
    '1,000,000 quotes': (lambda: script("'" * (MILLION + 1)), 3, 'V1__a.sql', 64),
    'a chain of 1,000 included files': (lambda: chain(1000), 3, 'more than 10 deep', 64),
    '9,000 included files': (lambda: fan(2, 9_000), 0, '', 64),
    '10,000,000,000 included files': (lambda: fan(10, 10), 3, 'at most 10000 files', 200),
    '10,000 files': (lambda: many_files(10_000), 0, '', 64),
    '100,000 files': (lambda: many_files(100_000), 0, '', 300),
    '100,000 files that are no migrations': (lambda: many_files(100_000, 'notes{}.txt'), 0, '', 64),
}


def measured(command, seconds):
    """(exit code, output, seconds, MiB of memory at most)"""
    begin = time.monotonic()
    process = subprocess.Popen(command, env=CLEAN_ENVIRONMENT, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT, encoding='utf-8')
    try:
        out = process.communicate(timeout=seconds)[0]
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        raise Broken(f'it did not end within {seconds} s: {command}') from None
    return process.returncode, out, time.monotonic() - begin, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024


def exploded(title, make, code, says, most):
    def run(lab, _):
        path = lab.work / ''.join(filter(str.isalnum, title))
        path.mkdir()
        make()(path)
        # A process of its own measures, so that the memory of others does not count.
        reader, writer = os.pipe()
        child = os.fork()
        if child == 0:
            os.write(writer, repr(outcome(lab, path)).encode())
            os._exit(0)
        os.close(writer)
        with open(reader, encoding='utf-8') as answer:
            text = answer.read()
        os.waitpid(child, 0)
        subprocess.run(['rm', '-rf', path], check=True)
        found = eval(text)  # our own repr
        expect(found[0] == code and says in found[1], f'{title}: exit {code}', *found)
        expect(found[3] <= most, f'{title}: at most {most} MiB', found[3])
        return {'faults': 1, 'ended': 1, 'seconds': round(found[2]), 'MiB': round(found[3])}
    return run


def outcome(lab, path):
    try:
        code, out, seconds, memory = measured([lab.lockstep, 'validate', '--offline', '-d', path], 100)
        return code, out[:2000], seconds, memory
    except Broken as broken:
        return -1, str(broken), 0, 0


def cases():
    for title, (make, code, says, most) in BOMBS.items():
        yield Case(f'{title}', exploded(title, make, code, says, most), fixed=title == '1,000,000 nested parentheses', seconds=600)
