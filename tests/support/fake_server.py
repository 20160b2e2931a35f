"""A scripted server: it logs any client in, then answers requests with the bytes that a test gives."""

from __future__ import annotations

import contextlib
import fcntl
import socket
import struct
import tempfile
import termios
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import TypeVar

Self = TypeVar("Self", bound="FakeServer")


def cuts(reply: bytes) -> Iterator[list[bytes]]:
    """The reply in one piece, cut in two at every byte, and byte by byte."""
    yield [reply]
    for at in range(1, len(reply)):
        yield [reply[:at], reply[at:]]
    yield [reply[i : i + 1] for i in range(len(reply))]


class FakeServer(ABC):
    """Takes connections on a unix socket; `reply` is what it answers the next requests with, piece by piece.

    A piece is sent when the client has taken the one before. After a reply with `hang_up` set it closes.
    `commands` has what clients sent, but for their last words: nobody waits until these are read.
    """

    socket_name = "sock"
    last_words: bytes

    def __init__(self) -> None:
        self._directory = tempfile.TemporaryDirectory(prefix="sb-")
        self.directory = self._directory.name
        self.path = str(Path(self.directory) / self.socket_name)
        self.reply: list[bytes] = []
        self.hang_up = False
        self.commands: list[bytes] = []
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(self.path)
        self._listener.listen(64)
        self._clients: list[socket.socket] = []
        self._threads = [threading.Thread(target=self._accept, daemon=True)]
        self._threads[0].start()

    def secure(self, client: socket.socket) -> socket.socket:
        """Begin TLS, if the server has it; what to talk on from now on, in the place of `client`."""
        return client

    @abstractmethod
    def log_in(self, client: socket.socket) -> None:
        """Let the client in whatever it says."""

    @abstractmethod
    def receive(self, client: socket.socket) -> bytes | None:
        """What the client sends next; None at the end."""

    @abstractmethod
    def is_answered(self, command: bytes) -> bool: ...

    def __enter__(self: Self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._threads[0].join()
        for client in list(self._clients):
            with contextlib.suppress(OSError):  # its thread may be closing it
                client.shutdown(socket.SHUT_RDWR)
        for thread in self._threads[1:]:
            thread.join()
        self._listener.close()
        self._directory.cleanup()

    def leave(self, last_words: bytes) -> None:
        """Tell every client something that it has not asked for, and hang up."""
        for client in self._clients:
            client.sendall(last_words)
            client.shutdown(socket.SHUT_RDWR)

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            self._clients.append(client)
            thread = threading.Thread(target=self._serve, args=(client,), daemon=True)
            self._threads.append(thread)
            thread.start()

    def _serve(self, client: socket.socket) -> None:
        try:
            insecure, client = client, self.secure(client)
            self._clients[self._clients.index(insecure)] = client
            self.log_in(client)
            while (command := self.receive(client)) is not None:
                if command != self.last_words:
                    self.commands.append(command)
                if self.is_answered(command):
                    for piece in self.reply:
                        send_and_wait(client, piece)
                    if self.hang_up:
                        break
        except OSError:
            return  # the client is gone, which many tests want
        finally:
            self._clients.remove(client)
            client.close()


def send_and_wait(client: socket.socket, piece: bytes) -> None:
    """Send, and return when the other side has read all of it."""
    client.sendall(piece)
    while struct.unpack("i", fcntl.ioctl(client, termios.TIOCOUTQ, b"\0\0\0\0"))[0] > 0:
        time.sleep(0)
