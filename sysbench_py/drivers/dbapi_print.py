"""A session that sends nothing: --dbapi-only-print=on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sysbench_py.drivers.dbapi_dialects import Dialect
from sysbench_py.drivers.dbapi_session import NOTHING, Outcome
from sysbench_py.drivers.dbapi_transactions import control_word


class PrintSession:
    """Prints each statement with a semicolon behind it. Parameters arrive as literals: the core emulates them."""

    def __init__(self, dialect: Dialect, put: Callable[[bytes], None]) -> None:
        self.name = "dbapi"
        self._dialect = dialect
        self._put = put

    def execute(self, text: str, arguments: Any = None) -> list[Outcome]:
        """One outcome, of nothing."""
        if control_word(text) == "begin":
            if self._dialect.begin is None:
                return [NOTHING]
            text = self._dialect.begin
        self._put(f"{text.strip()};\n".encode("utf-8", "surrogateescape"))
        return [NOTHING]

    def rollback(self) -> None:
        """Nothing is open."""

    def explain(self, error: BaseException) -> tuple[int, str, str, bool, bool]:
        """An error of our own."""
        return 0, "HY000", f"{type(error).__name__}: {error}", False, False

    def close(self) -> None:
        """Nothing to close."""
