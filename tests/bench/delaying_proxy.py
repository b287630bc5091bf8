"""A proxy on a unix socket that holds back what clients and a server send to each other, as a network of some length does.

Each direction delays each piece of data by the same time and lets any number of them be under way at once. Threads, since
an event loop wakes to the next whole millisecond, which is the delay itself.
"""
import queue
import socket
import threading
import time
from pathlib import Path


class DelayingProxy:
    """Works from the beginning of its `with` block to the end, in threads of its own. `one_way` is in seconds."""

    def __init__(self, directory, server_socket, one_way):
        self.directory = Path(directory)
        self.server_socket = server_socket
        self.one_way = one_way
        self.listener = socket.socket(socket.AF_UNIX)

    def __enter__(self):
        self.listener.bind(str(self.directory / '.s.PGSQL.5432'))
        self.listener.listen()
        in_background(self.accept)
        return self

    def __exit__(self, *_):
        self.listener.close()

    def accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return  # closed
            server = socket.socket(socket.AF_UNIX)
            server.connect(self.server_socket)
            for source, target in ((client, server), (server, client)):
                under_way = queue.SimpleQueue()
                in_background(self.receive, source, under_way)
                in_background(self.deliver, under_way, target)

    def receive(self, source, under_way):
        data = b'begin'
        while data:
            try:
                data = source.recv(1 << 18)
            except ConnectionError:
                data = b''
            under_way.put((time.perf_counter() + self.one_way, data))

    @staticmethod
    def deliver(under_way, target):
        try:
            while True:
                due, data = under_way.get()
                time.sleep(max(0, due - time.perf_counter()))
                if not data:
                    return target.shutdown(socket.SHUT_WR)
                target.sendall(data)
        except OSError:
            return None  # that side has gone


def in_background(work, *arguments):
    threading.Thread(target=work, args=arguments, daemon=True).start()
