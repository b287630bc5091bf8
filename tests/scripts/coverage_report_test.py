#!/usr/bin/env python3
"""scripts/coverage_report.py counts lines by folder, and does not let too few of them pass."""

import contextlib
import io
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "scripts"))
import coverage_report

ENOUGH = {"core/a.cpp": {number: 1 for number in range(1, 101)}, "sql/a.cpp": {1: 1}}


def judged(files):
    with contextlib.redirect_stdout(io.StringIO()) as out:
        enough = coverage_report.judge(coverage_report.rows(files))
    return enough, out.getvalue()


class CoverageReport(unittest.TestCase):
    def test_counts_lines_by_folder_and_all_of_them_last(self):
        files = {"core/a.cpp": {1: 4, 2: 0}, "core/b.h": {7: 1}, "sql/a.cpp": {1: 0}, "main.cpp": {3: 1}}
        self.assertEqual(coverage_report.rows(files), [("src", 1, 1), ("src/core", 3, 2), ("src/sql", 1, 0), ("all", 5, 3)])

    def test_enough_passes(self):
        self.assertTrue(judged(ENOUGH)[0])

    def test_a_folder_with_too_few_fails(self):
        few = {number: int(number > 6) for number in range(1, 101)}
        enough, said = judged({**ENOUGH, "core/a.cpp": few})
        self.assertFalse(enough)
        self.assertIn("src/core: 94.0 % of the lines ran, 95 % are wanted", said)

    def test_too_few_of_all_fail_where_no_folder_does(self):
        enough, said = judged({**ENOUGH, "cli/a.cpp": {number: 0 for number in range(100)}})
        self.assertFalse(enough)
        self.assertIn("all: 50.2 % of the lines ran, 90 % are wanted", said)

    def test_a_folder_without_any_count_fails(self):
        enough, said = judged({"core/a.cpp": {1: 1}})
        self.assertFalse(enough)
        self.assertIn("nothing was counted in src/sql", said)

    def test_lines_that_never_ran_are_named_as_ranges(self):
        self.assertEqual(coverage_report.ranges([3, 4, 5, 9, 11, 12]), "3-5, 9, 11-12")


if __name__ == "__main__":
    unittest.main()
