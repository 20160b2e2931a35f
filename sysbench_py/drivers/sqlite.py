"""The SQLite driver."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Iterator
from types import ModuleType

from sysbench_py import core
from sysbench_py.drivers.ignored import ignored_errors
from sysbench_py.drivers.seen import note
from sysbench_py.errors import UsageError
from sysbench_py.options import Kind, Option, OptionSet

OPTIONS = (
    Option(
        "sqlite-db",
        Kind.STRING,
        "sbtest.db",
        "SQLite database: a file, or :memory: for one in memory that all threads share",
    ),
    Option(
        "sqlite-dialect",
        Kind.STRING,
        "mysql",
        "SQL dialect that the script is to use {mysql, pgsql, sqlite}",
        choices=("mysql", "pgsql", "sqlite"),
    ),
    Option(
        "sqlite-journal",
        Kind.STRING,
        "wal",
        "SQLite journal mode {delete, truncate, persist, memory, wal, off}",
        choices=("delete", "truncate", "persist", "memory", "wal", "off"),
    ),
    Option(
        "sqlite-sync",
        Kind.STRING,
        "normal",
        "how much of a commit waits for the disk {off, normal, full, extra}",
        choices=("off", "normal", "full", "extra"),
    ),
    Option(
        "sqlite-busy-timeout",
        Kind.INT,
        "5000",
        "milliseconds to wait for a lock that another connection holds",
    ),
    # 5 is SQLITE_BUSY, 6 is SQLITE_LOCKED.
    Option("sqlite-ignore-errors", Kind.LIST, "5,6", 'list of SQLite result codes to ignore, or "all"'),
    Option(
        "sqlite-begin",
        Kind.STRING,
        "auto",
        "kind of transaction that BEGIN starts {auto, deferred, immediate}",
        choices=("auto", "deferred", "immediate"),
    ),
)

# A result code of SQLite, a byte.
_CODE = "[01]?[0-9]?[0-9]|2[0-4][0-9]|25[0-5]"


def setup(options: OptionSet) -> None:
    """Hand the options to the core. Raises UsageError for a value that makes no sense."""
    database = options.get("sqlite-db", str)
    if not database:
        raise UsageError.fatal("Invalid value for --sqlite-db: '' (use the name of a file, or :memory:)")
    if database == ":memory:" and options.get("workers", str) == "process":
        raise UsageError.fatal("--sqlite-db=:memory: cannot be shared by processes: use a file, or --workers=thread")
    busy_timeout_ms = options.get("sqlite-busy-timeout", int)
    if busy_timeout_ms < 0:
        raise UsageError.fatal(
            f"Invalid value for --sqlite-busy-timeout: '{busy_timeout_ms}' (use milliseconds, 0 or more)"
        )
    dialect = options.get("sqlite-dialect", str)
    core.driver_setup(
        "sqlite",
        connect=_connect,
        dialect=dialect,
        emulate=options.get("db-ps-mode", str) == "disable",
        ignore=ignored_errors(options, "sqlite-ignore-errors", _CODE, "use result codes such as 5, or all"),
    )
    core.sqlite_setup(
        os.fsencode(database),
        journal=options.get("sqlite-journal", str),
        synchronous=options.get("sqlite-sync", str),
        busy_timeout_ms=busy_timeout_ms,
        begin=options.get("sqlite-begin", str),
        dialect=dialect,
        translate=lambda statement: _dialects().translate(statement, dialect),
        loosen=lambda statement: _dialects().loosen(statement),
    )


def _dialects() -> ModuleType:
    """Late: only statements on SQLite are translated."""
    from sysbench_py.drivers import sqlite_dialect

    return sqlite_dialect


def _connect(_slot: int) -> None:
    version = _load()
    note("sqlite", f"SQLite {version}", version)


def _load() -> str:
    """The version of the library. Raises ConnectError if there is none."""
    number = core.sqlite_load(*_libraries())
    return f"{number // 1_000_000}.{number // 1_000 % 1_000}.{number % 1_000}"


def _libraries() -> Iterator[str | None]:
    """Where SQLite's functions may be: in Python's own module or what that is linked to, or in the system's
    library. None stands for this program."""
    module = importlib.util.find_spec("_sqlite3")
    if module is not None:
        yield module.origin if module.has_location else None
    yield "libsqlite3.so.0"


def installed() -> str:
    """The version of SQLite. Raises ConnectError if its library is not found or cannot be used by threads."""
    return f"SQLite {_load()}"
