#!/usr/bin/env python3
"""Adds up what gcov counted in a build and prints the lines of src/ that ran, a row a folder. Too few make it fail.

usage: coverage_report.py [--missing] BUILD_DIR

A line of a header counts as run when it ran in any of the files that include it, those of the tests too: the linker keeps one
copy of an inline function, whosever that is.
"""

import argparse
import collections
import concurrent.futures
import itertools
import json
import pathlib
import subprocess
import sys

WANTED = {"src/core": 95, "src/sql": 95, "all": 90}


def counts_of(notes):
    """gcov's counts for one object file: (file, {line number: how often})."""
    done = subprocess.run(["gcov", "--json-format", "--stdout", notes.name], cwd=notes.parent, check=True,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    report = json.loads(done.stdout)
    here = pathlib.Path(report["current_working_directory"])
    for file in report["files"]:
        counts = collections.Counter()
        for line in file["lines"]:  # one line has several entries where several functions share it
            counts[line["line_number"]] += line["count"]
        yield (here / file["file"]).resolve(), counts


def lines_of(build, source):
    """Each file below `source`, by its name from there, to its lines that have code and how often each ran."""
    files = collections.defaultdict(collections.Counter)
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for report in pool.map(lambda notes: list(counts_of(notes)), sorted(build.rglob("*.gcno"))):
            for path, counts in report:
                if path.is_relative_to(source):
                    files[path.relative_to(source).as_posix()].update(counts)
    return files


def folder_of(name):
    return "src/" + name.split("/")[0] if "/" in name else "src"


def percent(ran, lines):
    return 100 * ran / lines


def rows(files):
    """(folder, lines, lines that ran), all of them last."""
    table = collections.defaultdict(lambda: [0, 0])
    for name, lines in files.items():
        for key in (folder_of(name), "all"):
            table[key][0] += len(lines)
            table[key][1] += sum(count > 0 for count in lines.values())
    return [(key, *table[key]) for key in sorted(table, key=lambda key: (key == "all", key))]


def ranges(numbers):
    """3, 4, 5, 9 as "3-5, 9"."""
    runs = [[number for _, number in run] for _, run in itertools.groupby(enumerate(numbers), lambda pair: pair[1] - pair[0])]
    return ", ".join(f"{run[0]}-{run[-1]}" if len(run) > 1 else str(run[0]) for run in runs)


def print_missing(files):
    for name, lines in sorted(files.items()):
        if missing := sorted(number for number, count in lines.items() if not count):
            print(f"src/{name}: {ranges(missing)}")


def judge(table):
    """Prints the table, and a line for each folder with too few; whether there was none."""
    enough = True
    print(f"{'folder':16}{'lines':>8}{'ran':>8}{'%':>8}")
    for folder, lines, ran in table:
        print(f"{folder:16}{lines:8}{ran:8}{percent(ran, lines):8.1f}")
    for folder, lines, ran in table:
        if percent(ran, lines) < WANTED.get(folder, 0):
            print(f"{folder}: {percent(ran, lines):.1f} % of the lines ran, {WANTED[folder]} % are wanted")
            enough = False
    if missing := set(WANTED) - {folder for folder, *_ in table}:
        print(f"nothing was counted in {', '.join(sorted(missing))}")
    return enough and not missing


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--missing", action="store_true", help="also list the lines that never ran")
    parser.add_argument("build", type=pathlib.Path)
    arguments = parser.parse_args()
    source = pathlib.Path(__file__).resolve().parent.parent / "src"
    files = lines_of(arguments.build.resolve(), source)
    if arguments.missing:
        print_missing(files)
    return 0 if judge(rows(files)) else 1


if __name__ == "__main__":
    sys.exit(main())
