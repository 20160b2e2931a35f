"""An option is a row: the parser, the help, the config file and scripts all derive from rows."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable
from enum import IntEnum
from typing import NamedTuple, TypeVar

from sysbench_py.errors import UsageError
from sysbench_py.suggest import one_of

Value = bool | int | float | str | tuple[str, ...] | None
T = TypeVar("T", bool, int, float, str, tuple[str, ...])


class Kind(IntEnum):
    """Type of an option; the numbers are those of `sysbench.cmdline.ARG_*`."""

    NULL = 0
    BOOL = 1
    INT = 2
    SIZE = 3
    DOUBLE = 4
    STRING = 5
    LIST = 6
    FILE = 7

    @classmethod
    def _missing_(cls, value: object) -> Kind:
        raise UsageError(f"Unknown argument type: {value}")


_HELP_SUFFIX = {
    Kind.BOOL: "[=on|off]",
    Kind.INT: "=N",
    Kind.SIZE: "=SIZE",
    Kind.DOUBLE: "=N",
    Kind.STRING: "=STRING",
    Kind.LIST: "=[LIST,...]",
    Kind.FILE: "=FILENAME",
}


class Option(NamedTuple):
    """One option, as declared.

    `default` is text, parsed like a typed value, and None where the help shows none.
    `choices` are the lower-case texts that are allowed, in any case; empty allows everything. A BOOL may have words
    besides on and off there, which stay texts.
    `suffix` replaces the value's description in the help, `bare` is what the name without a value means.
    `validate(name with underscores, text)` is None for a typed value that is allowed, and else says what would be
    right, or nothing. `parse(text)` reads values that its kind does not, and raises ValueError that says what would be
    right. A `repeatable` LIST takes each value as an item, commas and all; an empty one clears it. Scripts see options
    that are `exported`.
    """

    name: str
    kind: Kind
    default: str | None
    help: str
    choices: tuple[str, ...] = ()
    suffix: str | None = None
    bare: str | None = None
    validate: Callable[[str, str], str | None] | None = None
    parse: Callable[[str], Value] | None = None
    repeatable: bool = False
    exported: bool = True

    @property
    def key(self) -> str:
        """The name that all spellings of this option share, which is also its name in `sysbench.opt`."""
        return option_key(self.name)

    @property
    def help_entry(self) -> str:
        """`--name` and what its value looks like."""
        return f"--{self.name}{_HELP_SUFFIX[self.kind] if self.suffix is None else self.suffix}"


def option_key(name: str) -> str:
    """`-` and `_` are the same in the name of an option."""
    return name.replace("-", "_")


def format_option_list(rows: Iterable[Option]) -> str:
    """The help of `rows` in their order, descriptions aligned, and an empty line after them."""
    entries = [(f"  {row.help_entry}", row) for row in rows]
    width = max((len(entry) for entry, _ in entries), default=0)
    lines = []
    for entry, row in entries:
        default = "" if row.default is None else f" [{row.default}]"
        lines.append(f"{entry:<{width}} {row.help}{default}\n")
    return "".join(lines) + "\n"


_BOOL = {"on": True, "true": True, "1": True, "off": False, "false": False, "0": False}
_INT = re.compile(r"[ \t\n\v\f\r]*[+-]?[0-9]+")
# People write 64KB and 2GiB too.
_SIZE = re.compile(r"([0-9]+)(?:([kmgt])(?:i?b)?)?", re.IGNORECASE | re.ASCII)
_OTHER_UNIT = re.compile(r"[0-9]+(?:\.[0-9]*)?\s*(?![kmgt](?:i?b)?$)([^\W\d_].*)", re.IGNORECASE | re.ASCII)
_SIZE_FACTOR = {"k": 2**10, "m": 2**20, "g": 2**30, "t": 2**40}
# What a numeric option without a default is.
_ZERO: dict[Kind, Value] = {Kind.INT: 0, Kind.SIZE: 0, Kind.DOUBLE: 0.0}
_PLAIN = re.compile(r"[0-9]+(?:\.[0-9]+)?", re.ASCII)
_EXPECTED = {
    Kind.INT: "use a whole number",
    Kind.SIZE: "use a whole number and perhaps K, M, G or T, as in 64K",
    Kind.DOUBLE: "use a number, without a unit",
}


def parse_int(text: str) -> int:
    """A decimal number of 32 bits with sign. Raises ValueError."""
    if not _INT.fullmatch(text) or not -(2**31) <= int(text) < 2**31:
        raise ValueError(text)
    return int(text)


def parse_size(text: str) -> int:
    """Digits and perhaps one of K, M, G, T (1024-fold each). Raises ValueError, also above 63 bits."""
    match = _SIZE.fullmatch(text)
    size = int(match[1]) * _SIZE_FACTOR.get((match[2] or "").lower(), 1) if match else 2**63
    if size >= 2**63:
        raise ValueError(text)
    return size


def unit_advice(text: str) -> str:
    """What would be right instead of the unit of a size; empty if nothing is wrong with that."""
    match = _OTHER_UNIT.fullmatch(text)
    return f"use K, M, G, T or no unit instead of '{match[1]}', as in 64K" if match else ""


def parse_double(text: str) -> float:
    """A number as C's strtod reads it, blanks around it allowed. Raises ValueError."""
    if _PLAIN.fullmatch(text):
        return float(text)
    # Signs, exponents, hexadecimal, inf and nan: only strtod agrees with strtod.
    import ctypes

    strtod = ctypes.CDLL(None).strtod
    strtod.argtypes = [ctypes.c_char_p, ctypes.POINTER(ctypes.c_char_p)]
    strtod.restype = ctypes.c_double
    raw = os.fsencode(text)
    rest = ctypes.c_char_p(raw)
    value = float(strtod(raw, ctypes.byref(rest)))
    if rest.value == raw or rest.value is None or rest.value.strip():
        raise ValueError(text)
    return value


def parse_list(text: str) -> tuple[str, ...]:
    """The items between commas; empty items are dropped."""
    return tuple(item for item in text.split(",") if item)


def _parse(row: Option, text: str) -> Value:
    """`text` as a value of `row`. Raises ValueError."""
    if row.parse is not None:
        return row.parse(text)
    if row.choices:
        word = text.lower()
        if word not in row.choices:
            raise ValueError(text)
        return _BOOL.get(word, word) if row.kind is Kind.BOOL else word
    match row.kind:
        case Kind.BOOL:
            if text not in _BOOL:
                raise ValueError(text)
            return _BOOL[text]
        case Kind.INT:
            return parse_int(text)
        case Kind.SIZE:
            return parse_size(text)
        case Kind.DOUBLE:
            return parse_double(text)
        case Kind.LIST:
            return parse_list(text)
        case _:
            return text or None


def _invalid(row: Option, text: str, place: str | None, advice: str = "") -> UsageError:
    at = f"{place}: " if place else ""
    if row.choices:
        return UsageError.fatal(
            f"{at}Invalid value for --{row.name}: '{text}'", about=row.key, advice=one_of(text, row.choices)
        )
    message = f"{at}Invalid value for the '{row.key}' option: '{text}'"
    return UsageError(message, about=row.key, advice=advice or _expected(row.kind, text))


def _expected(kind: Kind, text: str) -> str:
    """What would be right in place of `text`; a number of the right form is out of range."""
    if kind is Kind.INT and _INT.fullmatch(text):
        return f"use a whole number from {-(2**31)} to {2**31 - 1}"
    if kind is Kind.SIZE and _SIZE.fullmatch(text):
        return "use less than 8388608T"
    if kind is Kind.SIZE and (advice := unit_advice(text)):
        return advice
    return _EXPECTED.get(kind, "")


class OptionSet:
    """The options that are known, in order of registration, and their present values.

    A bad value (except of a BOOL without other words) is an error when the option is read, not when it is set: a later
    setting of the same option repairs it.
    """

    def __init__(self, rows: Iterable[Option] = ()) -> None:
        self._rows: dict[str, Option] = {}
        self._values: dict[str, Value | UsageError] = {}
        self._typed: set[str] = set()
        self._refusals: dict[str, str] = {}
        self.register(rows)

    def register(self, rows: Iterable[Option]) -> None:
        """Add options with their defaults. One that is there already is replaced, and its value reset.

        Raises UsageError for an option that can have no value and for a BOOL default that is none.
        """
        for row in rows:
            if row.kind is Kind.NULL:
                raise UsageError(f"Unknown argument type: {row.kind:d} (option '{row.name}')")
            self._rows[row.key] = row
            self._typed.discard(row.key)
            # Without a default, a switch is on, as if its name had been typed.
            default = row.default if row.default is not None else "on" if row.kind is Kind.BOOL else ""
            try:
                self._values[row.key] = _parse(row, default) if default or row.kind not in _ZERO else _ZERO[row.kind]
            except ValueError:
                self._values[row.key] = _invalid(row, default, None)
                if row.kind is Kind.BOOL:
                    raise _invalid(row, default, None) from None

    def set(self, name: str, text: str | None, items: tuple[str, ...] | None = None, place: str | None = None) -> bool:
        """Give an option the value `text`, None meaning that only its name was typed.

        A LIST takes `items` instead, if there are any. `place` is where a config file says it, for messages.
        False, and nothing changed, if the option is unknown or does not allow the value.
        """
        row = self._rows.get(option_key(name))
        if row is None:
            return False
        if text is None:
            text = row.bare or ("on" if row.kind is Kind.BOOL else "")
        refusal = row.validate(row.key, text) if row.validate is not None else None
        if refusal is not None:
            self._refusals[row.key] = refusal
            return False
        value: Value | UsageError
        try:
            if row.repeatable:
                value = (*self.get(name, tuple), *(items or (text,))) if text else ()
            else:
                value = items if items is not None and row.kind is Kind.LIST else _parse(row, text)
        except ValueError as error:
            if row.kind is Kind.BOOL and not row.choices:
                self._refusals[row.key] = "use on or off"
                return False
            value = _invalid(row, text, place, str(error) if row.parse else "")
        self._values[row.key] = value
        self._typed.add(row.key)
        return True

    def refusal(self, name: str) -> str:
        """What would be right instead of the value that `set` has refused last; empty if nobody knows."""
        return self._refusals.get(option_key(name), "")

    def typed(self, name: str) -> bool:
        """Whether the user gave the option a value, be it an empty one."""
        return option_key(name) in self._typed

    def __contains__(self, name: str) -> bool:
        return option_key(name) in self._rows

    def row(self, name: str) -> Option:
        """The option called `name`. Raises KeyError."""
        return self._rows[option_key(name)]

    def __getitem__(self, name: str) -> Value:
        """The present value, None for an unset string or file.

        Raises KeyError, and UsageError if the value is bad.
        """
        value = self._values[option_key(name)]
        if isinstance(value, UsageError):
            raise value
        return value

    def get(self, name: str, kind: type[T]) -> T:
        """The present value as a `kind`; an unset string is empty.

        Raises KeyError, UsageError if the value is bad, TypeError if the option is of another kind.
        """
        value = self[name]
        if value is None:
            value = ""
        if type(value) is not kind:
            raise TypeError(f"option {name} is a {type(value).__name__}")
        return value

    def names(self) -> list[str]:
        """The names of all options, as declared."""
        return [row.name for row in self._rows.values()]

    def exported(self) -> dict[str, bool | int | float | str | tuple[str, ...]]:
        """The values that scripts see in `sysbench.opt`: no files, and unset strings are empty.

        Raises UsageError for a bad value.
        """
        return {key: value for key, value in self.values().items() if self._rows[key].exported}

    def values(self) -> dict[str, bool | int | float | str | tuple[str, ...]]:
        """All values but those of files; unset strings are empty. Raises UsageError for a bad value."""
        values = {key: self[key] for key, row in self._rows.items() if row.kind is not Kind.FILE}
        return {key: "" if value is None else value for key, value in values.items()}
