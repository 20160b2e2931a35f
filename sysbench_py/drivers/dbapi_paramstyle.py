"""From `?` to the five parameter styles of DB-API 2.0 (PEP 249, `paramstyle`)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from sysbench_py import core


class Prepared(NamedTuple):
    """A statement in a module's style; `arguments` makes of its values, in their order, what execute() takes."""

    text: str
    arguments: Callable[[tuple[Any, ...]], Any]


def prepare(statement: bytes, paramstyle: str, backslash: bool, doubles_in_quotes: Callable[[], bool]) -> Prepared:
    """`statement` with its `?` outside of strings and comments as markers of `paramstyle`.

    In the two styles with `%` every other `%` is doubled; `doubles_in_quotes` tells, and is asked only if it matters,
    whether the module wants that in strings too.
    """
    pieces = core.split_statement(statement, backslash)
    count = sum(kind == "?" for kind, _ in pieces)
    markers = (_marker(paramstyle, number) for number in range(1, count + 1))
    percent = count > 0 and paramstyle in ("format", "pyformat")
    parts = []
    for kind, piece in pieces:
        text = piece.decode("utf-8", "surrogateescape")
        if kind == "?":
            text = next(markers)
        elif percent and "%" in text and (kind == "code" or doubles_in_quotes()):
            text = text.replace("%", "%%")
        parts.append(text)
    return Prepared("".join(parts), _arguments(paramstyle, count))


def _marker(paramstyle: str, number: int) -> str:
    return {
        "qmark": "?",
        "numeric": f":{number}",
        "named": f":p{number}",
        "format": "%s",
        "pyformat": f"%(p{number})s",
    }[paramstyle]


def _arguments(paramstyle: str, count: int) -> Callable[[tuple[Any, ...]], Any]:
    if paramstyle not in ("named", "pyformat"):
        return lambda values: values
    names = [f"p{number}" for number in range(1, count + 1)]
    return lambda values: dict(zip(names, values, strict=True))
