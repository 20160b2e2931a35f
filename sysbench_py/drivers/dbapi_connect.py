"""The value of --dbapi-connect: the arguments of a module's connect()."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

from sysbench_py.errors import UsageError
from sysbench_py.reading import read_text

FORMS = "use JSON, key=value,key=value, or @FILE"


class Arguments(NamedTuple):
    """Arguments of connect()."""

    positional: tuple[Any, ...]
    named: dict[str, Any]


def parse_connect(text: str) -> Arguments:
    """The arguments that `text` stands for: a JSON object (named ones), array or string (positional ones),
    `key=value` pairs, or `@FILE` with either in it. Raises UsageError for anything else.
    """
    if not text.startswith("@"):
        return _parse(text, "--dbapi-connect")
    path = text[1:]
    try:
        content = read_text(path, "strict")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not UTF-8"
        raise UsageError.fatal(f"Cannot read --dbapi-connect file '{path}': {reason}") from None
    return _parse(content.strip(), f"--dbapi-connect file '{path}'")


def _parse(text: str, place: str) -> Arguments:
    if not text:
        return Arguments((), {})
    if text[0] not in '{["':
        return Arguments((), _pairs(text, place))
    try:
        value = json.loads(text)
    except ValueError as error:
        # Not the value: it may have a password in it.
        raise UsageError.fatal(f"{place}: bad JSON: {error}") from None
    if isinstance(value, dict):
        return Arguments((), value)
    return Arguments(tuple(value) if isinstance(value, list) else (value,), {})


def _pairs(text: str, place: str) -> dict[str, Any]:
    named = {}
    for pair in text.replace("\n", ",").split(","):
        if not pair.strip():
            continue
        key, equals, value = pair.partition("=")
        key = key.strip()
        if not equals or not key.isidentifier():
            raise UsageError.fatal(f"{place}: '{key or pair}' is not the name of an argument and its value ({FORMS})")
        named[key] = _value(value.strip())
    return named


def _value(text: str) -> Any:
    """Numbers, true, false, null and what is quoted, as JSON has them; all else is text."""
    try:
        value = json.loads(text)
    except ValueError:
        return text
    return text if isinstance(value, (dict, list)) else value
