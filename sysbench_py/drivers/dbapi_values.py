"""From the Python values of a row to the text that scripts see, which is the text that a server would send."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any

from sysbench_py.drivers.dbapi_dialects import Dialect


def text_maker(dialect: Dialect) -> Callable[[Any], bytes | None]:
    """A function from a value to its text, None for NULL."""

    def text_of(value: Any) -> bytes | None:
        maker = makers.get(type(value))
        return _other(value) if maker is None else maker(value)

    makers: dict[type, Callable[[Any], bytes | None]] = {
        type(None): lambda _: None,
        str: lambda value: value.encode("utf-8", "surrogateescape"),
        int: lambda value: b"%d" % value,
        bool: lambda value: dialect.true if value else dialect.false,
        float: lambda value: repr(value).encode(),
        bytes: lambda value: value,
        bytearray: bytes,
        memoryview: bytes,
        Decimal: lambda value: format(value, "f").encode(),
        datetime: lambda value: value.isoformat(" ").encode(),
        date: lambda value: value.isoformat().encode(),
        time: lambda value: value.isoformat().encode(),
        timedelta: _interval,
    }
    return text_of


def _interval(value: timedelta) -> bytes:
    """Hours, minutes and seconds, as MySQL's TIME."""
    microseconds = value // timedelta(microseconds=1)
    sign, microseconds = ("-", -microseconds) if microseconds < 0 else ("", microseconds)
    seconds, fraction = divmod(microseconds, 1_000_000)
    text = f"{sign}{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"
    return (f"{text}.{fraction:06}" if fraction else text).encode()


def _other(value: Any) -> bytes:
    # A large object of oracledb is a locator that is read.
    read = getattr(value, "read", None)
    content = read() if callable(read) else value
    return bytes(content) if isinstance(content, (bytes, bytearray, memoryview)) else str(content).encode()
