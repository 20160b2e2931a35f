"""A private MariaDB server."""

import os
import signal
import socket
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from typing import Any

import pymysql

from tests.support.proc import find_program, poll
from tests.support.querylog import Entry, from_mariadb
from tests.support.server import DATABASE, PASSWORD, PASSWORD_USER, USER, Server

PACKAGE = "mariadb-server"
ADMINISTRATOR = "root"
INNODB = (
    "--innodb-buffer-pool-size=64M",
    "--innodb-log-file-size=16M",
    "--innodb-doublewrite=0",
    "--innodb-flush-log-at-trx-commit=2",
)


class MariaDB(Server):
    name = "mariadbd"
    stop_signal = signal.SIGTERM

    def __init__(self, *, tls: bool = False) -> None:
        super().__init__(tls=tls)
        self.socket = self.directory / "sock"
        self._logging = False

    @property
    def args(self) -> list[str]:
        return [
            "--db-driver=mysql",
            "--mysql-host=127.0.0.1",
            f"--mysql-port={self.port}",
            f"--mysql-user={USER}",
            f"--mysql-db={DATABASE}",
            *(["--mysql-ssl=on"] if self.certificates else []),
        ]

    def connect(self, database: str = DATABASE) -> Any:
        return pymysql.connect(
            unix_socket=str(self.socket),
            user=ADMINISTRATOR,
            database=database,
            autocommit=True,
            ssl_disabled=True,
            init_command="SET lock_wait_timeout=30",
        )

    def kill_all_client_connections(self, user: str = USER) -> int:
        with closing(self.connect()) as connection, closing(connection.cursor()) as cursor:
            return int(cursor.execute(f"KILL CONNECTION USER '{user}'"))

    def empty_database(self) -> None:
        self.sql(f"CREATE OR REPLACE DATABASE {DATABASE}", "mysql")

    @contextmanager
    def query_log(self) -> Iterator[list[Entry]]:
        entries: list[Entry] = []
        before = self._clients()
        self.sql("TRUNCATE TABLE mysql.general_log")
        self._switch_log(True)
        try:
            yield entries
            # A client may end before the server has read its last words; one still connected costs the wait.
            poll(lambda: self._clients() <= before, 2)
            rows = self.sql(
                "SELECT thread_id, command_type, argument FROM mysql.general_log"
                f" WHERE user_host NOT LIKE '{ADMINISTRATOR}[%' AND user_host NOT LIKE '[{ADMINISTRATOR}]%'"
            )
        finally:
            self._switch_log(False)
        entries.extend(from_mariadb(rows))

    def _switch_log(self, on: bool) -> None:
        self._logging = on
        self.sql(f"SET GLOBAL general_log={int(on)}")

    def _clients(self) -> set[int]:
        rows = self.sql(f"SELECT id FROM information_schema.processlist WHERE user <> '{ADMINISTRATOR}'")
        return {row[0] for row in rows}

    def _create(self) -> None:
        self._run_tool(
            find_program("mariadb-install-db", PACKAGE),
            "--no-defaults",
            *self._account_options(),
            f"--datadir={self.data}",
            "--auth-root-authentication-method=normal",
            "--skip-test-db",
            *INNODB,
        )

    def _command(self) -> Sequence[str]:
        files = self.certificates
        tls = ["--skip-ssl"]
        if files is not None:
            tls = [
                f"--ssl-ca={files / 'cacert.pem'}",
                f"--ssl-cert={files / 'server-cert.pem'}",
                f"--ssl-key={files / 'server-key.pem'}",
            ]
        return [
            find_program("mariadbd", PACKAGE),
            "--no-defaults",
            *self._account_options(),
            f"--datadir={self.data}",
            f"--socket={self.socket}",
            "--bind-address=127.0.0.1",
            f"--port={self.port}",
            "--skip-name-resolve",
            "--skip-log-bin",
            "--max-connections=1200",
            "--log-output=TABLE",
            f"--general-log={int(self._logging)}",
            *INNODB,
            *tls,
        ]

    def _populate(self) -> None:
        native = f"IDENTIFIED VIA mysql_native_password USING PASSWORD('{PASSWORD}')"
        for statement in (
            f"CREATE DATABASE {DATABASE}",
            f"CREATE USER '{USER}'@'%'",
            f"CREATE USER '{PASSWORD_USER}'@'%' {native}",
            f"GRANT ALL ON {DATABASE}.* TO '{USER}'@'%'",
            f"GRANT ALL ON {DATABASE}.* TO '{PASSWORD_USER}'@'%'",
        ):
            self.sql(statement, "mysql")

    def _takes_connections(self) -> bool:
        # A plain socket first: PyMySQL leaves its own open when nobody listens.
        with socket.socket(socket.AF_UNIX) as probe:
            if probe.connect_ex(str(self.socket)) != 0:
                return False
        self.connect("mysql").close()
        return True

    @staticmethod
    def _account_options() -> list[str]:
        # Without this the server refuses to run as root, which owns the directory when root runs the tests.
        return ["--user=root"] if os.geteuid() == 0 else []
