"""The values of a swept option: `1,2,8`, `1..16`, `10..100+10`, `1..64*2`, `1,2,4..64`."""

from __future__ import annotations

import re
from decimal import Decimal

from sysbench_py.errors import UsageError

MOST_VALUES = 1000

_NUMBER = r"-?[0-9]+(?:\.[0-9]+)?[KMGT]?"
_ONE = re.compile(_NUMBER, re.IGNORECASE)
_RANGE = re.compile(rf"({_NUMBER})\.\.({_NUMBER})(?:([+*])([0-9]+(?:\.[0-9]+)?))?", re.IGNORECASE)
_UNITS = {"K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}


def looks_swept(text: str) -> bool:
    """Whether it is a list or a range of numbers, right or wrong."""
    items = text.split(",")
    return ".." in text or (len(items) > 1 and all(map(_ONE.fullmatch, items)))


def values_of(option: str, text: str) -> tuple[str, ...]:
    """All values, in the order in which they are written, each once. A list may also be one of words.

    Raises UsageError for a range that cannot be understood or has no values.
    """
    values: list[str] = []
    for item in text.split(","):
        match = _RANGE.fullmatch(item)
        if match:
            values += _range(option, match, values)
        elif not item or ".." in item:
            raise _bad(option, text, "write for example 1,2,4 or 1..16 or 10..100+10 or 1..64*2")
        else:
            values.append(item)
        if len(values) > MOST_VALUES:
            raise _bad(option, text, f"more than {MOST_VALUES} values")
    return tuple(dict.fromkeys(values))


def number(text: str) -> float | None:
    """What a value is on an axis; None for a word."""
    return float(_decimal(text)) if _ONE.fullmatch(text) else None


def _decimal(text: str) -> Decimal:
    unit = _UNITS.get(text[-1].upper())
    return Decimal(text[:-1]) * unit if unit else Decimal(text)


def _range(option: str, match: re.Match[str], before: list[str]) -> list[str]:
    low, high = _decimal(match[1]), _decimal(match[2])
    sign, step = (match[3], Decimal(match[4])) if match[3] else _step(option, match[0], low, before)
    if low > high:
        raise _bad(option, match[0], "the range is empty: its end is below its start")
    if (sign == "+" and step <= 0) or (sign == "*" and (step <= 1 or low <= 0)):
        raise _bad(option, match[0], "the range never comes to its end")
    values: list[str] = []
    while low <= high and len(values) <= MOST_VALUES:
        # In plain digits: sysbench knows no 1E+2.
        values.append(f"{low.normalize():f}")
        low = low + step if sign == "+" else low * step
    return values


def _step(option: str, text: str, low: Decimal, before: list[str]) -> tuple[str, Decimal]:
    """A range without a step goes on as the values before it do; without any, by one."""
    if not before:
        return "+", Decimal(1)
    earlier = [_decimal(each) for each in before[-2:] if _ONE.fullmatch(each)]
    if len(earlier) == 2:
        first, second = earlier
        if low - second == second - first:
            return "+", low - second
        if first > 0 and low * first == second * second:
            return "*", low / second
    raise _bad(option, text, f"no step can be seen in what stands before it: write {text}+STEP or {text}*FACTOR")


def _bad(option: str, text: str, advice: str) -> UsageError:
    return UsageError(f"Invalid value for --{option}: '{text}'", about=option, advice=advice)
