#!/usr/bin/env python3
"""What a release promises about its binary, read from the binary itself. Fails with a line for each thing that is missing.

usage: hardening.py BINARY

BINARY must not be stripped: flags of the compiler are only seen in the code that they make, so it takes the names of the
functions to know which of them are ours and which came with a library.
"""

import re
import subprocess
import sys

# Namespaces whose code is compiled with our flags: our own, and those of libraries that are headers.
OURS = re.compile(r"^_Z.*(8lockstep|3fmt|8nlohmann|4toml|3CLI)")
# Compiled by scripts/setup or by the distribution: those that are no templates.
OF_LIBPQXX = re.compile(r"^_ZNK?4pqxx(10connection|6result|16transaction_base)")

FUNCTION = re.compile(r"^[0-9a-f]+ <(.+)>:$")
CALL = re.compile(r"\b(?:call|jmp)\s.*<([^>+@]+)(?:@plt)?>")
PROBE = re.compile(r"\bor[lq]\s+\$0x0,(?:0x[0-9a-f]+)?\(%[re]sp\)")


def output_of(*command):
    return subprocess.run(command, stdout=subprocess.PIPE, check=True, encoding="utf-8", errors="replace",
                          env={"LC_ALL": "C", "PATH": "/usr/local/bin:/usr/bin:/bin"}).stdout


class Headers:
    """What `readelf` says of a binary."""

    def __init__(self, binary):
        text = output_of("readelf", "--wide", "--file-header", "--program-headers", "--dynamic", binary)
        self.type = re.search(r"^\s*Type:\s+(\w+)", text, re.M)[1]
        self.machine = re.search(r"^\s*Machine:\s+(.+)", text, re.M)[1]
        self.dynamic = dict(re.findall(r"^ 0x[0-9a-f]+ \((\w+)\)\s+(.*)$", text, re.M))
        segment = r"^  (\w+)\s+(?:0x[0-9a-f]+ ){3}\s*(?:0x[0-9a-f]+ ){2}\s*([RWE ]{3})"
        self.segments = re.findall(segment, text, re.M)

    def missing(self):
        flags = self.dynamic.get("FLAGS", ""), self.dynamic.get("FLAGS_1", "")
        if self.type != "DYN" or "PIE" not in flags[1]:
            yield "not position independent (-pie)"
        if not any(name == "GNU_RELRO" for name, _ in self.segments):
            yield "no read-only relocations (-z relro)"
        if "BIND_NOW" not in flags[0] and "NOW" not in flags[1].split():
            yield "symbols are bound late (-z now)"
        if not any(name == "GNU_STACK" for name, _ in self.segments):
            yield "the stack may be executable: there is no GNU_STACK"
        for name, access in self.segments:
            if "W" in access and "E" in access:
                yield f"{name} is writable and executable (-z noexecstack)"
        for tag in ("RPATH", "RUNPATH", "TEXTREL"):
            if tag in self.dynamic:
                yield f"{tag} {self.dynamic[tag]}".strip()


class Code:
    """What the functions of a binary do, by their mangled names."""

    def __init__(self, binary):
        self.functions, self.calls, self.probing, self.marked = set(), {}, set(), set()
        name, first = "", False
        for line in output_of("objdump", "--disassemble", "--no-show-raw-insn", binary).splitlines():
            if function := FUNCTION.match(line):
                name, first = function[1], True
                self.functions.add(name)
                continue
            if first and "endbr" in line:
                self.marked.add(name)
            first = False
            if call := CALL.search(line):
                self.calls.setdefault(call[1], set()).add(name)
            elif PROBE.search(line):
                self.probing.add(name)

    def calling(self, called, callers):
        return any(re.search(called, name) and any(map(callers.match, by)) for name, by in self.calls.items())

    def missing(self, machine):
        if "main" not in self.functions:
            yield "stripped: the names of its functions are needed"
            return
        if not self.calling("^__stack_chk_fail$", OURS):
            yield "no stack protector (-fstack-protector-strong)"
        if any(map(OF_LIBPQXX.match, self.functions)) and not self.calling("^__stack_chk_fail$", OF_LIBPQXX):
            yield "no stack protector in libpqxx"
        if not self.calling(r"^__(?!stack)\w+_chk$", OURS):
            yield "no checks of buffer sizes (-D_FORTIFY_SOURCE)"
        if not self.calling("__glibcxx_assert_fail|__replacement_assert", OURS):
            yield "no assertions of the C++ library (-D_GLIBCXX_ASSERTIONS)"
        if "X86-64" in machine:
            if not any(map(OURS.match, self.probing)):
                yield "large stack frames are not probed (-fstack-clash-protection)"
            if "main" not in self.marked:
                yield "jumps have no marked targets (-fcf-protection)"


def check(binary):
    """Everything that `binary` lacks, a sentence each."""
    headers = Headers(binary)
    return [*headers.missing(), *Code(binary).missing(headers.machine)]


def main(binary):
    found = check(binary)
    for sentence in found:
        print(f"{binary}: {sentence}")
    if not found:
        print(f"{binary} is hardened")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
