#!/usr/bin/env python3
"""Proves that hardening.py can fail: a small program is built without one protection at a time, and is found out."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

import hardening

PROGRAM = """
#include <array>
#include <cstring>

namespace lockstep {
[[gnu::noinline]] int copied(const char* text, unsigned long size) {
  char buffer[16];
  std::memcpy(buffer, text, size);
  return buffer[3];
}
[[gnu::noinline]] int far_down(int (*use)(char*)) {
  char frame[65536];
  return use(frame);
}
[[gnu::noinline]] int picked(const std::array<int, 4>& all, unsigned long index) { return all[index]; }
}

int main(int count, char** arguments) {
  const auto first = [](char* text) { return int{*text = 'a'}; };
  return lockstep::copied(*arguments, 8) + lockstep::far_down(first) + lockstep::picked({}, count);
}
"""
PQXX = """
namespace pqxx { struct connection { int read(int (*use)(char*)); }; }
int pqxx::connection::read(int (*use)(char*)) { char text[64]; return use(text); }
"""
HARDENED = ["-O2", "-fPIE", "-pie", "-U_FORTIFY_SOURCE", "-D_FORTIFY_SOURCE=3", "-D_GLIBCXX_ASSERTIONS",
            "-fstack-protector-strong", "-fstack-clash-protection", "-Wl,-z,relro,-z,now,-z,noexecstack"]


class Hardening(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.path = pathlib.Path(cls.folder.name)
        (cls.path / "program.cpp").write_text(PROGRAM, encoding="utf-8")
        (cls.path / "pqxx.cpp").write_text(PQXX, encoding="utf-8")
        machine = subprocess.run(["g++", "-dumpmachine"], capture_output=True, text=True, check=True).stdout
        cls.flags = [*HARDENED, *(["-fcf-protection"] if machine.startswith("x86_64") else [])]

    def build(self, *more):
        binary = self.path / "program"
        subprocess.run(["g++", *self.flags, self.path / "program.cpp", *more, "-o", binary], check=True)
        return binary

    def found(self, *more):
        return hardening.check(self.build(*more))

    def refused(self, sentence, *more):
        found = self.found(*more)
        self.assertEqual(len(found), 1, found)
        self.assertIn(sentence, found[0])

    def test_a_program_with_all_protections_passes(self):
        self.assertEqual(self.found(), [])

    def test_the_headers_tell_what_the_linker_left_out(self):
        for sentence, *flags in (("not position independent", "-fno-pie", "-no-pie"),
                                 ("no read-only relocations", "-Wl,-z,norelro"),
                                 ("bound late", "-Wl,-z,lazy"),
                                 ("GNU_STACK is writable and executable", "-Wl,-z,execstack"),
                                 ("RUNPATH Library runpath: [/opt/lib]", "-Wl,-rpath,/opt/lib,--enable-new-dtags")):
            with self.subTest(flags=flags):
                self.refused(sentence, *flags)
        self.assertIn("RPATH Library rpath: [/opt/lib]", self.found("-Wl,-rpath,/opt/lib,--disable-new-dtags"))

    def test_the_code_tells_what_the_compiler_left_out(self):
        for sentence, flag in (("no stack protector", "-fno-stack-protector"),
                               ("no checks of buffer sizes", "-U_FORTIFY_SOURCE"),
                               ("no assertions of the C++ library", "-U_GLIBCXX_ASSERTIONS")):
            with self.subTest(flag=flag):
                self.refused(sentence, flag)

    def test_the_code_of_this_processor_tells_it_too(self):
        if "-fcf-protection" not in self.flags:
            return
        self.refused("not probed", "-fno-stack-clash-protection")
        self.refused("no marked targets", "-fcf-protection=none")

    def test_a_library_without_protection_is_named(self):
        pqxx = self.path / "pqxx.o"
        for flag, expected in (("-fstack-protector-strong", []), ("-fno-stack-protector", ["no stack protector in libpqxx"])):
            with self.subTest(flag=flag):
                subprocess.run(["g++", *self.flags, flag, "-c", self.path / "pqxx.cpp", "-o", pqxx], check=True)
                self.assertEqual(self.found(pqxx), expected)

    def test_a_stripped_program_is_no_proof(self):
        self.refused("stripped", "-s")

    def test_what_is_missing_is_the_exit_code(self):
        for flags, code in (((), 0), (("-Wl,-z,lazy",), 1)):
            done = subprocess.run([sys.executable, hardening.__file__, self.build(*flags)], stdout=subprocess.DEVNULL, check=False)
            self.assertEqual(done.returncode, code)


if __name__ == "__main__":
    unittest.main()
