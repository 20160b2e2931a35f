"""A connection of a DB-API 2.0 module as the core uses it."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Sequence
from functools import cached_property
from typing import Any

from sysbench_py.drivers.dbapi_dialects import Dialect
from sysbench_py.drivers.dbapi_errors import Facts, facts
from sysbench_py.drivers.dbapi_module import Module
from sysbench_py.drivers.dbapi_paramstyle import Prepared, prepare
from sysbench_py.drivers.dbapi_transactions import control_word, set_up
from sysbench_py.drivers.dbapi_values import text_maker

# Rows (None without a result set), number of columns, rows changed.
Outcome = tuple[Sequence[Sequence[Any]] | None, int, int]
NOTHING: Outcome = (None, 0, 0)
_QUERY = re.compile(r"[\s(]*(SELECT|WITH|FROM|VALUES|TABLE)\b", re.IGNORECASE)


class Session:
    """All statements go through one cursor: duckdb's have a transaction each, and pyodbc's keep what they prepare."""

    def __init__(self, module: Module, connection: Any, dialect: Dialect, ignored: frozenset[str]) -> None:
        self.name = module.name
        self._module = module
        self._connection = connection
        self._dialect = dialect
        self._ignored = ignored
        self._cursor = connection.cursor()
        self._transactions = set_up(connection, self._cursor, dialect)
        self._has_more = hasattr(self._cursor, "nextset")
        self.text_of = text_maker(dialect)

    def execute(self, text: str, arguments: Any = None) -> list[Outcome]:
        """The outcomes of a statement; most have one. Raises what the module raises."""
        word = control_word(text)
        if word is not None:
            self._transactions.control(word, text)
            return [NOTHING]
        cursor = self._cursor
        if arguments is None:
            cursor.execute(text)  # without arguments, so that no % is looked at
        else:
            cursor.execute(text, arguments)
        outcomes = [self._outcome(text)]
        if self._has_more:
            outcomes.extend(self._more_outcomes(text))
        self._transactions.after_statement()
        return outcomes

    def _outcome(self, text: str) -> Outcome:
        cursor = self._cursor
        columns = cursor.description
        if columns is None:
            return None, 0, max(cursor.rowcount, 0)
        rows = cursor.fetchall()
        # DuckDB answers a change by the number of rows, and what has no result by no row.
        answer = (columns[0][0], str(columns[0][1])) if self._dialect.rows_of_changes else None
        if answer in (("Count", "BIGINT"), ("Success", "BOOLEAN")) and not _QUERY.match(text):
            return None, 0, rows[0][0] if rows else 0
        return rows, len(columns), 0

    def _more_outcomes(self, text: str) -> list[Outcome]:
        outcomes = []
        try:
            while self._cursor.nextset():
                outcomes.append(self._outcome(text))
        except getattr(self._module.module, "NotSupportedError", ()):
            self._has_more = False
        return outcomes

    def prepare(self, statement: bytes) -> Prepared:
        """The statement in the module's parameter style."""
        backslash = self._dialect.name == "mysql"
        return prepare(statement, self._module.paramstyle, backslash, lambda: self._doubles_in_quotes)

    @cached_property
    def _doubles_in_quotes(self) -> bool:
        """Whether the module takes %% in a string for one %: most do, pg8000 leaves strings alone."""
        query, _, rest = self._dialect.probe.partition(" ")
        probe = f"{query} '%', ? {rest.partition(' ')[2]}".encode()
        asked = prepare(probe, self._module.paramstyle, False, lambda: True)
        self._cursor.execute(asked.text, asked.arguments((1,)))
        return bool(self._cursor.fetchall()[0][0] == "%")

    def rollback(self) -> None:
        """After an error: leave the transaction, if the script has begun one. Raises if the connection is lost."""
        if not self._transactions.open:
            return
        try:
            self._transactions.control("rollback", "ROLLBACK")
        except Exception:
            # Many servers have ended the transaction themselves, and say now that there is none.
            self._transactions.open = False
            self._probe()

    def _probe(self) -> None:
        self._cursor.execute(self._dialect.probe)
        self._cursor.fetchall()

    def explain(self, error: BaseException) -> tuple[int, str, str, bool, bool]:
        """(number, SQLSTATE, message, whether the connection is lost, whether the event starts again)"""
        about = facts(error)
        lost = self._is_suspicious(error, about) and self._is_lost()
        if not lost:
            with contextlib.suppress(Exception):  # the next statement tells
                self._transactions.after_error()
        restart = lost or "all" in self._ignored or bool(about.names & self._ignored)
        return about.number, about.sqlstate or ("08006" if lost else "HY000"), about.message, lost, restart

    def _is_lost(self) -> bool:
        """An error of a connection may mean much, so the server is asked something."""
        if not self._probe_fails():
            return False
        if not self._transactions.open:
            return True
        # A transaction that has failed answers nothing, and some modules call that an OperationalError too.
        with contextlib.suppress(Exception):  # what the probe says counts
            self._transactions.control("rollback", "ROLLBACK")
        self._transactions.open = False
        return self._probe_fails()

    def _probe_fails(self) -> bool:
        """Whether the smallest query fails as on a lost connection."""
        try:
            self._probe()
        except Exception as error:
            return self._is_suspicious(error, facts(error))
        return False

    def _is_suspicious(self, error: BaseException, about: Facts) -> bool:
        """Whether the connection may be lost. Some modules let errors of the socket through."""
        return about.of_connection or not isinstance(error, self._module.module.Error)

    def close(self) -> None:
        """Raises what the module raises, as it does for a connection that is lost."""
        self._connection.close()
