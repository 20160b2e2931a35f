"""How bytes travel where the core cannot use the socket itself: the compressed protocol, and TLS without OpenSSL.

The core calls a transport with the interpreter lock held, for every command and every piece of a reply.
"""

from __future__ import annotations

import contextlib
import socket
import zlib
from collections.abc import Callable

GOODBYE_TIMEOUT_S = 1.0
SHORTEST_COMPRESSED = 50  # bytes, as other clients do: less does not pay
LONGEST_FRAME = 0xFFFFFF
READ_SIZE = 65536


class StreamTransport:
    """A connected socket, plain or TLS."""

    def __init__(self, stream: socket.socket) -> None:
        self._stream = stream
        self.sendall: Callable[[memoryview | bytes], None] = stream.sendall
        self.recv_into: Callable[[memoryview], int] = stream.recv_into

    def leave(self, farewell: bytes) -> None:
        """Send the last words, if there are any and if they can be sent, and close."""
        with contextlib.suppress(OSError):
            self._stream.settimeout(GOODBYE_TIMEOUT_S)
            if farewell:
                self.sendall(farewell)
        self._stream.close()


class CompressedTransport(StreamTransport):
    """The compressed protocol over a socket, plain or TLS.

    A frame is the length of its body (3 bytes, little endian), a number, the length of the body when
    inflated (3 bytes; 0 if it is not deflated), and the body. Source: "Compression" in the client/server
    protocol of the MySQL source documentation.
    """

    def __init__(self, stream: socket.socket) -> None:
        super().__init__(stream)
        self._send: Callable[[bytes], None] = stream.sendall
        self._number = 0
        self._raw = bytearray()
        self._inflated = memoryview(b"")
        self.sendall = self._deflate
        self.recv_into = self._inflate_into

    def _deflate(self, data: memoryview | bytes) -> None:
        # Numbers start anew with a command, whose first packet is number 0.
        if data[3] == 0:
            self._number = 0
        for at in range(0, len(data), LONGEST_FRAME):
            part = bytes(data[at : at + LONGEST_FRAME])
            body, inflated_length = part, 0
            if len(part) >= SHORTEST_COMPRESSED:
                deflated = zlib.compress(part)
                if len(deflated) < len(part):
                    body, inflated_length = deflated, len(part)
            # Seven bytes: 3, 1 and 3.
            header = len(body) | self._number << 24 | inflated_length << 32
            self._number = (self._number + 1) % 256
            self._send(header.to_bytes(7, "little") + body)

    def _inflate_into(self, buffer: memoryview) -> int:
        """As socket.recv_into: 0 at the end. Raises ValueError for a frame that makes no sense."""
        while not self._inflated:
            frame = self._next_frame()
            if frame is None:
                return 0
            self._inflated = memoryview(frame)
        length = min(len(buffer), len(self._inflated))
        buffer[:length] = self._inflated[:length]
        self._inflated = self._inflated[length:]
        return length

    def _next_frame(self) -> bytes | None:
        """The inflated body of the next frame; None if the stream ends before its end."""
        if not self._fill(7):
            return None
        body_end = 7 + int.from_bytes(self._raw[:3], "little")
        inflated_length = int.from_bytes(self._raw[4:7], "little")
        if not self._fill(body_end):
            return None
        if self._raw[3] != self._number:
            raise ValueError("compressed frame: out of order")
        self._number = (self._number + 1) % 256
        body = bytes(self._raw[7:body_end])
        del self._raw[:body_end]
        if inflated_length == 0:
            return body
        inflater = zlib.decompressobj()
        try:
            inflated = inflater.decompress(body, inflated_length)
        except zlib.error as error:
            raise ValueError(f"compressed frame: {error}") from None
        if len(inflated) != inflated_length or inflater.unconsumed_tail:
            raise ValueError("compressed frame: wrong length")
        return inflated

    def _fill(self, length: int) -> bool:
        """Read until `length` bytes are there; False if the stream ends before."""
        while len(self._raw) < length:
            piece = self._stream.recv(READ_SIZE)
            if not piece:
                return False
            self._raw += piece
        return True
