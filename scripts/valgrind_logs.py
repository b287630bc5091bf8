#!/usr/bin/env python3
"""Prints what valgrind found in some processes, from a folder with one log of each, and how many there were.

usage: valgrind_logs.py FOLDER

valgrind lists the descriptors that are open at the end, but does not take them for errors: here they are.
"""

import pathlib
import re
import sys

PREFIX = re.compile(r"^==\d+== ?", re.M)
OPEN = re.compile(r"Open (file descriptor|AF_\w+ socket) \d+")
# The pipe by which a signal handler wakes the program is there to its end, and so are the two ends that a watcher holds.
IN_ORDER = "<inherited from parent>", "lockstep::db::catch_interrupts()", "lockstep::ephemeral::(anonymous namespace)::detach("


def is_in_order(block):
    if block.startswith("FILE DESCRIPTORS: ") and "\n" not in block:
        return True
    return OPEN.match(block) is not None and any(words in block for words in IN_ORDER)


def findings(log):
    """The blocks of a log that should not be there."""
    text = re.sub(r"^(FILE DESCRIPTORS: .*)\n", r"\1\n\n", PREFIX.sub("", log), flags=re.M)
    blocks = (block.strip() for block in re.split(r"\n\s*\n", text))
    return [block for block in blocks if block and not is_in_order(block)]


def main(folder):
    logs = sorted(pathlib.Path(folder).glob("*.log"))
    found = 0
    for log in logs:
        if blocks := findings(log.read_text(encoding="utf-8", errors="replace")):
            found += 1
            print(f"{log}:", *blocks, sep="\n\n", end="\n\n")
    print(f"{len(logs)} processes under valgrind, {found} with findings")
    return 0 if logs and not found else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
