#!/usr/bin/env python3
"""What scripts/image-root lays out is enough to migrate a database, and small. Needs root, to make it the root of a process.

usage: image_test.py PROGRAM
"""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE / 'support'))

from lab import free_port
from throwaway_server import ThrowawayServer, newest_server, output_of

PROGRAM = pathlib.Path(sys.argv.pop(1)).resolve()
USER = 65532  # that of the Dockerfile
MOST_BYTES = 30_000_000  # the budget of the image


class Image(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix='lockstep-image-')
        cls.addClassCleanup(folder.cleanup)
        cls.root = pathlib.Path(folder.name) / 'root'
        output_of([HERE.parent / 'scripts' / 'image-root', PROGRAM, cls.root])
        cls.root.parent.chmod(0o755)

    def lockstep(self, *arguments):
        return subprocess.run(['/usr/sbin/chroot', f'--userspec={USER}:{USER}', self.root, '/usr/bin/lockstep', *arguments],
                              env={}, capture_output=True, encoding='utf-8', check=False)

    def test_migrates_a_database_with_nothing_else_there(self):
        migrations = self.root / 'migrations'
        migrations.mkdir()
        (migrations / 'V1__a.sql').write_text('create table a as select 1 as i;\n')
        server = ThrowawayServer(newest_server(), port=free_port())
        self.addCleanup(server.remove)
        with server:
            url = server.url_of(server.database, host='127.0.0.1')
            run = self.lockstep('migrate', '-d', '/migrations', '-u', url)
            self.assertEqual(run.returncode, 0, run.stderr)
            self.assertEqual(server.query('select i from a'), [['1']])
            # Without a user in it, libpq asks who runs it.
            run = self.lockstep('info', '-d', '/migrations', '-u', url.replace('postgres@', ''))
            self.assertIn('role "lockstep" does not exist', run.stderr)

    def test_has_a_licence_for_each_library(self):
        libraries = [path for path in self.root.rglob('*.so*') if path.is_file()]
        licences = list(self.root.glob('usr/share/doc/*/copyright'))
        self.assertGreater(len(libraries), 5)
        names = ' '.join(path.parent.name for path in licences)
        for name in ('libc6', 'libpq5', 'libssl3', 'nlohmann-json3-dev'):
            self.assertIn(name, names)
        self.assertTrue(all(path.stat().st_size > 0 for path in licences))

    def test_keeps_its_budget(self):
        size = sum(path.lstat().st_size for path in self.root.rglob('*') if path.is_file() and not path.is_symlink())
        self.assertLess(size, MOST_BYTES)


if __name__ == '__main__':
    if os.geteuid() != 0:
        sys.exit('image_test: needs root')
    unittest.main()
