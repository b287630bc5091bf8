#!/usr/bin/env python3
"""The bill of materials of a build (scripts/sbom.py) is well formed, complete, and the same each time.

usage: sbom_test.py BUILD_DIR
"""

import copy
import json
import pathlib
import re
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "scripts"))
import sbom

BUILD = pathlib.Path(sys.argv.pop(1)).resolve()
PROGRAM, VERSIONS = BUILD / "lockstep", BUILD / "generated" / "versions.json"

# What lockstep is known to be made of, as names that the component may have, and its licence.
EXPECTED = {
    "libpqxx|libpqxx-[0-9.t64]+": "BSD-3-Clause", "CLI11": "BSD-3-Clause", r"toml\+\+": "MIT", r"fmt|libfmt\d+": "MIT",
    "nlohmann-json": "MIT", "libssl3|libssl3t64": "Apache-2.0", "libpq5": "PostgreSQL", "libc6": "LGPL-2.1-or-later",
    r"libstdc\+\+6?": "GPL-3.0-or-later WITH GCC-exception-3.1",
}
PURL = re.compile(r"pkg:[a-z]+(/[\w.%+-]+)+@[\w.%~:+-]+(\?[a-z]+=[\w.%+-]+(&[a-z]+=[\w.%+-]+)*)?")


def licence(entry):
    one = entry["licenses"][0]
    return one.get("expression") or one["license"].get("id") or one["license"].get("name")


def unreachable(document):
    needs = {entry["ref"]: entry["dependsOn"] for entry in document["dependencies"]}
    reached, ahead = set(), [document["metadata"]["component"]["bom-ref"]]
    while ahead:
        ref = ahead.pop()
        if ref not in reached:
            reached.add(ref)
            ahead += needs.get(ref, ())
    return {entry["bom-ref"] for entry in document["components"]} - reached


def problems(document):
    """What is wrong with the form of a bill, by the rules of CycloneDX 1.5 that matter to its readers."""
    if (document.get("bomFormat"), document.get("specVersion"), document.get("version")) != ("CycloneDX", "1.5", 1):
        yield "not version 1 of a bill in CycloneDX 1.5"
    if not re.fullmatch(r"urn:uuid:[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", document.get("serialNumber", "")):
        yield "the serial number is no UUID"
    every = [document["metadata"]["component"], *document["components"]]
    for entry in every:
        for key in ("type", "name", "version", "bom-ref", "purl"):
            if not entry.get(key):
                yield f"{entry.get('name')} has no {key}"
        if not PURL.fullmatch(entry.get("purl", "")):
            yield f"{entry['name']}: {entry.get('purl')} is no package URL"
    for entry in document["components"]:
        if not entry.get("licenses") or not licence(entry):
            yield f"{entry['name']} has no licence"
    refs = [entry["bom-ref"] for entry in every]
    if len(set(refs)) != len(refs):
        yield "a bom-ref stands for two things"
    named = {ref for entry in document["dependencies"] for ref in (entry["ref"], *entry["dependsOn"])}
    if named - set(refs):
        yield f"{sorted(named - set(refs))} is needed and no component"
    if unreachable(document):
        yield f"nothing needs {sorted(unreachable(document))}"


# Of Debian 13, where one package has moved what another still names.
SEARCHED = """libc6:amd64: /usr/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2
diversion by libc6 from: /lib64/ld-linux-x86-64.so.2
diversion by libc6 to: /lib64/ld-linux-x86-64.so.2.usr-is-merged
libc6:amd64, libc6:i386: /usr/share/doc/libc6
"""


class Owners(unittest.TestCase):
    def test_a_diversion_is_no_package(self):
        self.assertEqual(sbom.owners(SEARCHED.splitlines()),
                         {"/usr/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2": "libc6:amd64", "/usr/share/doc/libc6": "libc6:amd64"})


class Bill(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.document = sbom.bill(BUILD, PROGRAM, json.loads(VERSIONS.read_text(encoding="utf-8")))

    def changed(self, change):
        document = copy.deepcopy(self.document)
        change(document)
        return list(problems(document))

    def test_is_well_formed(self):
        self.assertEqual(list(problems(self.document)), [])

    def test_names_every_library_with_version_and_licence(self):
        for name, expected in EXPECTED.items():
            found = [entry for entry in self.document["components"] if re.fullmatch(name, entry["name"])]
            with self.subTest(name=name):
                self.assertEqual([licence(entry) for entry in found], [expected])
                self.assertRegex(found[0]["version"], r"^(\d+:)?\d+\.")

    def test_says_how_each_is_linked(self):
        linkage = {entry["name"]: entry["properties"][0]["value"] for entry in self.document["components"]}
        self.assertEqual((linkage["CLI11"], linkage["libpq5"], linkage["libc6"]), ("header-only", "dynamic", "dynamic"))
        self.assertEqual(set(linkage.values()) - {"static"}, {"header-only", "dynamic"})

    def test_is_the_same_each_time(self):
        with tempfile.TemporaryDirectory() as folder:
            files = [pathlib.Path(folder) / name for name in ("a", "b")]
            for file in files:
                sbom.main(BUILD, PROGRAM, VERSIONS, file)
            self.assertEqual(files[0].read_bytes(), files[1].read_bytes())

    def test_a_library_that_the_table_does_not_know_is_an_error(self):
        known = sbom.PARTS
        self.addCleanup(setattr, sbom, "PARTS", known)
        sbom.PARTS = tuple(part for part in known if part.name != "CLI11")
        with self.assertRaisesRegex(SystemExit, "no part accounts for the header .*/CLI/"):
            sbom.bill(BUILD, PROGRAM, json.loads(VERSIONS.read_text(encoding="utf-8")))

    def test_a_flaw_is_found(self):
        for words, change in (
                ("has no version", lambda bill: bill["components"][0].pop("version")),
                ("has no licence", lambda bill: bill["components"][0].pop("licenses")),
                ("is no package URL", lambda bill: bill["components"][0].update(purl="libpq 15")),
                ("stands for two things", lambda bill: bill["components"].append(bill["components"][0])),
                ("is needed and no component", lambda bill: bill["dependencies"][0]["dependsOn"].append("pkg:generic/x@1")),
                ("nothing needs", lambda bill: bill["dependencies"].clear()),
                ("no UUID", lambda bill: bill.update(serialNumber="7"))):
            with self.subTest(words=words):
                found = self.changed(change)
                self.assertTrue(any(words in problem for problem in found), found)


if __name__ == "__main__":
    unittest.main()
