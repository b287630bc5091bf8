#!/usr/bin/env python3
"""Proves that layering.py can fail: each breach is put into a small tree of its own, and is found there."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

import layering


def check(files):
    """The breaches found in a repository with these files under src/."""
    with tempfile.TemporaryDirectory() as folder:
        for name, text in files.items():
            path = pathlib.Path(folder) / "src" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        return layering.check(folder)


class Layering(unittest.TestCase):
    def refused(self, name, text, *words):
        found = check({"core/fine.h": "#pragma once\n", name: text})
        self.assertEqual(len(found), 1, found)
        for word in (name, *words):
            self.assertIn(word, found[0])

    def allowed(self, name, text):
        self.assertEqual(check({name: text}), [])

    def test_each_arrow_upwards_is_refused(self):
        for layer, above in (("sql", "core"), ("core", "db"), ("core", "files"), ("core", "cli"), ("files", "db"),
                             ("db", "files"), ("db", "cli"), ("cli", "db"), ("cli", "files")):
            with self.subTest(layer=layer, above=above):
                self.refused(f"{layer}/a.cpp", f'#include "{above}/b.h"\n', layer, above)

    def test_each_arrow_downwards_is_allowed(self):
        for layer, below in (("core", "sql"), ("files", "core"), ("db", "core"), ("cli", "core"), ("core", "core")):
            with self.subTest(layer=layer, below=below):
                self.allowed(f"{layer}/a.cpp", f'#include "{below}/b.h"\n')

    def test_the_pure_layers_include_nothing_of_the_world(self):
        for layer in ("core", "sql"):
            for header in ("pqxx/pqxx", "libpq-fe.h", "libpq-events.h", "libpq/libpq-fs.h", "CLI/CLI.hpp", "toml++/toml.hpp",
                           "fstream", "iostream", "filesystem", "cstdlib", "ctime", "sys/socket.h", "unistd.h"):
                with self.subTest(layer=layer, header=header):
                    self.refused(f"{layer}/a.cpp", f"#include <{header}>\n", header)

    def test_a_quoted_include_of_a_library_is_no_way_around(self):
        self.refused("core/a.cpp", '#include "libpq-fe.h"\n', "libpq-fe.h")

    def test_spaces_in_an_include_are_no_way_around(self):
        self.refused("core/a.cpp", "  #  include<fstream>\n", "fstream")

    def test_only_db_includes_the_database_libraries(self):
        for layer in ("files", "cli"):
            with self.subTest(layer=layer):
                self.refused(f"{layer}/a.cpp", "#include <pqxx/connection>\n", "pqxx")
        self.refused("main.cpp", "#include <libpq-fe.h>\n", "libpq-fe.h")
        self.allowed("db/a.cpp", "#include <libpq-fe.h>\n#include <pqxx/connection>\n")

    def test_the_pure_layers_know_durations_but_no_clock_and_no_environment(self):
        self.allowed("core/a.cpp", "#include <chrono>\nstd::chrono::milliseconds wait;  // not a steady_clock\n")
        self.refused("core/a.cpp", "auto now = std::chrono::steady_clock::now();\n", "steady_clock")
        self.refused("sql/a.cpp", 'auto home = getenv("HOME");\n', "getenv")

    def test_a_file_of_400_lines_is_the_longest(self):
        self.allowed("cli/a.cpp", "\n" * 400)
        self.refused("cli/a.cpp", "\n" * 401, "401 lines")

    def test_a_new_layer_must_be_made_known(self):
        self.refused("web/a.cpp", "\n", "web")

    def test_main_may_include_every_layer(self):
        self.allowed("main.cpp", '#include "cli/app.h"\n#include "db/postgres.h"\n#include "files/reader.h"\n')

    def test_an_empty_tree_is_a_failure(self):
        self.assertEqual(len(check({})), 1)

    def test_a_breach_is_the_exit_code(self):
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run([sys.executable, layering.__file__, folder], stdout=subprocess.DEVNULL, check=False)
        self.assertEqual(done.returncode, 1)


if __name__ == "__main__":
    unittest.main()
