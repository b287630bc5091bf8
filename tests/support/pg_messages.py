"""The messages of the PostgreSQL protocol: a type byte, a length and a body. Not those before authentication ends."""
import struct

HEADER = 5
BACKEND_KEY, READY, TERMINATE = b'K', b'Z', b'X'


class Messages:
    """Cuts one direction of a connection into messages."""

    def __init__(self):
        self.rest = b''

    def add(self, data):
        """The messages that are whole now."""
        self.rest += data
        whole, begin = [], 0
        while len(self.rest) - begin >= HEADER:
            end = begin + 1 + struct.unpack_from('>I', self.rest, begin + 1)[0]
            if len(self.rest) < end:
                break
            whole.append(self.rest[begin:end])
            begin = end
        self.rest = self.rest[begin:]
        return whole
