"""What the scenarios of the fire share: a case, a broken invariant, the server, one run of lockstep."""
import json
import os
import subprocess
from dataclasses import dataclass
from typing import Callable

from lab import Lab
from throwaway_server import CLEAN_ENVIRONMENT

SETTINGS = ('max_connections=160', 'max_prepared_transactions=4', 'log_connections=on', 'log_line_prefix=%n %p %d ')


class Broken(Exception):
    """An invariant does not hold; the text says which, and shows what was found."""


@dataclass(frozen=True)
class Case:
    """`run` takes the lab and a seeded random.Random, and counts its outcomes in a dict: "faults" is how many it injected,
    the other keys are words for the results' page. Raises Broken."""
    name: str
    run: Callable
    fixed: bool = False
    seconds: int = 120  # the case is broken when it takes longer


@dataclass(frozen=True)
class Run:
    """A run of lockstep that has ended. A negative code is the signal that killed it."""
    code: int
    out: str
    err: str

    @property
    def json(self):
        return json.loads(self.out)

    def __str__(self):
        return f'exit {self.code}\n--- stdout\n{self.out}--- stderr\n{self.err}'


def open_lab(lockstep, server_bin):
    return Lab(lockstep, server_bin, SETTINGS)


def start(lab, *arguments, environment=None, within=(), **keywords):
    """lockstep, running. Its environment is a clean one and what is given; `within` is a command that runs it."""
    return subprocess.Popen([os.fspath(part) for part in (*within, lab.lockstep, *arguments)],
                            env={**CLEAN_ENVIRONMENT, **(environment or {})}, stdin=subprocess.DEVNULL,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding='utf-8', errors='surrogateescape',
                            **keywords)


def finish(process, seconds=60):
    try:
        out, err = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        process.kill()
        out, err = process.communicate()
        raise Broken(f'lockstep did not end within {seconds} s\n{out}{err}') from None
    return Run(process.returncode, out, err)


def lockstep(lab, *arguments, **keywords):
    return finish(start(lab, *arguments, **keywords))


def expect(holds, what, *evidence):
    if not holds:
        raise Broken('\n'.join([what, *map(str, evidence)]))
