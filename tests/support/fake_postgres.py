"""A scripted PostgreSQL server: it logs any client in, then answers requests with the bytes that a test gives."""

from __future__ import annotations

import socket
import struct
from collections.abc import Sequence

from tests.support.fake_server import FakeServer

STARTUP_REQUESTS = {80877103, 80877104}  # for TLS, and for GSSAPI: both are refused
PARAMETERS = {
    "server_version": "15.0",
    "client_encoding": "UTF8",
    "DateStyle": "ISO, MDY",
    "integer_datetimes": "on",
    "standard_conforming_strings": "on",
}


# -- messages


def message(kind: str, contents: bytes = b"") -> bytes:
    return kind.encode() + struct.pack(">i", len(contents) + 4) + contents


def string(text: str) -> bytes:
    return text.encode() + b"\0"


def columns(n: int) -> bytes:
    """The description of n columns."""
    fields = b"".join(string(f"c{i}") + struct.pack(">ihihih", 0, 0, 25, -1, -1, 0) for i in range(n))
    return message("T", struct.pack(">h", n) + fields)


def row(*values: bytes | None) -> bytes:
    parts = [struct.pack(">i", -1) if v is None else struct.pack(">i", len(v)) + v for v in values]
    return message("D", struct.pack(">h", len(values)) + b"".join(parts))


def complete(tag: str) -> bytes:
    return message("C", string(tag))


def error(sqlstate: str, text: str, severity: str = "ERROR", **fields: str) -> bytes:
    """`fields` are further ones, by their letters."""
    parts = {"S": severity, "V": severity, "C": sqlstate, "M": text, **fields}
    return message("E", b"".join(letter.encode() + string(value) for letter, value in parts.items()) + b"\0")


def notice(text: str) -> bytes:
    return b"N" + error("00000", text, "NOTICE")[1:]


READY = message("Z", b"I")


def rows_of(rows: Sequence[Sequence[bytes | None]], n: int) -> bytes:
    """The reply to a text query that returns rows of n columns."""
    return columns(n) + b"".join(row(*values) for values in rows) + complete(f"SELECT {len(rows)}")


def prepared(n: int | None, nparams: int = 0) -> bytes:
    """The reply to a prepare and describe; None: the statement returns no rows."""
    parameters = message("t", struct.pack(f">h{nparams}i", nparams, *[20] * nparams))
    return message("1") + parameters + (message("n") if n is None else columns(n)) + READY


# -- the server


class FakePostgreSQL(FakeServer):
    """`commands` has the messages of each request, up to the one that asks for an answer."""

    socket_name = ".s.PGSQL.5432"
    last_words = message("X")

    @property
    def args(self) -> list[str]:
        return ["--db-driver=pgsql", f"--pgsql-host={self.directory}", "--pgsql-port=5432"]

    def log_in(self, client: socket.socket) -> None:
        while True:
            (length,) = struct.unpack(">i", client.recv(4, socket.MSG_WAITALL))
            (code,) = struct.unpack(">i", client.recv(length - 4, socket.MSG_WAITALL)[:4])
            if code not in STARTUP_REQUESTS:
                break
            client.sendall(b"N")
        status = b"".join(message("S", string(name) + string(value)) for name, value in PARAMETERS.items())
        client.sendall(message("R", struct.pack(">i", 0)) + status + message("K", bytes(8)) + READY)

    def receive(self, client: socket.socket) -> bytes | None:
        request = b""
        while True:
            head = client.recv(5, socket.MSG_WAITALL)
            if len(head) < 5:
                return None
            (length,) = struct.unpack(">i", head[1:])
            request += head + (client.recv(length - 4, socket.MSG_WAITALL) if length > 4 else b"")
            if head[:1] in b"QSXf":
                return request

    def is_answered(self, command: bytes) -> bool:
        return command[:1] in b"QPB"
