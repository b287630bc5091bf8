#!/usr/bin/env python3
"""Writes what a built lockstep consists of, as CycloneDX 1.5: its libraries, their versions, licences and how they are linked.

usage: sbom.py BUILD_DIR PROGRAM VERSIONS OUTPUT

Nothing is taken on trust: the build says which headers it read and which archives it linked, the loader which shared
objects it takes. One that the table of parts does not account for is an error, so that no library comes in unseen. VERSIONS
is what cmake found. The same build gives the same file: there is no time and no random number in it.
"""

import json
import os
import pathlib
import re
import subprocess
import sys
import uuid
from dataclasses import dataclass

REPOSITORY = pathlib.Path(__file__).resolve().parent.parent
LAYERS = "sql|core|files|ephemeral|db|cli|lint"


@dataclass(frozen=True)
class Part:
    """A library as its authors name it."""
    name: str
    licence: str
    headers: str        # where its headers are: packages, or folders below include/; a pattern
    address: str = ""   # its package URL without the version, where it is compiled in
    archive: str = ""   # its static library; a pattern
    package: str = "$"  # that of its shared objects; a pattern
    needs: tuple = ()


PARTS = (
    Part("libpqxx", "BSD-3-Clause", "pqxx|libpqxx-dev", "github/jtv/libpqxx", r"libpqxx(-[\d.]+)?\.a", r"libpqxx-.*", ("libpq",)),
    Part("CLI11", "BSD-3-Clause", "CLI|libcli11-dev", "github/cliutils/cli11"),
    Part("toml++", "MIT", r"toml\+\+|libtomlplusplus-dev", "github/marzer/tomlplusplus"),
    Part("fmt", "MIT", "libfmt-dev", "github/fmtlib/fmt", r"libfmt\.a", r"libfmt\d+"),
    Part("nlohmann-json", "MIT", "nlohmann-json3-dev", "github/nlohmann/json"),
    Part("OpenSSL", "Apache-2.0", "libssl-dev", package=r"libssl3(t64)?"),
    Part("libpq", "PostgreSQL", "libpq-dev", package="libpq5"),
    Part("libstdc++", "GPL-3.0-or-later WITH GCC-exception-3.1", r"lib(stdc\+\+|gcc|clang-common)-\d+-dev", "generic/libstdc%2B%2B",
         package=r"libstdc\+\+6|libgcc-s1"),
    Part("glibc", "LGPL-2.1-or-later", "libc6-dev|linux-libc-dev", package="libc6"),
)


def output_of(*command, may_fail=False):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL if may_fail else None,
                          check=not may_fail, text=True, env={**os.environ, "LC_ALL": "C"})
    return done.stdout


def owners(lines):
    """What dpkg-query --search says: each path to the first package that has it. A diversion tells of no package."""
    found = {}
    for line in lines:
        packages, _, path = line.partition(": ")
        if not packages.startswith("diversion by "):
            found[path] = packages.split(", ")[0]
    return found


class Packages:
    """The Debian package of each of some files; absent where there is none."""

    def __init__(self, files):
        # dpkg knows a file by the path it was installed to, be that /lib or /usr/lib and whatever links lead there.
        spellings = {file: (str(file), str(file.resolve()), str(file.resolve()).removeprefix("/usr")) for file in files}
        names = {}
        if spellings:
            every = {path for paths in spellings.values() for path in paths}
            names = owners(output_of("dpkg-query", "--search", *sorted(every), may_fail=True).splitlines())
        self.of = {file: next((names[path] for path in paths if path in names), None) for file, paths in spellings.items()}

    def name(self, file):
        return (self.of[file] or "").partition(":")[0]


# --- What the build says ---------------------------------------------------------------------------------------------


def headers_read(build):
    """The headers of others that the program's objects, not those of its tests, were compiled from."""
    found, wanted = set(), False
    for line in output_of("ninja", "-C", str(build), "-t", "deps").splitlines():
        if not line.startswith("    "):
            wanted = re.match(rf"CMakeFiles/lockstep(_({LAYERS}))?\.dir/", line) is not None
        elif wanted:
            found.add(pathlib.Path(os.path.normpath(build / line.strip())))
    ours = REPOSITORY / "src", build
    return sorted(path for path in found if not any(path.is_relative_to(folder) for folder in ours))


def archives_linked(build, program):
    """The static libraries of others in the command that links the program."""
    command = output_of("ninja", "-C", str(build), "-t", "commands", program.name).splitlines()[-1]
    return sorted({pathlib.Path(word) for word in command.split() if word.endswith(".a") and os.path.isabs(word)})


def objects_loaded(program):
    """Each shared object that the loader takes for the program: its name to its file."""
    found = {}
    for line in output_of("ldd", str(program)).splitlines():
        if match := re.match(r"\s*(?:\S+ => )?(/\S+) \(0x", line):
            found[pathlib.Path(match[1]).name] = pathlib.Path(match[1])
    return found


def objects_needed(binary):
    return re.findall(r"\(NEEDED\).*\[(.*)\]", output_of("readelf", "--wide", "--dynamic", str(binary)))


# --- Components ------------------------------------------------------------------------------------------------------


def component(name, version, purl, licences, linkage):
    return {"type": "library", "bom-ref": purl, "name": name, "version": version, "licenses": licences, "purl": purl,
            "properties": [{"name": "lockstep:linkage", "value": linkage}]}


def licences_of(part):
    if " " in part.licence:
        return [{"expression": part.licence}]
    return [{"license": {"id": part.licence}}]


def compiled_in(part, version, linkage):
    return component(part.name, version, f"pkg:{part.address}@{version}", licences_of(part), linkage)


def os_release():
    pairs = (line.split("=", 1) for line in pathlib.Path("/etc/os-release").read_text(encoding="utf-8").splitlines() if "=" in line)
    return {key: value.strip('"') for key, value in pairs}


def installed(package):
    """The component of a Debian package with shared objects."""
    form = "\t".join(f"${{{name}}}" for name in ("Package", "Version", "Architecture", "source:Package"))
    name, version, architecture, source = output_of("dpkg-query", "--show", "--showformat", form, package).split("\t")
    system = os_release()
    escaped = name.replace("+", "%2B"), version.replace("+", "%2B").replace(":", "%3A"), source.replace("+", "%2B")
    purl = (f"pkg:deb/{system['ID']}/{escaped[0]}@{escaped[1]}?arch={architecture}"
            f"&distro={system['ID']}-{system['VERSION_ID']}&upstream={escaped[2]}")
    part = next((part for part in PARTS if re.fullmatch(part.package, name)), None)
    licences = licences_of(part) if part else [{"license": {"name": f"see /usr/share/doc/{name}/copyright"}}]
    return component(name, version, purl, licences, "dynamic")


def part_of(what, pattern_of, name, where):
    for part in PARTS:
        if re.fullmatch(pattern_of(part), name):
            return part
    return sys.exit(f"sbom.py: no part accounts for the {what} {where} ({name or 'in no package'}): add one to PARTS")


def folder_below_include(header):
    below = str(header).partition("/include/")[2]
    return below.split("/")[0]


def parts_compiled_in(build, program):
    """Each part whose headers or archive the program was made from, to whether it has an archive."""
    headers = headers_read(build)
    packages = Packages(headers)
    parts = {}
    for header in headers:
        name = packages.name(header) or folder_below_include(header)
        parts.setdefault(part_of("header", lambda part: part.headers, name, header), "header-only")
    for archive in archives_linked(build, program):
        parts[part_of("archive", lambda part: part.archive or "$", archive.name, archive)] = "static"
    return parts


def bill(build, program, versions):
    loaded = objects_loaded(program)
    packages = Packages(list(loaded.values()))
    if strays := [str(file) for file, package in packages.of.items() if not package]:
        sys.exit(f"sbom.py: no package has the shared object {strays[0]}")
    shared = {package: installed(package) for package in set(packages.of.values())}

    def refs_of(binary):
        return {shared[packages.of[loaded[name]]]["bom-ref"] for name in objects_needed(binary) if name in loaded}

    own = {}
    for part, linkage in parts_compiled_in(build, program).items():
        if not any(re.fullmatch(part.package, found["name"]) for found in shared.values()):
            own[part.name] = compiled_in(part, versions[part.name], "static" if part.name == "libstdc++" else linkage)

    root = f"pkg:generic/lockstep@{versions['lockstep']}"
    depends = {root: {entry["bom-ref"] for entry in own.values()} | refs_of(program)}
    for part in PARTS:
        if part.name in own:
            needed = [other for other in PARTS if other.name in part.needs]
            depends[own[part.name]["bom-ref"]] = {entry["bom-ref"] for entry in shared.values()
                                                  for other in needed if re.fullmatch(other.package, entry["name"])}
    for file, package in packages.of.items():
        ref = shared[package]["bom-ref"]
        depends.setdefault(ref, set()).update(refs_of(file) - {ref})
    return document(root, versions["lockstep"], [*own.values(), *shared.values()], depends)


def document(root, version, components, depends):
    body = {
        "metadata": {"component": {"type": "application", "bom-ref": root, "name": "lockstep", "version": version, "purl": root}},
        "components": sorted(components, key=lambda entry: entry["bom-ref"]),
        "dependencies": [{"ref": ref, "dependsOn": sorted(needs)} for ref, needs in sorted(depends.items())],
    }
    number = uuid.uuid5(uuid.NAMESPACE_URL, json.dumps(body, sort_keys=True))
    return {"$schema": "http://cyclonedx.org/schema/bom-1.5.schema.json", "bomFormat": "CycloneDX", "specVersion": "1.5",
            "serialNumber": f"urn:uuid:{number}", "version": 1, **body}


def main(build, program, versions, output):
    known = json.loads(pathlib.Path(versions).read_text(encoding="utf-8"))
    made = bill(pathlib.Path(build).absolute(), pathlib.Path(program).absolute(), known)
    pathlib.Path(output).write_text(json.dumps(made, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
