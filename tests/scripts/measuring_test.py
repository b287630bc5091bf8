#!/usr/bin/env python3
"""Tests of what `tests/bench/budgets` makes of its measurements."""
import sys
import unittest
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS / 'bench'), str(TESTS / 'support')]

from measuring import Measured, Pairs, run_watched, verdict
from throwaway_server import Stop


class Measuring(unittest.TestCase):
    def test_a_figure_within_its_budget_keeps_it(self):
        self.assertEqual(verdict(1.5, 1.5), 'kept')

    def test_a_figure_above_its_budget_misses_it_unless_the_fastest_runs_keep_it(self):
        self.assertEqual(verdict(1.6, 1.5), 'MISSED')
        self.assertEqual(verdict(1.6, 1.5, least_figure=1.55), 'MISSED')
        self.assertEqual(verdict(1.6, 1.5, least_figure=1.5), 'unclear')

    def test_programs_run_in_turns_and_each_goes_first_as_often(self):
        order = []
        times = iter([2, 1, 10, 40, 6, 2])

        def work(name):
            return lambda: order.append(name) or Measured(next(times))

        pairs = Pairs(work('ours'), work('theirs'), 3)
        self.assertEqual(order, ['ours', 'theirs', 'theirs', 'ours', 'ours', 'theirs'])
        self.assertEqual(pairs.ratio(), 3)  # of 2, 4 and 3
        self.assertEqual(pairs.least_ratio(), 2)

    def test_the_memory_of_a_program_is_its_own(self):
        ours = bytearray(64 * 1024 * 1024)
        self.assertLess(run_watched(['/bin/sleep', '0.2']).memory, len(ours))
        holder = 'import time; held = bytearray(64 * 1024 * 1024); time.sleep(0.2)'
        self.assertGreater(run_watched([sys.executable, '-c', holder]).memory, len(ours))

    def test_a_program_that_fails_is_no_measurement(self):
        with self.assertRaisesRegex(Stop, 'sh failed .3.*no luck'):
            run_watched(['/bin/sh', '-c', 'echo no luck >&2; exit 3'])


if __name__ == '__main__':
    unittest.main()
