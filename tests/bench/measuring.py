"""How a program is measured, and two programs against each other, on a machine that has other work to do."""
import os
import statistics
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

from throwaway_server import CLEAN_ENVIRONMENT, Stop


@dataclass
class Measured:
    seconds: float
    memory: int = 0  # bytes, at the highest; 0 if it was not watched


def start(command, nowhere):
    return subprocess.Popen([str(word) for word in command], env=CLEAN_ENVIRONMENT, stdin=subprocess.DEVNULL,
                            stdout=nowhere, stderr=nowhere, close_fds=False)


def run(command):
    """Runs a command to its end; its output goes nowhere. A failure stops the measuring."""
    with open(os.devnull, 'wb') as nowhere:
        begin = time.perf_counter()
        code = start(command, nowhere).wait()
        seconds = time.perf_counter() - begin
    refuse_failure(command, code)
    return Measured(seconds)


def run_watched(command):
    """The same, with the highest memory. The usage that the kernel gives for an ended child does not do: a child begins
    as a copy of this program, which is the larger one. So its own mark is read until it ends."""
    with open(os.devnull, 'wb') as nowhere:
        begin = time.perf_counter()
        process = start(command, nowhere)
        memory = 0
        while process.poll() is None:
            memory = max(memory, high_water_mark(process.pid))
            time.sleep(0.02)
        seconds = time.perf_counter() - begin
    refuse_failure(command, process.returncode)
    return Measured(seconds, memory)


def high_water_mark(pid):
    for line in Path(f'/proc/{pid}/status').read_text().splitlines():
        if line.startswith('VmHWM:'):
            return int(line.split()[1]) * 1024
    return 0  # it has ended


def refuse_failure(command, code):
    if code == 0:
        return
    again = subprocess.run([str(word) for word in command], env=CLEAN_ENVIRONMENT, capture_output=True, text=True,
                           check=False)
    raise Stop(f'{Path(command[0]).name} failed ({code}); again: {again.returncode} {again.stderr}')


class Pairs:
    """Two programs measured in turns, so that both see the same machine."""

    def __init__(self, ours, theirs, count):
        """`ours` and `theirs` do the work once and return what was measured. The one that goes first changes."""
        self.ours, self.theirs = [], []
        for number in range(count):
            turns = [(ours, self.ours), (theirs, self.theirs)]
            for work, results in turns if number % 2 == 0 else reversed(turns):
                results.append(work())

    def ratio(self):
        """The median of the pairs' ratios."""
        return statistics.median(ours.seconds / theirs.seconds for ours, theirs in zip(self.ours, self.theirs))

    def difference(self):
        """The median of the pairs' differences, in seconds."""
        return statistics.median(ours.seconds - theirs.seconds for ours, theirs in zip(self.ours, self.theirs))

    def least_ratio(self):
        """The fastest run against the fastest: what is left when the other work is away."""
        return least(self.ours) / least(self.theirs)

    def least_difference(self):
        return least(self.ours) - least(self.theirs)

    def times(self):
        """Medians and least times of both, in words."""
        return (f'{in_words(median(self.ours))} against {in_words(median(self.theirs))}; least '
                f'{in_words(least(self.ours))} against {in_words(least(self.theirs))}; {len(self.ours)} pairs')


def median(results):
    return statistics.median(result.seconds for result in results)


def least(results):
    return min(result.seconds for result in results)


def in_words(seconds):
    if abs(seconds) >= 1:
        return f'{seconds:.2f} s'
    return f'{seconds * 1000:.1f} ms'


@dataclass
class Row:
    """A line of the table."""
    what: str
    measured: str
    budget: str
    verdict: str
    remark: str = ''


def verdict(figure, budget, least_figure=None):
    """Whether a figure is within its budget. With other work on the machine the median may miss what the fastest
    runs keep: that is no proof of either."""
    if figure <= budget:
        return 'kept'
    if least_figure is not None and least_figure <= budget:
        return 'unclear'
    return 'MISSED'
