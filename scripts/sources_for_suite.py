#!/usr/bin/env python3
"""Print this system's main package source as it would read for another suite.

usage: sources_for_suite.py CURRENT_SUITE WANTED_SUITE [ETC_APT]

Reads both forms of apt's sources, deb822 and one-line. The address and the keys (Signed-By) are carried over as they
stand; an entry's `trusted` is not: what comes from the other suite is always checked against a key.
"""

import pathlib
import re
import sys


def stanzas(text):
    """The deb822 paragraphs of a .sources file, each a dict from lower-case field to its value, folds kept."""
    for paragraph in re.split(r"\n\s*\n", text):
        fields, name = {}, None
        for line in paragraph.splitlines():
            if line.startswith("#"):
                continue
            if line[:1].isspace() and name:
                fields[name] += "\n" + line
            elif ":" in line:
                name, _, value = line.partition(":")
                name = name.strip().lower()
                fields[name] = value.strip()
        if fields:
            yield fields


def from_deb822(text, suite):
    for fields in stanzas(text):
        if fields.get("enabled", "yes").lower() in ("no", "false", "0"):
            continue
        if "deb" not in fields.get("types", "").split() or suite not in fields.get("suites", "").split():
            continue
        if "main" in fields.get("components", "").split():
            yield fields.get("uris", "").split()[0], fields.get("signed-by")


def from_one_line(text, suite):
    for line in text.splitlines():
        match = re.match(r"\s*deb\s+(?:\[([^\]]*)\]\s*)?(\S+)\s+(\S+)\s+([^#]*)", line)
        if not match or match[3].rstrip("/") != suite or "main" not in match[4].split():
            continue
        options = dict(option.split("=", 1) for option in (match[1] or "").split() if "=" in option)
        yield match[2], options.get("signed-by")


def entries(etc_apt, suite):
    parts = sorted((etc_apt / "sources.list.d").glob("*"))
    for path in [etc_apt / "sources.list", *parts]:
        if path.suffix not in (".list", ".sources") or not path.is_file():
            continue
        read = from_deb822 if path.suffix == ".sources" else from_one_line
        yield from read(path.read_text(encoding="utf-8"), suite)


def main(current, wanted, etc_apt="/etc/apt"):
    address, keys = next(entries(pathlib.Path(etc_apt), current), (None, None))
    if not address:
        sys.exit(f"no apt source of this system offers main of {current}")
    print(f"Types: deb deb-src\nURIs: {address}\nSuites: {wanted}\nComponents: main")
    if keys:
        print(f"Signed-By: {keys}")


if __name__ == "__main__":
    main(*sys.argv[1:])
