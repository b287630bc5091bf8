"""A proxy on a unix socket that counts round trips between clients and a server.

A round trip is a change of direction after authentication: the client sends something after it was the server's turn.
A farewell (Terminate) alone is none. The client must not use TLS, which it does not on a unix socket.
"""
import asyncio
import threading
from pathlib import Path

from pg_messages import READY, Messages

TERMINATE = b'X\0\0\0\4'


class CountingProxy:
    """Works in a thread of its own from the beginning of its `with` block to the end."""

    def __init__(self, directory, server_socket):
        self.directory = Path(directory)
        self.server_socket = server_socket
        self.round_trips = 0
        self.serving = set()
        self.loop = asyncio.new_event_loop()
        self.thread = threading.Thread(target=self.loop.run_forever, daemon=True)

    def __enter__(self):
        self.thread.start()
        path = self.directory / '.s.PGSQL.5432'
        self.call(asyncio.start_unix_server(self.serve, path))
        return self

    def __exit__(self, *_):
        self.call(self.finish())
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join()

    def call(self, coroutine):
        return asyncio.run_coroutine_threadsafe(coroutine, self.loop).result()

    async def finish(self):
        """Waits for the ends of the connections."""
        if self.serving:
            await asyncio.wait(self.serving, timeout=10)

    async def serve(self, client_reader, client_writer):
        self.serving.add(asyncio.current_task())
        server_reader, server_writer = await asyncio.open_unix_connection(self.server_socket)
        link = Link()
        await asyncio.gather(self.from_client(link, client_reader, server_writer),
                             self.from_server(link, server_reader, client_writer))

    async def from_client(self, link, reader, writer):
        while data := await read(reader):
            if link.authenticated and link.servers_turn and data != TERMINATE:
                self.round_trips += 1
                link.servers_turn = False
            writer.write(data)
            await drain(writer)
        writer.close()

    async def from_server(self, link, reader, writer):
        while data := await read(reader):
            link.watch_authentication(data)
            link.servers_turn = True
            writer.write(data)
            await drain(writer)
        writer.close()


async def read(reader):
    try:
        return await reader.read(1 << 16)
    except ConnectionError:
        return b''


async def drain(writer):
    try:
        await writer.drain()
    except ConnectionError:
        pass


class Link:
    def __init__(self):
        self.authenticated = False
        self.servers_turn = True
        self.messages = Messages()

    def watch_authentication(self, data):
        """Authentication ends with ReadyForQuery."""
        if not self.authenticated:
            self.authenticated = any(message[:1] == READY for message in self.messages.add(data))
