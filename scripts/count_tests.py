#!/usr/bin/env python3
"""Add up Catch2's XML reports of some folders and print one line; a skipped or failed test case makes it fail.

usage: count_tests.py FOLDER...
"""

import pathlib
import sys
import xml.etree.ElementTree as ElementTree


def cases(report):
    """(passed, failed, skipped) of one report; a report that was cut short counts as one failure."""
    try:
        total = ElementTree.parse(report).getroot().find("OverallResultsCases")
    except ElementTree.ParseError:
        total = None
    if total is None:
        return 0, 1, 0
    expected = int(total.get("expectedFailures", 0))
    return int(total.get("successes")) + expected, int(total.get("failures")), int(total.get("skips", 0))


def main(folders):
    reports = [report for folder in folders for report in pathlib.Path(folder).glob("*.xml")]
    passed, failed, skipped = (sum(column) for column in zip((0, 0, 0), *map(cases, reports)))
    print(f"{passed} passed, {failed} failed" + (f", {skipped} skipped" if skipped else ""))
    return 1 if failed or skipped or not passed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
