"""The file of `--config-file`.

One `name = value` a line, without leading dashes. The value is one or more items, separated by blanks
or commas; an item may stand in single or double quotes. `#` at the start of a line or of an item begins
a comment. Lines without `=` are errors, except empty ones and section headings like `[mysql]`.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from sysbench_py.errors import UsageError

_BLANK = " \t\r\n\v\f"
_ITEM = re.compile(
    r"""
    (?P<quote>['"]) (?P<quoted>(?:(?!(?P=quote)).)*) (?P=quote) (?=[\s,\#]|$)
    | (?P<bare>[^\s,'"\#][^\s,]*)
    """,
    re.VERBOSE | re.ASCII,
)


class Setting(NamedTuple):
    """An option as given on the command line or in a config file.

    `text` is None if only a name was given. `items` are the values that the file separates, `typed` is
    how the user spelled the setting, and `place` is `file:line`, all for messages and LIST options.
    """

    name: str
    text: str | None
    typed: str
    items: tuple[str, ...] | None = None
    place: str | None = None


def read_config_file(path: str) -> list[Setting]:
    """The settings of the file, in order. Raises UsageError if it cannot be read or a line is wrong."""
    from sysbench_py.reading import read_text

    try:
        lines = read_text(path).split("\n")
    except OSError as error:
        raise UsageError(f"Cannot read the config file '{path}': {error.strerror}") from None
    settings = []
    for number, line in enumerate(lines, 1):
        name, equals, value = (part.strip(_BLANK) for part in line.partition("="))
        if name.startswith("#") or (not equals and (not name or name.startswith("["))):
            continue
        place = f"{path}:{number}"
        if not equals or not name:
            raise UsageError(f"{place}: expected 'name = value', found '{line.strip(_BLANK)}'")
        items = _split(value, place, number)
        text = items[0] if items else ""
        settings.append(Setting(name, text, f"{name}={text}", tuple(filter(None, items)), place))
    return settings


def _split(value: str, place: str, number: int) -> list[str]:
    """The items of a value. Raises UsageError for quotes that do not match."""
    items: list[str] = []
    position = 0
    while position < len(value):
        if value[position] in f",{_BLANK}":
            position += 1
            continue
        if value[position] == "#":
            break
        match = _ITEM.match(value, position)
        if not match:
            if value.find(value[position], position + 1) < 0:
                raise UsageError(f"{place}: unexpected EOL on line {number}")
            raise UsageError(f"{place}: expected a blank or a comma after the closing quote")
        items.append(match["bare"] or match["quoted"] or "")
        position = match.end()
    return items
