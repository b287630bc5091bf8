"""A disk that is full when a test wants it: a tmpfs, which goes with this process."""
import contextlib
import ctypes
import errno
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from firing import expect
from throwaway_server import unprivileged

CLONE_NEWNS = 0x00020000


def possible():
    return os.geteuid() == 0 and shutil.which('mount')


def mount(*words):
    done = subprocess.run(['mount', *map(str, words)], capture_output=True, encoding='utf-8', check=False)
    expect(done.returncode == 0, 'mount ' + ' '.join(map(str, words)), done.stderr)


@contextlib.contextmanager
def small_disk(megabytes):
    """What is mounted is seen by this process and those that it starts from now on, and gone with them."""
    ctypes.CDLL(None).unshare(CLONE_NEWNS)
    mount('--make-rprivate', '/')
    with tempfile.TemporaryDirectory(prefix='lockstep-disk-') as place:
        owner = unprivileged()
        mount('-t', 'tmpfs', '-o', f'size={megabytes}m,uid={owner["user"]},gid={owner["group"]}', 'none', place)
        os.chmod(place, 0o711)
        try:
            yield SmallDisk(Path(place), owner)
        finally:
            subprocess.run(['umount', '--lazy', place], check=True)


class SmallDisk:
    def __init__(self, path, owner):
        self.path, self.owner, self.ballast = path, owner, path / 'ballast'

    def directory(self, name):
        """A new one of the server's."""
        path = self.path / name
        path.mkdir(mode=0o700)
        os.chown(path, self.owner['user'], self.owner['group'])
        return path

    def enlarge(self, megabytes):
        self.ballast.unlink(missing_ok=True)
        mount('-o', f'remount,size={megabytes}m', self.path)

    def fill(self):
        """To the last block."""
        with contextlib.suppress(OSError), open(self.ballast, 'ab', buffering=0) as file:
            while True:
                file.write(bytes(4096))
        self.expect_full()

    def expect_full(self):
        try:
            (self.path / 'more').write_bytes(bytes(4096))
        except OSError as error:
            expect(error.errno == errno.ENOSPC, 'the disk is full', error)
        else:
            expect(False, 'the disk is full')
        finally:
            (self.path / 'more').unlink()

    def make_room(self):
        self.ballast.unlink(missing_ok=True)
