"""Imitated poolers: proxies that understand just enough of the protocol to tell a client something else than the server
said. What really shares backends behind them is a PgBouncer."""
import contextlib
import re
import secrets
import socket
import struct
import threading

NO_ENCRYPTION_ASKED = (80877103, 80877104)  # SSLRequest, GSSENCRequest
IDENTIFY = b'select pg_catalog.pg_backend_pid()\0'


def message(kind, body):
    return kind + struct.pack('!I', len(body) + 4) + body


def exactly(stream, size):
    data = stream.read(size)
    if len(data) < size:
        raise EOFError
    return data


def read_message(stream):
    kind = exactly(stream, 1)
    return kind, exactly(stream, struct.unpack('!I', exactly(stream, 4))[0] - 4)


def read_startup(stream, client):
    """The first packet that is more than the question for encryption, which is answered with no."""
    while True:
        size = exactly(stream, 4)
        body = exactly(stream, struct.unpack('!I', size)[0] - 4)
        if struct.unpack('!I', body[:4])[0] not in NO_ENCRYPTION_ASKED:
            return size + body
        client.sendall(b'N')


class Imitation:
    """Passes everything on, to a host and port or to a unix socket. `on_socket` is the path to listen at; without it,
    loopback."""

    def __init__(self, target, on_socket=None):
        self.target = target
        self.listener = socket.socket(socket.AF_UNIX if on_socket else socket.AF_INET)
        self.listener.bind(str(on_socket) if on_socket else ('127.0.0.1', 0))
        self.listener.listen(64)
        self.port = None if on_socket else self.listener.getsockname()[1]
        self.lock = threading.Lock()
        self.open = []

    def __enter__(self):
        threading.Thread(target=self.accept, daemon=True).start()
        return self

    def __exit__(self, *_):
        with self.lock:
            for end in (self.listener, *self.open):
                with contextlib.suppress(OSError):
                    end.shutdown(socket.SHUT_RDWR)
                end.close()

    def accept(self):
        with contextlib.suppress(OSError):
            while True:
                client = self.listener.accept()[0]
                threading.Thread(target=self.serve, args=(client,), daemon=True).start()

    def connect(self):
        server = socket.socket(socket.AF_INET if isinstance(self.target, tuple) else socket.AF_UNIX)
        server.connect(self.target)
        return server

    def serve(self, client):
        with contextlib.suppress(OSError, EOFError, ValueError), client, self.connect() as server:
            with self.lock:
                self.open += [client, server]
            from_client, from_server = client.makefile('rb'), server.makefile('rb')
            server.sendall(read_startup(from_client, client))
            self.log_in(client, server, from_client, from_server)
            back = threading.Thread(target=self.answers, args=(client, from_server), daemon=True)
            back.start()
            self.questions(client, server, from_client)

    def log_in(self, client, server, from_client, from_server):
        """Up to the first ReadyForQuery."""
        ends = False
        while not ends:
            kind, body = read_message(from_server)
            ends = kind == b'Z'
            self.greeted(client, server, from_server, kind, body)
            asks = kind == b'R' and struct.unpack('!I', body[:4])[0] not in (0, 12)
            if asks:
                server.sendall(message(*read_message(from_client)))

    def greeted(self, client, server, from_server, kind, body):
        client.sendall(message(kind, body))

    def answers(self, client, from_server):
        with contextlib.suppress(OSError, EOFError, ValueError):
            while True:
                kind, body = read_message(from_server)
                self.answered(client, kind, body)
        with contextlib.suppress(OSError):
            client.shutdown(socket.SHUT_RDWR)

    def answered(self, client, kind, body):
        client.sendall(message(kind, body))

    def questions(self, client, server, from_client):
        while True:
            kind, body = read_message(from_client)
            self.asked(client, server, kind, body)

    def asked(self, client, server, kind, body):
        server.sendall(message(kind, body))


class RandomKey(Imitation):
    """Its own key for every client, as Neon's proxy gives it."""

    def greeted(self, client, server, from_server, kind, body):
        super().greeted(client, server, from_server, kind, secrets.token_bytes(8) if kind == b'K' else body)


class NoKey(Imitation):
    """No BackendKeyData, as RDS Proxy is said to do."""

    def greeted(self, client, server, from_server, kind, body):
        if kind != b'K':
            super().greeted(client, server, from_server, kind, body)


class BackendsKey(Imitation):
    """The pid of the very backend that is likely to answer next. Counters (Supavisor, PgDog) meet it by chance."""

    def greeted(self, client, server, from_server, kind, body):
        if kind == b'Z':
            server.sendall(message(b'Q', IDENTIFY))
            client.sendall(message(b'K', struct.pack('!i', self.pid(from_server)) + b'key!'))
        if kind != b'K':
            super().greeted(client, server, from_server, kind, body)

    @staticmethod
    def pid(from_server):
        found = None
        while True:
            kind, body = read_message(from_server)
            if kind == b'D':
                found = int(body[6:])
            if kind == b'Z':
                return found


class EmulatedListen(Imitation):
    """LISTEN and NOTIFY are its own business, as with PgDog: the server does not see them."""
    COMMAND = re.compile(rb'\s*(listen|notify|unlisten)\s+(\w+)\s*(?:;\s*(.*))?\0', re.IGNORECASE | re.DOTALL)
    forwards = False

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.listeners = {}

    def asked(self, client, server, kind, body):
        command = self.COMMAND.fullmatch(body) if kind == b'Q' else None
        if not command:
            return super().asked(client, server, kind, body)
        verb, channel, rest = command[1].lower(), command[2], command[3]
        if verb == b'listen':
            self.listeners.setdefault(channel, set()).add(client)
        if self.forwards:
            super().asked(client, server, kind, body)
        else:
            client.sendall(message(b'C', verb.upper() + b'\0'))
            if rest:
                super().asked(client, server, kind, rest + b'\0')
            else:
                client.sendall(message(b'Z', b'I'))
        if verb == b'notify':
            self.notify(channel)

    def notify(self, channel):
        for listener in self.listeners.get(channel, ()):
            with contextlib.suppress(OSError):
                listener.sendall(message(b'A', struct.pack('!i', 1) + channel + b'\0\0'))


class Starved(Imitation):
    """Never passes on what the second connection of a probe says, as if that one waited for a backend."""

    def asked(self, client, server, kind, body):
        if not body.startswith(b'notify lockstep_probe'):
            super().asked(client, server, kind, body)


class RepeatedListen(EmulatedListen):
    """The server sees them too."""
    forwards = True
