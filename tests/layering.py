#!/usr/bin/env python3
"""The one direction of dependencies, and what the layers may not touch. Fails with a line for each breach.

usage: layering.py [REPOSITORY]

The compiler cannot say it: every library's headers are on its path.
"""

import pathlib
import re
import sys

MAX_LINES = 400

# What a layer may include of ours, besides itself. main.cpp wires, so it may include everything.
BELOW = {
    "sql": set(),
    "core": {"sql"},
    "files": {"core", "sql"},
    "ephemeral": {"core", "files"},
    "db": {"core", "sql"},
    "lint": {"core", "sql"},
    "cli": {"core", "sql", "lint"},
}

DATABASE = r"pqxx\b|libpq\b|libpq-|postgres_ext|pg_config"
COMMAND_LINE = r"CLI/|toml\+\+"
OUTSIDE_WORLD = (r"fstream|iostream|istream|ostream|sstream|streambuf|syncstream|filesystem|cstdlib|stdlib\.h|ctime|time\.h|"
                 r"cstdio|stdio\.h|unistd\.h|sys/|netinet/|arpa/|netdb\.h|fcntl\.h|dirent\.h|signal\.h|csignal|thread")
FORBIDDEN_INCLUDES = {
    "sql": "|".join((DATABASE, COMMAND_LINE, OUTSIDE_WORLD)),
    "core": "|".join((DATABASE, COMMAND_LINE, OUTSIDE_WORLD)),
    "files": "|".join((DATABASE, COMMAND_LINE)),
    "ephemeral": "|".join((DATABASE, COMMAND_LINE)),
    "db": COMMAND_LINE,
    "lint": "|".join((DATABASE, COMMAND_LINE)),
    "cli": DATABASE,
    "main": DATABASE,
}

# A duration is a value; a clock is the world.
PURE = {"sql", "core"}
IMPURE_WORDS = re.compile(r"\b(system_clock|steady_clock|high_resolution_clock|file_clock|utc_clock|getenv|random_device)\b")

STRING = re.compile(r'"(\\.|[^"\\])*"')
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')


def layer_of(source, path):
    folder = path.relative_to(source).parts[0]
    return "main" if path.parent == source else folder


def breaches_of_include(layer, bracket, name):
    forbidden = FORBIDDEN_INCLUDES[layer]
    if re.match(forbidden, name):
        yield f"{layer} may not include <{name}>"
    if bracket == '"' and "/" in name and layer != "main":
        other = name.split("/")[0]
        if other in BELOW and other != layer and other not in BELOW[layer]:
            yield f"{layer} may not depend on {other} ({name})"


def breaches_of_line(layer, line):
    include = INCLUDE.match(line)
    if include:
        yield from breaches_of_include(layer, *include.groups())
    elif layer in PURE:
        for word in IMPURE_WORDS.findall(STRING.sub('""', line).split("//")[0]):
            yield f"{layer} may not use {word}"


def breaches_of_file(source, path):
    layer = layer_of(source, path)
    if layer != "main" and layer not in BELOW:
        yield 1, f"{layer} is not a layer that this check knows"
        return
    lines = path.read_text(encoding="utf-8").splitlines()
    if len(lines) > MAX_LINES:
        yield len(lines), f"{len(lines)} lines, {MAX_LINES} are allowed"
    for number, line in enumerate(lines, 1):
        for breach in breaches_of_line(layer, line):
            yield number, breach


def check(repository):
    """Every breach in the sources of `repository`, as `file:line: what`."""
    source = pathlib.Path(repository) / "src"
    files = sorted(path for path in source.rglob("*") if path.suffix in (".h", ".cpp"))
    if not files:
        return [f"{source}: no source was found"]
    return [f"{path}:{number}: {breach}" for path in files for number, breach in breaches_of_file(source, path)]


if __name__ == "__main__":
    found = check(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent.parent)
    print("\n".join(found) or "every layer keeps to its place")
    sys.exit(1 if found else 0)
