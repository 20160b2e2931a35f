"""The SQLite driver."""

from __future__ import annotations

from sysbench_py.options import Kind, Option

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
