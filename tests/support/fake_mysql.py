"""A scripted MySQL server: it logs any client in, then answers commands with the bytes that a test gives."""

from __future__ import annotations

import socket
import ssl
import struct
from collections.abc import Iterable, Sequence
from pathlib import Path

from tests.support.fake_server import FakeServer

DEPRECATE_EOF = 1 << 24
PLUGIN_AUTH = 1 << 19
TLS = 1 << 11
CAPABILITIES = 0x8001FFFF & ~TLS & ~(1 << 5) | PLUGIN_AUTH  # without TLS and compression
MARIADB_CACHE_METADATA = 1 << 4
ANSWERED = {b"\x03", b"\x16", b"\x17"}  # COM_QUERY, COM_STMT_PREPARE, COM_STMT_EXECUTE
SCRAMBLE = b"12345678901234567890"
FULL = 0xFFFFFF
MORE_RESULTS = 8


# -- packets


def lenenc(value: int) -> bytes:
    if value < 251:
        return bytes([value])
    for prefix, size in ((0xFC, 2), (0xFD, 3), (0xFE, 8)):
        if value < 1 << 8 * size:
            return bytes([prefix]) + value.to_bytes(size, "little")
    raise ValueError(value)


def string(value: bytes | None) -> bytes:
    """A value of a text row."""
    return b"\xfb" if value is None else lenenc(len(value)) + value


def packets(*payloads: bytes, first: int = 1) -> bytes:
    """Payloads with their headers, numbered from `first`; those of 16 MiB and more in several packets."""
    parts = []
    number = first
    for payload in payloads:
        for at in range(0, len(payload) + 1, FULL):
            part = payload[at : at + FULL]
            parts.append(len(part).to_bytes(3, "little") + bytes([number % 256]) + part)
            number += 1
    return b"".join(parts)


def ok(affected: int = 0, status: int = 2, header: int = 0) -> bytes:
    return bytes([header]) + lenenc(affected) + lenenc(0) + struct.pack("<HH", status, 0)


def eof(status: int = 2) -> bytes:
    return b"\xfe" + struct.pack("<HH", 0, status)


def error(number: int, state: str, message: str) -> bytes:
    return b"\xff" + struct.pack("<H", number) + f"#{state}{message}".encode()


def column(kind: int = 253, flags: int = 0, decimals: int = 0, length: int = 255) -> bytes:
    """A column definition."""
    names = b"".join(map(string, (b"def", b"db", b"t", b"t", b"c", b"c")))
    return names + b"\x0c" + struct.pack("<HIBHBH", 45, length, kind, flags, decimals, 0)


def prepared(statement: int, columns: int, parameters: int) -> bytes:
    return b"\x00" + struct.pack("<IHHBH", statement, columns, parameters, 0, 0)


def text_result(
    rows: Iterable[Sequence[bytes | None]], columns: int, *, deprecate_eof: bool, status: int = 2
) -> list[bytes]:
    """Payloads of a result set of the text protocol."""
    return result_set(
        [b"".join(map(string, row)) for row in rows], [column()] * columns, deprecate_eof, status
    )


def result_set(rows: list[bytes], columns: list[bytes], deprecate_eof: bool, status: int = 2) -> list[bytes]:
    """Payloads of a result set whose rows are payloads already."""
    end = ok(status=status, header=0xFE) if deprecate_eof else eof(status)
    return [lenenc(len(columns)), *columns, *([] if deprecate_eof else [eof()]), *rows, end]


def definitions(n: int, deprecate_eof: bool) -> list[bytes]:
    """Payloads that tell parameters or columns in the reply to a prepare."""
    return [*([column()] * n), *([] if deprecate_eof or n == 0 else [eof()])]


def binary_row(values: list[bytes | None]) -> bytes:
    """A row of a prepared statement; values are as on the wire."""
    bits = sum(1 << i + 2 for i, value in enumerate(values) if value is None)
    nulls = bits.to_bytes((len(values) + 9) // 8, "little")
    return b"\x00" + nulls + b"".join(value for value in values if value is not None)


def multi(deprecate_eof: bool) -> list[bytes]:
    """Payloads of five results: a row, OK, no rows, two rows, OK."""
    more = 2 | MORE_RESULTS
    return [
        *text_result([(b"1",)], 1, deprecate_eof=deprecate_eof, status=more),
        ok(5, status=more),
        *text_result([], 2, deprecate_eof=deprecate_eof, status=more),
        *text_result([(b"a", b"b"), (None, b"c")], 2, deprecate_eof=deprecate_eof, status=more),
        ok(0),
    ]


# -- the server


class FakeMySQL(FakeServer):
    last_words = b"\x01"

    def __init__(self, *, deprecate_eof: bool = True, mariadb: bool = False) -> None:
        self.deprecate_eof = deprecate_eof
        self._capabilities = CAPABILITIES | (DEPRECATE_EOF if deprecate_eof else 0)
        self._extended = MARIADB_CACHE_METADATA if mariadb else 0
        if mariadb:
            self._capabilities &= ~1
        self.login = b""
        super().__init__()

    @property
    def args(self) -> list[str]:
        return ["--db-driver=mysql", f"--mysql-socket={self.path}"]

    def receive(self, client: socket.socket) -> bytes | None:
        return receive(client)

    def is_answered(self, command: bytes) -> bool:
        return command[:1] in ANSWERED

    def log_in(self, client: socket.socket) -> None:
        """Greet, and let the client in whatever it answers."""
        client.sendall(packets(self.greeting(), first=0))
        self.login = receive(client) or b""
        client.sendall(packets(ok(), first=2))

    def greeting(self, plugin: bytes = b"mysql_native_password") -> bytes:
        """The first packet's payload; the scramble of the login is SCRAMBLE."""
        low, high = self._capabilities & 0xFFFF, self._capabilities >> 16
        return (
            b"\x0a8.0.0-fake\x00"
            + struct.pack("<I", 1)
            + SCRAMBLE[:8]
            + struct.pack("<xHBHHB6xI", low, 45, 2, high, 21, self._extended)
            + SCRAMBLE[8:]
            + b"\x00"
            + plugin
            + b"\x00"
        )


class FakeTlsMySQL(FakeMySQL):
    """Insists on TLS. `certificates` is a folder of tests.support.tls."""

    def __init__(self, certificates: Path) -> None:
        self._context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self._context.load_cert_chain(certificates / "server-cert.pem", certificates / "server-key.pem")
        super().__init__()
        self._capabilities |= TLS

    @property
    def args(self) -> list[str]:
        return [*super().args, "--mysql-ssl=required"]

    def secure(self, client: socket.socket) -> socket.socket:
        client.sendall(packets(self.greeting(), first=0))
        receive(client)
        return self._context.wrap_socket(client, server_side=True)

    def log_in(self, client: socket.socket) -> None:
        self.login = receive(client) or b""
        client.sendall(packets(ok(), first=3))


def receive(client: socket.socket) -> bytes | None:
    """The payload of what the client sends next, of several packets if it is long; None at the end."""
    payload = bytearray()
    while True:
        header = _receive_bytes(client, 4)
        if len(header) < 4:
            return None
        length = int.from_bytes(header[:3], "little")
        payload += _receive_bytes(client, length)
        if length < FULL:
            return bytes(payload)


def _receive_bytes(client: socket.socket, n: int) -> bytearray:
    """Fewer at the end of the stream."""
    received = bytearray()
    while len(received) < n and (piece := client.recv(n - len(received))):
        received += piece
    return received
