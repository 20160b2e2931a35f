"""Where the tables of a test are: made for a run, and dropped after it. What was there before stays."""

from __future__ import annotations

import re
from typing import Protocol

from sysbench_py import core
from sysbench_py.builtin.slap.dialects import PGSQL, Dialect, Execute
from sysbench_py.errors import UsageError

DEFAULT_NAME = "mysqlslap"
_PLAIN_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
# ER_DB_CREATE_EXISTS of MySQL and MariaDB, duplicate_schema of PostgreSQL.
_EXISTS = (1007, "42P06")


class Schema(Protocol):
    """A place for the tables of a test."""

    def enter(self) -> list[str]:
        """What a new connection sends to be in it."""

    def make(self, execute: Execute) -> None:
        """Make it, and be in it. Raises UsageError if it is there already, and core.SqlError."""

    def drop(self, execute: Execute) -> None:
        """Remove what has been made since. Raises core.SqlError."""


class NamedSchema:
    """A schema of MySQL, MariaDB or PostgreSQL."""

    def __init__(self, name: str, dialect: Dialect) -> None:
        self._name = name
        self._quoted = dialect.quoted(name)
        self._pgsql = dialect is PGSQL

    def enter(self) -> list[str]:
        if self._pgsql:
            return [f"SET search_path TO {self._quoted}"]
        return [f"use {self._name if _PLAIN_NAME.fullmatch(self._name) else self._quoted}"]

    def make(self, execute: Execute) -> None:
        try:
            # Without IF NOT EXISTS: the server itself sees to it that one that is there stays as it is.
            execute(f"CREATE SCHEMA {self._quoted}")
        except core.SqlError as error:
            if error.number in _EXISTS or error.sqlstate in _EXISTS:
                raise UsageError.fatal(
                    f"schema '{self._name}' exists, and slap uses and drops only what it made itself",
                    about="create_schema",
                    advice="drop it, or name another one with --create-schema",
                ) from None
            raise
        for statement in self.enter():
            execute(statement)

    def drop(self, execute: Execute) -> None:
        execute(f"DROP SCHEMA IF EXISTS {self._quoted}{' CASCADE' if self._pgsql else ''}")


class SqliteTables:
    """The database file as it is, and in it the tables and views that were not there before."""

    _LIST = "SELECT type, name FROM sqlite_master WHERE type IN ('table', 'view') AND substr(name, 1, 7) <> 'sqlite_'"

    def __init__(self, dialect: Dialect) -> None:
        self._dialect = dialect
        self._before: set[tuple[bytes | None, ...]] = set()

    def enter(self) -> list[str]:
        return []

    def make(self, execute: Execute) -> None:
        self._before = set(execute(self._LIST))

    def drop(self, execute: Execute) -> None:
        for kind, name in sorted(set(execute(self._LIST)) - self._before, reverse=True):
            execute(f"DROP {(kind or b'').decode()} {self._dialect.quoted((name or b'').decode())}")


def schema_for(driver: str, name: str, dialect: Dialect) -> Schema:
    """The place for a driver's tables. Raises UsageError for a name where there are no schemas."""
    if driver != "sqlite":
        return NamedSchema(name or DEFAULT_NAME, dialect)
    if name:
        raise UsageError.fatal(
            f"--create-schema={name} is not for SQLite", about="create_schema", advice="name a file with --sqlite-db"
        )
    return SqliteTables(dialect)
