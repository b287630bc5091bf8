#!/usr/bin/env python3
"""What scripts/sources_for_suite.py makes of the forms that apt's sources have."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).parents[2] / "scripts" / "sources_for_suite.py"


def derive(files):
    with tempfile.TemporaryDirectory() as folder:
        for name, text in files.items():
            path = pathlib.Path(folder) / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        return subprocess.run([sys.executable, SCRIPT, "bookworm", "trixie", folder], capture_output=True, text=True,
                              check=False)


class SourcesForSuite(unittest.TestCase):
    def gives(self, files, *lines):
        done = derive(files)
        self.assertEqual(done.stdout.splitlines(),
                         ["Types: deb deb-src", lines[0], "Suites: trixie", "Components: main", *lines[1:]], done.stderr)

    def test_deb822(self):
        self.gives({"sources.list.d/debian.sources": "Types: deb\n# a note\nURIs: http://mirror.example/debian\n"
                    "Suites: bookworm bookworm-updates\nComponents: main contrib\nSigned-By: /keys/debian.gpg\n"},
                   "URIs: http://mirror.example/debian", "Signed-By: /keys/debian.gpg")

    def test_deb822_field_names_in_any_case_and_values_on_the_next_line(self):
        self.gives({"sources.list.d/a.sources": "types: deb\nuris:\n  http://mirror.example/debian\nsuites:\n bookworm\n"
                    "components:\n main\n"}, "URIs: http://mirror.example/debian")

    def test_a_key_inside_the_source(self):
        key = "Signed-By:\n -----BEGIN PGP PUBLIC KEY BLOCK-----\n .\n mDMEZ\n -----END PGP PUBLIC KEY BLOCK-----"
        self.gives({"sources.list.d/a.sources": f"Types: deb\nURIs: http://m.example\nSuites: bookworm\nComponents: main\n{key}\n"},
                   "URIs: http://m.example", *key.replace("Signed-By:", "Signed-By: ").splitlines())

    def test_one_line(self):
        self.gives({"sources.list": "# deb http://old.example bookworm main\n"
                    "deb http://mirror.example/debian bookworm-updates main\n"
                    "deb http://mirror.example/debian bookworm contrib main # comment\n"},
                   "URIs: http://mirror.example/debian")

    def test_one_line_with_options_keeps_the_key_and_drops_the_trust(self):
        self.gives({"sources.list.d/a.list": "deb [arch=amd64 signed-by=/keys/a.gpg trusted=yes] http://m.example/debian bookworm main\n"},
                   "URIs: http://m.example/debian", "Signed-By: /keys/a.gpg")

    def test_other_suites_disabled_entries_and_other_files_are_passed_over(self):
        self.gives({"sources.list.d/a.list": "deb http://vendor.example stable main\n",
                    "sources.list.d/b.sources": "Enabled: no\nTypes: deb\nURIs: http://off.example\nSuites: bookworm\n"
                                                "Components: main\n",
                    "sources.list.d/c.sources.bak": "Types: deb\nURIs: http://bak.example\nSuites: bookworm\nComponents: main\n",
                    "sources.list.d/d.sources": "Types: deb\nURIs: http://vendor.example\nSuites: ./\n\n\n"
                                                "Types: deb\nURIs: http://main.example\nSuites: bookworm\nComponents: main\n"},
                   "URIs: http://main.example")

    def test_no_such_source_is_an_error(self):
        done = derive({"sources.list": "deb http://m.example bullseye main\n"})
        self.assertEqual(done.returncode, 1)
        self.assertIn("bookworm", done.stderr)


if __name__ == "__main__":
    unittest.main()
