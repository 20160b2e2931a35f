"""What two servers log about their clients, in one form that can be compared between runs.

Entries stand connection by connection: how those of two connections interleave is up to chance, even with one
thread, as a client does not wait for the server to notice that it has hung up.
"""

import csv
import io
import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

# A bulk insert is one field of the log and may have 512 KiB.
csv.field_size_limit(1 << 26)


class Entry(NamedTuple):
    """One thing a client did. Connections are numbered from 1 in order of appearance.

    `command` is Connect, Query, Prepare, Execute, Close stmt or Quit (MariaDB logs a few rare ones more).
    """

    connection: int
    command: str
    text: str


def from_mariadb(rows: Iterable[Sequence[object]]) -> list[Entry]:
    """Rows (thread_id, command_type, argument) of mysql.general_log. Executes have values in their text."""
    connections: dict[str, int] = {}
    return _by_connection(
        Entry(_number(connections, str(thread)), str(command), str(argument))
        for thread, command, argument in rows
    )


class LogRow(NamedTuple):
    """The columns used of a PostgreSQL csvlog row (PostgreSQL manual, 20.8.4)."""

    user: str
    session: str
    message: str
    detail: str


def read_csvlog(text: str) -> list[LogRow]:
    """The complete rows of a csvlog; a last one that is still being written is left out."""
    rows = csv.reader(io.StringIO(text[: text.rfind("\n") + 1], newline=""))
    return [LogRow(row[1], row[5], row[13], row[14]) for row in rows if len(row) >= 23]


# With log_statement=all and log_min_duration_statement=0 a prepared statement is logged as
# "duration: N ms  parse NAME: TEXT", then per execution as "execute NAME: TEXT" with the values as detail.
_SHAPES = (
    ("Connect", re.compile(r"connection authorized: (?P<text>.*)", re.DOTALL)),
    ("Query", re.compile(r"statement: (?P<text>.*)", re.DOTALL)),
    ("Prepare", re.compile(r"duration: \S+ ms  parse (?P<name>[^:]*): (?P<text>.*)", re.DOTALL)),
    ("Execute", re.compile(r"execute (?P<name>[^:]*): (?P<text>.*)", re.DOTALL)),
    ("Quit", re.compile(r"disconnection: .*", re.DOTALL)),
)


def from_postgres(rows: Iterable[LogRow]) -> list[Entry]:
    """Rows of a csvlog. Prepared statements are renamed s1, s2 ... in each connection, by appearance.

    Text of a Prepare: `s1: SELECT ...`; of an Execute the same with the values, ` [$1 = '5', $2 = NULL]`.
    """
    connections: dict[str, int] = {}
    names: dict[str, dict[str, int]] = {}
    entries = []
    for row in rows:
        for command, shape in _SHAPES:
            match = shape.fullmatch(row.message)
            if match is None:
                continue
            parts = match.groupdict()
            text = parts.get("text", "")
            if "name" in parts:
                number = _number(names.setdefault(row.session, {}), parts["name"])
                text = f"s{number}: {text}"
                if row.detail:
                    text += f" [{row.detail.removeprefix('parameters: ')}]"
            entries.append(Entry(_number(connections, row.session), command, text))
    return _by_connection(entries)


def open_connections(entries: Iterable[Entry]) -> set[int]:
    """The connections that have begun and not yet ended."""
    still_open: set[int] = set()
    for entry in entries:
        if entry.command == "Connect":
            still_open.add(entry.connection)
        elif entry.command == "Quit":
            still_open.discard(entry.connection)
    return still_open


def _by_connection(entries: Iterable[Entry]) -> list[Entry]:
    return sorted(entries, key=lambda entry: entry.connection)


def _number(seen: dict[str, int], key: str) -> int:
    return seen.setdefault(key, len(seen) + 1)
