"""Many runs of lockstep at once: how they are started together, followed while they run, and ended."""
import contextlib
import json
import os
import subprocess
import tempfile
import time

from firing import Broken, Run
from throwaway_server import CLEAN_ENVIRONMENT


class Racer:
    """One run. What it prints goes to files, so that it can be read while the run goes on, and blocks nobody."""

    def __init__(self, command, environment, gate):
        self.out, self.err = tempfile.TemporaryFile(), tempfile.TemporaryFile()
        self.killed_with = self.killed_at = None
        # The shell's place is taken by lockstep, so that this is its process.
        self.process = subprocess.Popen(['sh', '-c', 'read _; exec "$@" < /dev/null', 'sh', *command], stdin=gate,
                                        stdout=self.out, stderr=self.err,
                                        env={**CLEAN_ENVIRONMENT, **environment})
        self.ended = None

    def kill(self, number):
        if self.process.poll() is None:
            self.killed_with, self.killed_at = number, time.time()
            self.process.send_signal(number)
        return self.killed_with is not None

    def events(self, kind=None):
        """What the log says until now; a line that is still being written is left out."""
        log = self.ended.err if self.ended else text_of(self.err)
        lines = [line for line in log.splitlines(keepends=True) if line.startswith('{')]
        events = [json.loads(line) for line in lines if line.endswith('}\n')]
        return [event for event in events if kind in (None, event['event'])]

    @property
    def run_id(self):
        return next((event['run_id'] for event in self.events()), None)

    @property
    def backend(self):
        return next((event['backend_pid'] for event in self.events('connected')), None)

    def end(self, deadline):
        try:
            self.process.wait(max(0.0, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise Broken(f'a run did not end in time\n{text_of(self.out)}{text_of(self.err)}') from None
        self.ended = Run(self.process.returncode, text_of(self.out), text_of(self.err))
        return self.ended

    @property
    def document(self):
        """Its result, if it came to print one."""
        return self.ended.json if self.ended.out else None

    def close(self):
        self.process.kill()
        self.process.wait()
        self.out.close()
        self.err.close()


def text_of(file):
    # Not through the file's position, which the process that writes shares.
    return os.pread(file.fileno(), os.fstat(file.fileno()).st_size, 0).decode('utf-8', 'surrogateescape')


class Race:
    """Runs that start at the same moment. Everybody is gone after its `with` block."""

    def __init__(self, lab):
        self.lab, self.racers, self.exits = lab, [], contextlib.ExitStack()
        self.started_at = None
        self.gate, self.starter = os.pipe()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.exits.close()
        os.close(self.gate)
        if self.starter is not None:
            os.close(self.starter)

    def add(self, count, url, directory, *options, command='migrate', environment=None):
        """Racers that wait for start(), or begin at once if that has been. Returns them."""
        command = [self.lab.lockstep, command, '-u', url, '-d', str(directory), '--output', 'json', '--log-format', 'json',
                   *options]
        added = [Racer(command, environment or {}, self.gate) for _ in range(count)]
        for racer in added:
            self.exits.callback(racer.close)
        self.racers += added
        return added

    def start(self):
        self.started_at = time.time()
        os.close(self.starter)
        self.starter = None

    def end(self, seconds=240):
        deadline = time.monotonic() + seconds
        return [racer.end(deadline) for racer in self.racers]

    def running(self):
        return [racer for racer in self.racers if racer.process.poll() is None]


def wait_until(what, holds, seconds=60):
    """What `holds` gives as soon as that is true."""
    deadline = time.monotonic() + seconds
    while True:
        found = holds()
        if found:
            return found
        if time.monotonic() > deadline:
            raise Broken(f'waited {seconds} s for {what}')
        time.sleep(0.01)


def race(place, count, *options):
    """That many at once, until all have ended; those of an earlier race there are forgotten."""
    place.racers.clear()
    with Race(place.lab) as racing:
        place.enter(racing, count, *options)
        racing.start()
        racing.end()
        return racing
