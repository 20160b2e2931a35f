"""Option files of MySQL and MariaDB (MySQL manual, 4.2.2.2): their groups for clients and for mysqlslap."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from sysbench_py.errors import UsageError
from sysbench_py.reading import read_text

DEFAULT_FILES = ("/etc/my.cnf", "/etc/mysql/my.cnf", "~/.my.cnf")
CLIENT_GROUPS = ("client", "client-server", "client-mariadb")
GROUPS = ("mysqlslap", "mariadb-slap", *CLIENT_GROUPS)
MOST_NESTED = 10
_QUOTED = re.compile(r"""(['"])(.*?)\1\s*(?:#.*)?$""")
_ESCAPES = {"b": "\b", "t": "\t", "n": "\n", "r": "\r", "s": " ", "\\": "\\"}


@dataclass(frozen=True)
class Line:
    """An option of a file. `shared` ones are in a group that other programs read too."""

    name: str
    value: str | None
    place: str
    shared: bool


@dataclass(frozen=True)
class Files:
    """Which files and groups are to be read, and what is left of the command line."""

    paths: tuple[str, ...]
    required: frozenset[str]
    suffix: str
    print_only: bool
    rest: tuple[str, ...]

    def lines(self) -> list[Line]:
        """All options of the files, in order. Raises UsageError for a file that has to be there and is not."""
        groups = [*GROUPS, *(f"{group}{self.suffix}" for group in GROUPS if self.suffix)]
        found: list[Line] = []
        for path in self.paths:
            place = Path(path).expanduser()
            if path in self.required or place.is_file():
                found += _read(place, groups, 0)
        return found


def files_of(arguments: Sequence[str]) -> Files:
    """What the first options of a command line say of option files."""
    paths = list(DEFAULT_FILES)
    required: set[str] = set()
    suffix, print_only = "", False
    rest = list(arguments)
    while rest:
        name, equals, value = rest[0].partition("=")
        if name in ("--no-defaults", "--print-defaults") and not equals:
            paths = [] if name == "--no-defaults" else paths
            print_only = print_only or name == "--print-defaults"
            del rest[0]
            continue
        if name not in ("--defaults-file", "--defaults-extra-file", "--defaults-group-suffix"):
            break
        if not equals:
            if len(rest) < 2:
                raise UsageError(f"option '{name}' requires an argument")
            value = rest.pop(1)
        del rest[0]
        if name == "--defaults-group-suffix":
            suffix = value
            continue
        required.add(value)
        if name == "--defaults-file":
            paths = [value]
        else:
            # Behind the global ones, before the user's.
            paths.insert(max(len(paths) - 1, 0), value)
    return Files(tuple(paths), frozenset(required), suffix, print_only, tuple(rest))


def _read(path: Path, groups: Sequence[str], depth: int) -> Iterator[Line]:
    if depth > MOST_NESTED:
        raise UsageError(f"option file '{path}': files include each other")
    try:
        lines = read_text(path).splitlines()
    except OSError as error:
        raise UsageError(f"Cannot read the option file '{path}': {error.strerror}") from None
    group = ""
    for number, typed in enumerate(lines, 1):
        line = typed.strip()
        place = f"{path}:{number}"
        if line.startswith("!"):
            for included in _included(line, place):
                yield from _read(included, groups, depth + 1)
        elif line.startswith("["):
            group = line[1:].partition("]")[0].strip()
        elif line and line[0] not in "#;" and group in groups:
            yield _option(line, place, shared=group.startswith("client"))


def _included(line: str, place: str) -> list[Path]:
    word, _, name = line[1:].partition(" ")
    path = Path(name.strip())
    if word == "include":
        return [path]
    if word != "includedir":
        raise UsageError(f"{place}: expected !include or !includedir, found '{line}'")
    return sorted(path.glob("*.cnf"))


def _option(line: str, place: str, *, shared: bool) -> Line:
    name, equals, text = line.partition("=")
    if not equals:
        return Line(name.partition("#")[0].strip(), None, place, shared)
    quoted = _QUOTED.match(text.strip())
    value = quoted[2] if quoted else re.split(r"(?:^|\s)#", text, maxsplit=1)[0].strip()
    value = re.sub(r"\\(.)", lambda match: _ESCAPES.get(match[1], match[0]), value)
    return Line(name.strip(), value, place, shared)
