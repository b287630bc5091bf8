"""A proxy between lockstep and the server that counts messages and strikes at a chosen one.

Messages are counted after authentication, over all connections, each side by itself. A client sees that something is in
between; over TCP lockstep's probe of poolers has its messages in each run, over the unix socket it is told to do without.
"""
import selectors
import socket
import struct
import tempfile
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Callable

from lab import server_socket
from pg_messages import BACKEND_KEY, HEADER, READY, Messages

CLIENT, SERVER = 'client', 'server'
UNIX, TCP = 'unix', 'tcp'
BEFORE, AFTER = 'before', 'after'
OPTIONS = {UNIX: ('--pooler', 'assume-session'), TCP: ()}  # of lockstep


@dataclass(frozen=True)
class Fault:
    """`strike` is called once with the link, in the proxy's thread, before or after the message passes."""
    strike: Callable
    side: str = CLIENT
    message: int = 1  # which one, of those that contain `text`
    moment: str = BEFORE
    text: bytes = b''


class Link:
    """One client and its server connection."""

    def __init__(self, client, server, selector):
        self.sockets = {CLIENT: client, SERVER: server}
        self.messages = {CLIENT: Messages(), SERVER: Messages()}
        self.selector = selector
        self.authenticated = False
        self.passing = True
        self.backend = None  # its pid

    def stall(self):
        """Nothing passes any more, in either direction; the sockets stay open."""
        if self.passing:
            for end in self.sockets.values():
                self.selector.unregister(end)
        self.passing = False

    def close(self):
        self.stall()
        for end in self.sockets.values():
            end.close()

    def reset(self):
        """Both sides see a reset. TCP only."""
        for end in self.sockets.values():
            end.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack('ii', 1, 0))
        self.close()

    @property
    def client_process(self):
        """The pid at the client's end of a unix socket."""
        size = struct.calcsize('3i')
        return struct.unpack('3i', self.sockets[CLIENT].getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, size))[0]

    def watch_authentication(self, data):
        for message in self.messages[SERVER].add(data):
            if message[:1] == BACKEND_KEY:
                self.backend = struct.unpack_from('>I', message, HEADER)[0]
            self.authenticated = self.authenticated or message[:1] == READY


def other(side):
    return SERVER if side == CLIENT else CLIENT


class Proxy:
    """Works in a thread of its own from the beginning of its `with` block to the end."""

    def __init__(self, lab):
        self.lab = lab
        self.dir = tempfile.TemporaryDirectory(prefix='lockstep-proxy-')
        self.selector = selectors.DefaultSelector()
        self.wake, self.woken = socket.socketpair()
        self.listeners = {UNIX: socket.socket(socket.AF_UNIX), TCP: socket.socket(socket.AF_INET)}
        self.thread = threading.Thread(target=self.serve, daemon=True)
        self.lock = threading.Lock()
        self.links = []
        self.broken = None
        self.arm(None)

    def __enter__(self):
        self.listeners[TCP].bind(('127.0.0.1', 0))
        self.port = self.listeners[TCP].getsockname()[1]
        self.listeners[UNIX].bind(str(Path(self.dir.name) / f'.s.PGSQL.{self.port}'))
        for transport, listener in self.listeners.items():
            listener.listen(128)
            self.selector.register(listener, selectors.EVENT_READ, (self.accept, transport))
        self.selector.register(self.woken, selectors.EVENT_READ, None)
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.wake.send(b'x')
        self.thread.join()
        self.hang_up()
        for end in (self.wake, self.woken, *self.listeners.values()):
            end.close()
        self.selector.close()
        self.dir.cleanup()

    def url(self, database, transport=UNIX):
        host = '127.0.0.1' if transport == TCP else self.dir.name
        return f'postgresql:///{database}?host={host}&port={self.port}&user=postgres&sslmode=disable&gssencmode=disable'

    def arm(self, fault):
        """Closes what is open, and counts from one again."""
        self.hang_up()
        with self.lock:
            self.fault = fault
            self.counts = {CLIENT: 0, SERVER: 0}
            self.matches = 0
            self.fired = False

    def call(self, work):
        """Does it to a link while no message passes."""
        with self.lock:
            work()

    def hang_up(self):
        """Closes all connections that are open, also stalled ones."""
        with self.lock:
            for link in self.links:
                link.close()
            self.links = []

    def serve(self):
        while True:
            for key, _ in self.selector.select():
                if key.data is None:
                    return
                work, argument = key.data
                with self.lock:
                    work(argument, key.fileobj)

    def accept(self, transport, listener):
        client, _ = listener.accept()
        target = ('127.0.0.1', self.lab.server.port) if transport == TCP else server_socket(self.lab)
        server = socket.socket(socket.AF_INET if transport == TCP else socket.AF_UNIX)
        try:
            server.connect(target)
        except OSError:  # the server is down: so is the proxy's port
            server.close()
            return client.close()
        link = Link(client, server, self.selector)
        for side, end in link.sockets.items():
            if transport == TCP:
                end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self.selector.register(end, selectors.EVENT_READ, (self.pass_on, (link, side)))
        self.links.append(link)

    def pass_on(self, way, end):
        link, side = way
        if not link.passing:  # since the selector has seen the event
            return
        try:
            data = end.recv(1 << 18)
            self.deliver(link, side, data)
        except OSError:
            data = b''
        if not data:
            link.close()

    def deliver(self, link, side, data):
        target = link.sockets[other(side)]
        if not link.authenticated:
            target.sendall(data)
            if side == SERVER:
                link.watch_authentication(data)
            return
        passing = []
        for message in link.messages[side].add(data):
            self.counts[side] += 1
            moment = self.moment_of_fault(side, message)
            if moment is None:
                passing.append(message)
                continue
            if moment == AFTER:
                passing.append(message)
            target.sendall(b''.join(passing))
            passing = [] if moment == AFTER else [message]
            self.fault.strike(link)
            if not link.passing:
                return
        target.sendall(b''.join(passing))

    def moment_of_fault(self, side, message):
        """The moment of the fault, if this is its message."""
        fault = self.fault
        if fault is None or self.fired or fault.side != side or fault.text not in message:
            return None
        self.matches += 1
        self.fired = self.matches == fault.message
        return fault.moment if self.fired else None
