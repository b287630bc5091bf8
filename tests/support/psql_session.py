"""One psql that stays, for thousands of small questions: a program in Python asks it without starting a process."""
import subprocess
import time

from throwaway_server import CLEAN_ENVIRONMENT, Stop

FIELD, ROW, END = '\x1f', '\x1e', '\x1dend'


class PsqlSession:
    """Begins in the server's own database. Ends with its `with` block."""

    def __init__(self, server):
        self.server = server
        self.process = None
        self.database = None

    def __enter__(self):
        self.open()
        return self

    def open(self):
        self.database = self.server.database
        self.process = subprocess.Popen(
            [self.server.bin / 'psql', '-XAtq', '-F', FIELD, '-R', ROW, '-d', self.server.conninfo],
            env={**CLEAN_ENVIRONMENT, 'PGOPTIONS': '-c client_min_messages=error'}, stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding='utf-8')

    def __exit__(self, *_):
        self.close()

    def close(self):
        """Whatever became of the server."""
        self.process.kill()
        self.process.communicate()

    def reopen(self):
        """After its server was killed. Waits until that takes connections again."""
        self.close()
        deadline = time.monotonic() + 60
        while True:
            try:
                self.open()
                return self.send('select 1')
            except (Stop, BrokenPipeError):
                if time.monotonic() > deadline:
                    raise Stop('the server did not come back') from None
                self.close()
                time.sleep(0.02)

    def send(self, text):
        """What psql prints in answer to SQL and commands of its own."""
        self.process.stdin.write(f'{text}\n;\n\\echo {END} :ERROR\n')
        self.process.stdin.flush()
        lines = []
        for line in self.process.stdout:
            if line.startswith(END):
                if 'true' in line:
                    break
                return ''.join(lines)
            lines.append(line)
        raise Stop(f'psql: {"".join(lines)}\n{text}')

    def use(self, database):
        if database != self.database:
            self.send(f'\\connect {database}')
        self.database = database

    def query(self, sql):
        """Rows of texts, of one SELECT."""
        text = self.send(sql).removesuffix('\n')
        return [row.split(FIELD) for row in text.split(ROW)] if text else []
