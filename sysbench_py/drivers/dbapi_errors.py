"""What a module's exception says: number, SQLSTATE, message and the names by which a user may ignore it."""

from __future__ import annotations

import re
from typing import NamedTuple

# pyodbc has the server's number only in the text: "... (1205) (SQLExecDirectW)".
_ODBC_NUMBER = re.compile(r"\((\d+)\) \(SQL\w+\)")
# 08 connection exception, 57P operator intervention (PostgreSQL manual, appendix A).
_CONNECTION_STATES = ("08", "57P")
_SQLSTATE = re.compile(r"[0-9A-Z]{5}")
# What --dbapi-ignore-errors may list besides all: a class, a number, an SQLSTATE or a code such as ORA-00001.
ENTRY = r"[A-Za-z_][\w.]*|[0-9]+|[0-9A-Z]{5}|[A-Z]+-[0-9]+"


class Facts(NamedTuple):
    """An error; `number` is 0 and `sqlstate` empty where the module has none.

    `of_connection` tells that it may mean a lost connection.
    """

    number: int
    sqlstate: str
    message: str
    names: frozenset[str]
    of_connection: bool


def facts(error: BaseException) -> Facts:
    """All that can be learned of an error, wherever its module keeps it."""
    first = error.args[0] if error.args else None
    number = _number(error, first)
    sqlstate = _sqlstate(error, first)
    classes = {each.__name__ for each in type(error).__mro__}
    # oracledb: ORA-00001 beside the number 1, or DPY-4011 without one.
    names = classes | {str(number), sqlstate, str(getattr(first, "full_code", ""))}
    return Facts(
        number,
        sqlstate,
        f"{type(error).__name__}: {_message(error, first)}",
        frozenset(names - {"", "0"}),
        bool(classes & {"OperationalError", "InterfaceError"})
        or sqlstate.startswith(_CONNECTION_STATES)
        or bool(getattr(first, "isrecoverable", False)),
    )


def _number(error: BaseException, first: object) -> int:
    for value in (
        _sqlite_code(error),
        getattr(error, "errno", None),
        first,
        getattr(first, "code", None),
    ):
        if isinstance(value, int) and not isinstance(value, bool) and -(2**31) <= value < 2**31:
            return value
    found = _ODBC_NUMBER.findall(str(error))
    return int(found[-1]) if found else 0


def _sqlite_code(error: BaseException) -> int | None:
    code = getattr(error, "sqlite_errorcode", None)
    return code & 0xFF if isinstance(code, int) else None  # without the part that extends it


def _sqlstate(error: BaseException, first: object) -> str:
    for value in (
        getattr(error, "sqlstate", None),
        getattr(error, "pgcode", None),
        first.get("C") if isinstance(first, dict) else None,  # pg8000: the fields of the server's message
        first,  # pyodbc
    ):
        if isinstance(value, str) and _SQLSTATE.fullmatch(value):
            return value
    return ""


def _message(error: BaseException, first: object) -> str:
    """The first line: what follows in some modules' messages shows the query again."""
    if isinstance(first, dict) and "M" in first:
        text = str(first["M"])
    elif isinstance(first, int) and len(error.args) > 1:
        text = str(error.args[1])
    else:
        text = str(error)
    return next((line.strip() for line in text.splitlines() if line.strip()), "")
