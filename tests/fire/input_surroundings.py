"""Surroundings of the process, one a line: a shell command around lockstep ("$@"), and how migrate ends in it. Whatever
becomes of its output, a migration that was applied is not called failed."""
import os
import subprocess

from firing import Case, Run, expect
from throwaway_server import CLEAN_ENVIRONMENT

KEPT = 'what the command has done stays done'
OTHER = 'setpriv --reuid 12345 --regid 12345 --clear-groups'
READ_ONLY = '''exec unshare -m sh -c 'mount -o remount,bind,ro / && exec "$@"' sh "$@"'''

# title: (the command, the exit code, what standard error says)
SURROUNDINGS = {
    'standard output is closed': ('"$@" >&-', 70, KEPT),
    'standard output is a full disk': ('"$@" >/dev/full', 70, KEPT),
    'standard output is a pipe that nobody reads': ('exec 3<>"$PIPE" 4>"$PIPE" 3>&-; "$@" >&4', 70, KEPT),
    'standard output is read only': ('"$@" 1</dev/null', 70, KEPT),
    'standard input is closed': ('"$@" <&-', 0, ''),
    'standard error is closed': ('"$@" 2>&-', 0, ''),
    'standard error is a full disk': ('"$@" 2>/dev/full', 0, ''),
    'standard error is a pipe that nobody reads': ('exec 3<>"$PIPE" 4>"$PIPE" 3>&-; "$@" 2>&4', 0, ''),
    'everything is closed': ('"$@" <&- >&- 2>&-', 70, ''),
    'no file may grow': ('ulimit -f 0; "$@" >"$OUT" 2>"$OUT.err"', 70, ''),
    'no environment': ('exec env -i "$@"', 0, ''),
    'no user of that number': (f'exec {OTHER} "$@"', 0, ''),
    'no home': ('HOME=/nowhere exec "$@"', 0, ''),
    'a folder that is gone': ('cd "$OUT" && rmdir "$OUT" && exec "$@"', 0, ''),
    'a folder that may not be entered': (f'cd /root && exec {OTHER} "$@"', 2, 'lockstep.toml: Permission denied'),
    'a root that is read only': (READ_ONLY, 0, ''),
    'the locale C': ('LC_ALL=C exec "$@"', 0, ''),
    'the locale POSIX': ('LANG=POSIX LC_ALL= exec "$@"', 0, ''),
    'a locale that is not there': ('LC_ALL=xx_YY.bogus exec "$@"', 0, ''),
    'a Turkish locale': ('LC_ALL=tr_TR.UTF-8 LANG=tr_TR.UTF-8 exec "$@"', 0, ''),
    'no locale': ('unset LC_ALL LANG; exec "$@"', 0, ''),
    'a time zone that is not there': ('TZ=Nowhere/Land exec "$@"', 0, ''),
    '32 open files': ('ulimit -n 32; exec "$@"', 0, ''),
    '12 open files': ('ulimit -n 12; exec "$@"', 0, ''),
    'a stack of 256 KiB': ('ulimit -s 256; exec "$@"', 0, ''),
    'no core': ('ulimit -c 0; exec "$@"', 0, ''),
    'no name of its own': ('exec -a "" "$@"', 0, ''),
    'signals that are ignored': ("trap '' HUP INT TERM PIPE CHLD; exec \"$@\"", 0, ''),
    'no rights for new files': ('umask 777; exec "$@"', 0, ''),
}


def run_in(lab, shell, arguments, name):
    """In bash, as whoever runs the tests, with what the command may use."""
    out = lab.work / f'out-{name}'
    out.mkdir()
    pipe = lab.work / f'pipe-{name}'
    os.mkfifo(pipe)
    done = subprocess.run(['bash', '-c', shell, 'bash', lab.lockstep, *map(str, arguments)],
                          env={**CLEAN_ENVIRONMENT, 'OUT': str(out / 'x' if 'ulimit -f' in shell else out), 'PIPE': str(pipe)},
                          stdin=subprocess.DEVNULL, capture_output=True, encoding='utf-8', errors='surrogateescape',
                          timeout=60, check=False)
    return Run(done.returncode, done.stdout, done.stderr)


def files_of(lab):
    """Everybody may read them."""
    path = lab.work / 'surroundings'
    if not path.exists():
        lab.directory(path.name, {'V1__größe.sql': "create table größe as select 'Größe'::text as name;\n"})
        for folder in (lab.work, path):
            folder.chmod(0o755)
    return path


def surrounded(title, shell, code, says):
    def run(lab, _):
        with lab.database() as database:
            arguments = ['migrate', '-u', lab.loopback(database), '-d', files_of(lab)]
            done = run_in(lab, shell, arguments, database)
            expect(done.code == code and says in done.err, f'{title}: exit {code}', done)
            if code != 2:
                left = lab.server.query('select state, (select count(*) from größe) from lockstep_history', database)
                expect(left == [['applied', '1']], f'{title}: the file is applied', left, done)
            again = run_in(lab, 'exec "$@"', arguments, database + '-again')
            expect(again.code == 0, f'{title}: the next run has nothing to do or does it', again)
        return {'faults': 1, 'worked' if code == 0 else 'said what is wrong': 1}
    return run


def cases():
    for title, (shell, code, says) in SURROUNDINGS.items():
        fixed = title in ('standard output is a full disk', 'everything is closed', 'no user of that number')
        yield Case(f'surroundings: {title}', surrounded(title, shell, code, says), fixed=fixed)
