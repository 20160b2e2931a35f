"""Every statement commits, except between BEGIN and COMMIT or ROLLBACK: two ways to have that of a module."""

from __future__ import annotations

from typing import Any, Protocol

from sysbench_py.drivers.dbapi_dialects import Dialect

_CONTROL = {
    "BEGIN": "begin",
    "BEGIN WORK": "begin",
    "BEGIN TRAN": "begin",
    "BEGIN TRANSACTION": "begin",
    "START TRANSACTION": "begin",
    "COMMIT": "commit",
    "COMMIT WORK": "commit",
    "COMMIT TRANSACTION": "commit",
    "END": "commit",
    "ROLLBACK": "rollback",
    "ROLLBACK WORK": "rollback",
    "ROLLBACK TRANSACTION": "rollback",
}
_LONGEST = 24


def control_word(statement: str) -> str | None:
    """begin, commit or rollback, if that is what the statement does."""
    if len(statement) > _LONGEST:
        return None
    return _CONTROL.get(" ".join(statement.rstrip("; \n").upper().split()))


class Transactions(Protocol):
    """`open` tells whether a transaction has been begun by the script."""

    open: bool

    def control(self, word: str, statement: str) -> None:
        """Begin, commit or roll back."""

    def after_statement(self) -> None:
        """A statement has succeeded, and its rows have been fetched."""

    def after_error(self) -> None:
        """A statement outside of a transaction has failed."""


class ByStatement:
    """The connection commits by itself; BEGIN, COMMIT and ROLLBACK are statements."""

    def __init__(self, cursor: Any, begin: str) -> None:
        self._cursor = cursor
        self._begin = begin
        self.open = False

    def control(self, word: str, statement: str) -> None:
        if word == "begin" and not statement.upper().startswith(self._begin):
            statement = self._begin
        self._cursor.execute(statement)
        self.open = word == "begin"

    def after_statement(self) -> None:
        """Nothing to do."""

    def after_error(self) -> None:
        """Nothing to do."""


class ByCall:
    """Transactions begin by themselves, and are ended by the connection's commit() and rollback().

    `autocommit` tells that the connection has an attribute of that name; else every statement is followed by commit().
    """

    def __init__(self, connection: Any, autocommit: bool) -> None:
        self._connection = connection
        self._autocommit = autocommit
        self.open = False

    def control(self, word: str, statement: str) -> None:
        if word == "begin":
            self.open = True
            self._set(False)
            return
        if word == "commit":
            self._connection.commit()
        else:
            self._connection.rollback()
        self.open = False
        self._set(True)

    def after_statement(self) -> None:
        if not self.open and not self._autocommit:
            self._connection.commit()

    def after_error(self) -> None:
        if not self.open and not self._autocommit:
            self._connection.rollback()

    def _set(self, on: bool) -> None:
        if self._autocommit:
            self._connection.autocommit = on


def set_up(connection: Any, cursor: Any, dialect: Dialect) -> Transactions:
    """Have the connection commit every statement in the way that its module offers."""
    offered = getattr(connection, "autocommit", None)
    if dialect.begin is None:
        if offered is None or callable(offered):
            return ByCall(connection, autocommit=False)
        connection.autocommit = True
        return ByCall(connection, autocommit=True)
    if callable(offered):
        offered(True)
    elif offered is not None:
        connection.autocommit = True
    elif hasattr(connection, "isolation_level"):
        connection.isolation_level = None  # sqlite3 before Python 3.12
    elif not dialect.autocommits:
        return ByCall(connection, autocommit=False)
    return ByStatement(cursor, dialect.begin)
