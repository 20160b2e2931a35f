"""What a server tells of its limits and tables, asked on a connection of its own by the script's own driver."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from sysbench_py import core
from sysbench_py.script import State

# Nothing of what is asked is printed, errors of the server neither.
SILENT = -1
# How often, and how far apart, the connections of others are counted until the number stays: those of workers
# that have just ended take the server a moment.
COUNTS = 10
COUNT_PAUSE_S = 0.1

Rows = Sequence[Sequence[str]]
Ask = Callable[[str], Rows]


class Limit(NamedTuple):
    """How many the server allows, and how many of them others use or are reserved."""

    name: str
    allowed: int
    used: int
    reserved: int = 0

    @property
    def room(self) -> int:
        """How many are left."""
        return max(self.allowed - self.used - self.reserved, 0)

    def __str__(self) -> str:
        reserved = f", {self.reserved} reserved" if self.reserved else ""
        return f"{self.name} is {self.allowed}, {self.used} in use{reserved}"


class Limits(NamedTuple):
    """What a server limits. `prepares_begin` is false if it does not prepare BEGIN, which then is sent as a text."""

    connections: tuple[Limit, ...]
    statements: Limit | None = None
    prepares_begin: bool = True


class Session:
    """A connection, while the context lasts; `connected` says whether it could be made.

    With `say_why` a failure is printed as a worker's would be. `verbosity` is that of everything else.
    """

    def __init__(self, state: State, verbosity: int, *, say_why: bool) -> None:
        self._state = state
        self._verbosity = verbosity
        self._say_why = say_why

    def __enter__(self) -> Session:
        core.log_setup(self._verbosity if self._say_why else SILENT)
        self._query = self._state.call("asker")
        core.log_setup(SILENT)
        self.connected = self._query is not None
        return self

    def __exit__(self, *_: object) -> None:
        if self.connected:
            self._query(None)
        core.log_setup(self._verbosity)

    def ask(self, sql: str) -> Rows:
        """The rows of a query as texts, NULL as an empty one; none if it fails."""
        rows = self._query(sql.encode())
        if rows is None:
            return ()
        return [[cell.decode(errors="replace") for cell in _items(row)] for row in _items(rows)]


def _items(table: Any) -> list[Any]:
    """What stands in a Lua table from 1 on."""
    return [table[number] for number in range(1, len(table) + 1)]


def limits(driver: str, ask: Ask) -> Limits | None:
    """Those of a MySQL or PostgreSQL server; None if it does not tell them."""
    read = {"mysql": _mysql_limits, "pgsql": _pgsql_limits}[driver]
    found = read(ask)
    for _ in range(COUNTS):
        before = found
        time.sleep(COUNT_PAUSE_S)
        found = read(ask)
        if found == before:
            break
    return found


def _mysql_limits(ask: Ask) -> Limits | None:
    variables = "'max_connections', 'max_user_connections', 'max_prepared_stmt_count', 'version'"
    rows = [
        *ask(f"SHOW VARIABLES WHERE Variable_name IN ({variables})"),
        *ask("SHOW GLOBAL STATUS WHERE Variable_name IN ('Threads_connected', 'Prepared_stmt_count')"),
    ]
    found = {row[0]: row[1] for row in rows}
    own = ask("SELECT COUNT(*) FROM information_schema.processlist WHERE user = SUBSTRING_INDEX(USER(), '@', 1)")
    if not {"max_connections", "Threads_connected"} <= found.keys() or not own:
        return None
    connections = [Limit("max_connections", int(found["max_connections"]), int(found["Threads_connected"]) - 1)]
    # 0 is no limit.
    if of_user := int(found.get("max_user_connections", 0)):
        connections.append(Limit("max_user_connections", of_user, int(own[0][0]) - 1))
    prepared = [int(found[name]) for name in ("max_prepared_stmt_count", "Prepared_stmt_count") if name in found]
    return Limits(
        connections=tuple(connections),
        statements=Limit("max_prepared_stmt_count", *prepared) if len(prepared) == 2 else None,
        # "SQL Syntax Permitted in Prepared Statements", MySQL manual; since 10.6 MariaDB prepares everything.
        prepares_begin="MariaDB" in found.get("version", ""),
    )


def _pgsql_limits(ask: Ask) -> Limits | None:
    # reserved_connections is there since version 16. -1 is no limit.
    rows = ask("""
        SELECT current_setting('max_connections'), sum(numbackends),
          current_setting('superuser_reserved_connections')::int
            + coalesce(current_setting('reserved_connections', true), '0')::int,
          (SELECT datconnlimit FROM pg_database WHERE datname = current_database()),
          sum(CASE WHEN datname = current_database() THEN numbackends END),
          (SELECT rolconnlimit FROM pg_roles WHERE rolname = current_user),
          (SELECT count(*) FROM pg_stat_activity WHERE usename = current_user),
          CASE current_setting('is_superuser') WHEN 'on' THEN 1 ELSE 0 END
        FROM pg_stat_database""")
    if not rows or not all(rows[0]):
        return None
    allowed, used, reserved, of_database, used_of_it, of_role, used_of_role, superuser = map(int, rows[0])
    if superuser:
        return Limits((Limit("max_connections", allowed, used - 1),))
    connections = [Limit("max_connections", allowed, used - 1, reserved)]
    if of_database >= 0:
        connections.append(Limit("the database's connection limit", of_database, used_of_it - 1))
    if of_role >= 0:
        connections.append(Limit("the role's connection limit", of_role, used_of_role - 1))
    return Limits(tuple(connections))


_TABLES = {
    "mysql": "SELECT table_name FROM information_schema.tables "
    "WHERE table_schema = DATABASE() AND table_name LIKE 'sbtest%'",
    "pgsql": "SELECT relname FROM pg_class WHERE relname LIKE 'sbtest%' AND pg_table_is_visible(oid)",
    "sqlite": "SELECT name FROM sqlite_master WHERE name LIKE 'sbtest%'",
}
DRIVERS = tuple(_TABLES)


def tables(driver: str, ask: Ask) -> set[str]:
    """The names that begin with sbtest of the tables that a script sees."""
    return {row[0] for row in ask(_TABLES[driver])}


def largest_id(ask: Ask, table: str) -> int | None:
    """Found in the index, so that it costs little; 0 for an empty table, None if it cannot be had."""
    rows = ask(f"SELECT MAX(id) FROM {table}")
    return int(rows[0][0] or 0) if rows else None
