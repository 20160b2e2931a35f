"""Where a MySQL server is, and who logs in there."""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

# Where servers have their socket: Debian, its older name, Red Hat, and one built from source.
LOCAL_SOCKETS = (
    "/run/mysqld/mysqld.sock",
    "/var/run/mysqld/mysqld.sock",
    "/var/lib/mysql/mysql.sock",
    "/tmp/mysql.sock",
)


class Endpoint(NamedTuple):
    """A server's address, printed as the messages name it; `socket` is what --mysql-socket says, or empty."""

    host: str
    port: int
    socket: str = ""

    def __str__(self) -> str:
        return f"socket '{self.socket}'" if self.socket else f"host '{self.host}', port {self.port}"

    @property
    def unix_socket(self) -> str | None:
        """The path of the socket to use, None for TCP. To MySQL's clients `localhost` is the local socket."""
        if self.socket or self.host != "localhost":
            return self.socket or None
        named = os.environ.get("MYSQL_UNIX_PORT")
        return named or next((path for path in LOCAL_SOCKETS if Path(path).exists()), LOCAL_SOCKETS[0])

    def failure(self, why: str) -> str:
        """What a connection that cannot be made is told as."""
        if self.unix_socket is None:
            return f"Can't connect to server on '{self.host}' {why}"
        advice = "" if self.socket else "; for TCP use --mysql-host=127.0.0.1"
        return f"Can't connect to local server through socket '{self.unix_socket}' {why}{advice}"


class Account(NamedTuple):
    """Who logs in, and to which database (empty for none)."""

    user: str
    password: str
    database: str
