"""sqlite3 as a module without autocommit, without nextset, and not thread-safe."""

import sqlite3
from typing import Any

apilevel = "2.0"
threadsafety = 0
paramstyle = "qmark"
Error, OperationalError, InterfaceError = sqlite3.Error, sqlite3.OperationalError, sqlite3.InterfaceError


class Connection:
    """Transactions begin with the first change, and end by commit() and rollback() alone."""

    def __init__(self, database: str) -> None:
        self._connection = sqlite3.connect(database, timeout=20)

    def cursor(self) -> Any:
        return self._connection.cursor()

    def commit(self) -> None:
        self._connection.commit()

    def rollback(self) -> None:
        self._connection.rollback()

    def close(self) -> None:
        self._connection.close()


def connect(database: str) -> Connection:
    return Connection(database)
