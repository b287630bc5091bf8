#!/usr/bin/env python3
"""scripts/count_tests.py adds up reports, and does not let a failed, skipped or unfinished one pass."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).parents[2] / "scripts" / "count_tests.py"


def report(passed, failed=0, skipped=0):
    return (f'<Catch2TestRun><OverallResults successes="99"/><OverallResultsCases successes="{passed}" '
            f'failures="{failed}" expectedFailures="0" skips="{skipped}"/></Catch2TestRun>')


def count(*reports):
    with tempfile.TemporaryDirectory() as folder:
        for number, text in enumerate(reports):
            (pathlib.Path(folder) / f"{number}.xml").write_text(text, encoding="utf-8")
        done = subprocess.run([sys.executable, SCRIPT, folder], capture_output=True, text=True, check=False)
        return done.stdout, done.returncode


class CountTests(unittest.TestCase):
    def test_adds_up(self):
        self.assertEqual(count(report(3), report(4)), ("7 passed, 0 failed\n", 0))

    def test_a_failure_fails(self):
        self.assertEqual(count(report(3), report(4, failed=1)), ("7 passed, 1 failed\n", 1))

    def test_a_skipped_case_fails(self):
        self.assertEqual(count(report(3, skipped=2)), ("3 passed, 0 failed, 2 skipped\n", 1))

    def test_a_report_that_was_cut_short_fails(self):
        self.assertEqual(count(report(3), '<Catch2TestRun><TestCase name="died"'), ("3 passed, 1 failed\n", 1))

    def test_no_report_at_all_fails(self):
        self.assertEqual(count(), ("0 passed, 0 failed\n", 1))


if __name__ == "__main__":
    unittest.main()
