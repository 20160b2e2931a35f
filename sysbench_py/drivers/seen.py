"""What the drivers have connected to, for whoever describes a run."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple


class Seen(NamedTuple):
    """A driver, the library that it connects with, and the version that the server has told, if that is known."""

    driver: str
    library: str
    server_version: str


# What others connect to may also be a library in this process.
SERVERS = ("mysql", "pgsql")

_seen: dict[Seen, None] = {}
# By thread.
_waiting: dict[int, str] = {}


def note(driver: str, library: str, server_version: str) -> None:
    """A connection has been made."""
    _seen[Seen(driver, library, server_version)] = None


def seen() -> list[Seen]:
    """Each combination once, in the order of the first connections."""
    return list(_seen)


def server_seen() -> bool:
    """Whether one of them is a server for certain."""
    return any(each.driver in SERVERS for each in _seen)


@contextmanager
def waiting_for(address: str) -> Iterator[None]:
    """While this thread connects to a server and logs in there."""
    thread = threading.get_ident()
    _waiting[thread] = address
    try:
        yield
    finally:
        del _waiting[thread]


def waits() -> dict[str, int]:
    """How many threads are connecting now, by the address of the server."""
    return Counter(_waiting.copy().values())
