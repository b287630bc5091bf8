#!/usr/bin/env python3
"""scripts/valgrind_logs.py shows errors and descriptors left open, and not those that belong to a process."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).parents[2] / "scripts" / "valgrind_logs.py"

QUIET = """==7== FILE DESCRIPTORS: 5 open (3 std) at exit.
==7== Open file descriptor 5:
==7==    at 0x516CB37: pipe2 (syscall-template.S:120)
==7==    by 0x2923C7: lockstep::db::catch_interrupts() (interrupt.cpp:72)
==7==
==7== Open file descriptor 3: /tmp/7.log
==7==    <inherited from parent>
==7==
==7==
"""
LEFT_OPEN = """==7== FILE DESCRIPTORS: 4 open (3 std) at exit.
==7== Open AF_UNIX socket 5: <unknown>
==7==    at 0x516CB37: socket (syscall-template.S:120)
==7==    by 0x2923C7: lockstep::db::Observer::connected() (observer.cpp:72)
==7==
"""
LEAK = """==7== 5 bytes in 1 blocks are definitely lost in loss record 1 of 9
==7==    at 0x48407B4: malloc (vg_replace_malloc.c:381)
==7==
"""


def judged(*logs):
    with tempfile.TemporaryDirectory() as folder:
        for number, log in enumerate(logs):
            (pathlib.Path(folder) / f"{number}.log").write_text(log, encoding="utf-8")
        done = subprocess.run([sys.executable, SCRIPT, folder], capture_output=True, text=True, check=False)
        return done.returncode, done.stdout


class ValgrindLogs(unittest.TestCase):
    def test_what_belongs_to_a_process_is_in_order(self):
        self.assertEqual(judged("", QUIET), (0, "2 processes under valgrind, 0 with findings\n"))

    def test_an_error_and_a_descriptor_left_open_are_shown(self):
        for log, words in ((LEAK, "definitely lost"), (LEFT_OPEN, "observer.cpp"), (LEAK + QUIET, "definitely lost")):
            with self.subTest(log=log):
                code, said = judged(QUIET, log)
                self.assertEqual(code, 1)
                self.assertIn(words, said)
                self.assertNotIn("catch_interrupts", said)
                self.assertIn("2 processes under valgrind, 1 with findings", said)

    def test_no_process_at_all_proves_nothing(self):
        self.assertEqual(judged()[0], 1)


if __name__ == "__main__":
    unittest.main()
