"""A scripted MySQL server of both dialects of the protocol, and a client of it; how the client's errors look."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.core_sql import Connection, Core
from tests.support.fake_mysql import FakeMySQL, FakeTlsMySQL

LOST = (2, 2013, "HY000", "Lost connection to MySQL server during query")
MALFORMED = (2, 2027, "HY000", "Malformed packet")
NO_ERROR = (0, 0, None, None)

ROWS: list[tuple[bytes | None, ...]] = [(b"1", None), (b"", b"x" * 300), (None, b"\xfe\xff\x00")]


@pytest.fixture(params=["deprecate_eof", "eof", "tls"])
def server(request: pytest.FixtureRequest) -> Iterator[FakeMySQL]:
    """Both dialects, and one of them over TLS."""
    if request.param == "tls":
        fake: FakeMySQL = FakeTlsMySQL(request.getfixturevalue("certificates"))
    else:
        fake = FakeMySQL(deprecate_eof=request.param == "deprecate_eof")
    with fake:
        yield fake


@pytest.fixture
def deprecate_eof(server: FakeMySQL) -> bool:
    return server.deprecate_eof


@pytest.fixture
def client(server: FakeMySQL) -> Iterator[Connection]:
    connection = Core(*server.args).connect()
    yield connection
    connection.release()
