"""A private PostgreSQL server."""

import os
import signal
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg2

from tests.support.proc import find_program, poll, wait_until
from tests.support.querylog import Entry, LogRow, from_postgres, open_connections, read_csvlog
from tests.support.server import DATABASE, PASSWORD, PASSWORD_USER, USER, Server

PACKAGE = "postgresql"
ADMINISTRATOR = "postgres"
ACCESS = f"""\
local all all trust
host all {PASSWORD_USER} 127.0.0.1/32 scram-sha-256
host all all 127.0.0.1/32 trust
"""


class PostgreSQL(Server):
    name = "postgres"
    stop_signal = signal.SIGINT  # "fast": does not wait for clients

    def __init__(self, *, tls: bool = False) -> None:
        find_program("postgres", PACKAGE)  # the package also makes the account
        super().__init__(tls=tls, account="postgres" if os.geteuid() == 0 else None)

    @property
    def args(self) -> list[str]:
        return [
            "--db-driver=pgsql",
            "--pgsql-host=127.0.0.1",
            f"--pgsql-port={self.port}",
            f"--pgsql-user={USER}",
            f"--pgsql-db={DATABASE}",
        ]

    def connect(self, database: str = DATABASE) -> Any:
        connection = psycopg2.connect(
            host=str(self.directory),
            port=self.port,
            user=ADMINISTRATOR,
            dbname=database,
            options="-c lock_timeout=30s",
        )
        connection.autocommit = True
        return connection

    def kill_all_client_connections(self, user: str = USER) -> int:
        return len(
            self.sql(f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = '{user}'")
        )

    def empty_database(self) -> None:
        self.sql("DROP SCHEMA public CASCADE")
        self.sql(f"CREATE SCHEMA public AUTHORIZATION {USER}")

    @contextmanager
    def query_log(self) -> Iterator[list[Entry]]:
        """As in the base class; only connections that are opened inside the block are logged."""
        entries: list[Entry] = []
        start = self._csvlog.stat().st_size
        self.sql(f"ALTER DATABASE {DATABASE} SET log_statement = 'all'")
        self.sql(f"ALTER DATABASE {DATABASE} SET log_min_duration_statement = 0")
        try:
            yield entries
            # The collector writes in order of arrival: with the marker, all that was said before it is there.
            marker = str(uuid.uuid4())
            self.sql(f"SELECT '{marker}'")
            wait_until(
                lambda: any(marker in row.message for row in self._rows(start)), "the log collector", 10
            )
            # A client may end before the server has read its last words; one still connected costs the wait.
            poll(lambda: not open_connections(self._entries(start)), 2)
        finally:
            self.sql(f"ALTER DATABASE {DATABASE} RESET ALL")
        entries.extend(self._entries(start))

    @property
    def _csvlog(self) -> Path:
        return self.directory / "statements.csv"

    def _rows(self, start: int) -> list[LogRow]:
        with self._csvlog.open("rb") as log:
            log.seek(start)
            return read_csvlog(log.read().decode(errors="surrogateescape"))

    def _entries(self, start: int) -> list[Entry]:
        return from_postgres(row for row in self._rows(start) if row.user not in ("", ADMINISTRATOR))

    def _create(self) -> None:
        self._run_tool(
            find_program("initdb", PACKAGE),
            f"--pgdata={self.data}",
            f"--username={ADMINISTRATOR}",
            "--auth=trust",
            "--encoding=UTF8",
            "--locale=C",
            "--no-sync",
            "--no-instructions",
        )
        (self.data / "pg_hba.conf").write_text(ACCESS)

    def _command(self) -> Sequence[str]:
        settings = {
            "listen_addresses": "127.0.0.1",
            "port": self.port,
            "unix_socket_directories": self.directory,
            "max_connections": 1200,
            "shared_buffers": "64MB",
            "fsync": "off",
            "full_page_writes": "off",
            "logging_collector": "on",
            "log_destination": "csvlog",
            "log_directory": self.directory,
            "log_filename": self._csvlog.with_suffix(".log").name,  # for csvlog, .csv takes the place of .log
            "log_rotation_age": 0,
            "log_rotation_size": 0,
            "log_connections": "on",
            "log_disconnections": "on",
        }
        if self.certificates is not None:
            settings |= {
                "ssl": "on",
                "ssl_ca_file": self.certificates / "cacert.pem",
                "ssl_cert_file": self.certificates / "server-cert.pem",
                "ssl_key_file": self.certificates / "server-key.pem",
            }
        options = [f"--{name}={value}" for name, value in settings.items()]
        return [find_program("postgres", PACKAGE), "-D", str(self.data), *options]

    def _populate(self) -> None:
        for statement in (
            f"CREATE ROLE {USER} LOGIN",
            f"CREATE ROLE {PASSWORD_USER} LOGIN PASSWORD '{PASSWORD}' IN ROLE {USER}",
            f"CREATE DATABASE {DATABASE} OWNER {USER}",
        ):
            self.sql(statement, "postgres")

    def _takes_connections(self) -> bool:
        try:
            self.connect("postgres").close()
        except psycopg2.OperationalError:
            return False
        return True
