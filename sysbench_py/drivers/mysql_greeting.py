"""Whether it is a MySQL server that has taken a connection, by what it says first or does not say.

A MySQL server speaks first, a PostgreSQL server waits for the client: to wait for both leads nowhere.
"""

from __future__ import annotations

import select
import socket
from functools import cache
from threading import Lock

from sysbench_py.drivers.mysql_account import Endpoint

# How long a server may be silent before it is asked, on a connection of its own, whether it is a PostgreSQL server.
PATIENCE_S = 3
ANSWER_TIMEOUT_S = 2

# A greeting is packet 0 (its number stands behind 3 bytes of length), and begins with the version of the protocol, or
# is an error. Source: "Connection Phase Packets" in the MySQL source documentation.
HEADER_SIZE = 4
PACKET_NUMBER = 3
FIRST_BYTES = (10, 0xFF)

# Length and code of a request for TLS, and the one letter that PostgreSQL answers. Source: "SSL Session Encryption" and
# "SSLRequest" in the PostgreSQL manual, chapter "Frontend/Backend Protocol".
SSL_REQUEST = (8).to_bytes(4, "big") + (80877103).to_bytes(4, "big")
SSL_ANSWERS = (b"N", b"S")

_lock = Lock()


class OtherServerError(Exception):
    """It is no MySQL server; the text says what it is instead."""


def check_greeting(stream: socket.socket, endpoint: Endpoint) -> None:
    """Wait for a while for the first word of the server at the other end, and look at it; nothing is taken away.

    Raises OtherServerError, and OSError if the connection is lost.
    """
    poll = select.poll()
    poll.register(stream, select.POLLIN)
    if not poll.poll(PATIENCE_S * 1000):
        if endpoint.unix_socket is None and _is_postgresql(endpoint):
            raise OtherServerError("a PostgreSQL server answers there, which --db-driver=pgsql --pgsql-port=... is for")
        return
    head = stream.recv(64, socket.MSG_PEEK)
    if len(head) > HEADER_SIZE and (head[PACKET_NUMBER] != 0 or head[HEADER_SIZE] not in FIRST_BYTES):
        raise OtherServerError(f"what answers there is no MySQL server: it says {head.decode('latin-1')!a}")


def _is_postgresql(endpoint: Endpoint) -> bool:
    # Once for all threads: what a slow MySQL server cannot read counts against the host.
    with _lock:
        return _answers_as_postgresql(endpoint)


@cache
def _answers_as_postgresql(endpoint: Endpoint) -> bool:
    try:
        with socket.create_connection((endpoint.host, endpoint.port), ANSWER_TIMEOUT_S) as stream:
            stream.sendall(SSL_REQUEST)
            # A greeting of MySQL's could begin with these letters, too, but is longer.
            return stream.recv(2) in SSL_ANSWERS
    except OSError:
        return False
