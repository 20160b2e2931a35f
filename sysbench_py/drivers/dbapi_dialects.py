"""What the DB-API driver knows of each SQL dialect; the DDL of the stock workloads is in lua/oltp_dialects.lua."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Bulk:
    """How the rows of a bulk insert become one statement: `(1, 'a')` is written as `before`, `1, 'a'`, `after`,
    and VALUES is left out; with an empty `before` both stay. `most_rows` is how many a statement takes, 0 for no limit.
    """

    before: str = ""
    after: str = ""
    between: str = ","
    most_rows: int = 0


@dataclass(frozen=True)
class Dialect:
    """A dialect, by the name that `drv:name()` tells.

    `modules` are the modules that speak it. `begin` starts a transaction; without one every transaction is begun by
    the server, and the module's commit() and rollback() end it. `probe` is the smallest query. `ignored` are the
    errors that restart an event if --dbapi-ignore-errors does not say which. `true` and `false` are what a boolean
    is shown as. `autocommits` tells that connections commit every statement unless told otherwise. `rows_of_changes`
    tells that a statement that changes rows returns their number as a row. `in_process` tells that the database lives
    in this process, and closes its files with its last connection.
    """

    name: str
    modules: tuple[str, ...]
    ignored: tuple[str, ...]
    begin: str | None = "BEGIN"
    probe: str = "SELECT 1"
    true: bytes = b"1"
    false: bytes = b"0"
    bulk: Bulk = Bulk()
    autocommits: bool = False
    rows_of_changes: bool = False
    in_process: bool = False


DIALECTS = {
    dialect.name: dialect
    for dialect in (
        Dialect(
            "mysql",
            modules=("pymysql", "MySQLdb", "mysql.connector", "mariadb"),
            ignored=("1213", "1020", "1205"),
        ),
        Dialect(
            "pgsql",
            modules=("psycopg2", "psycopg", "pg8000", "pg8000.dbapi"),
            ignored=("40P01", "23505", "40001"),
            true=b"t",
            false=b"f",
        ),
        # SQLITE_BUSY and SQLITE_LOCKED.
        Dialect("sqlite", modules=("sqlite3", "pysqlite3"), ignored=("5", "6")),
        # ORA-00001 unique constraint, ORA-00060 deadlock, ORA-08177 serialization. A multi-row VALUES is unknown
        # before release 23ai, and INSERT ALL would draw one number of an identity column for all rows.
        Dialect(
            "oracle",
            modules=("oracledb", "cx_Oracle"),
            ignored=("1", "60", "8177"),
            begin=None,
            probe="SELECT 1 FROM DUAL",
            bulk=Bulk("SELECT ", " FROM DUAL", " UNION ALL ", 200),
        ),
        # 1205 deadlock victim, 3960 snapshot conflict, 2627 and 2601 duplicate key. A table value constructor has
        # 1000 rows at most.
        Dialect(
            "mssql",
            modules=("pyodbc", "pymssql", "mssql_python", "pytds"),
            ignored=("1205", "3960", "2627", "2601"),
            begin="BEGIN TRANSACTION",
            bulk=Bulk(most_rows=1000),
        ),
        Dialect(
            "duckdb",
            modules=("duckdb",),
            ignored=("TransactionException", "ConstraintException"),
            true=b"true",
            false=b"false",
            autocommits=True,
            rows_of_changes=True,
            in_process=True,
        ),
    )
}


def dialect_of(module: str) -> Dialect | None:
    """The dialect that the module called `module` speaks, None if nothing is known of it."""
    return next((dialect for dialect in DIALECTS.values() if module in dialect.modules), None)
