"""Servers for the tests: each starts when a test first asks for it, and serves until the session ends."""

import signal
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from types import FrameType

import pytest

from tests.support.mariadb import MariaDB
from tests.support.postgres import PostgreSQL
from tests.support.server import Server
from tests.support.tls import make_certificates

SERVERS = ("mariadb", "mariadb_tls", "postgres", "postgres_tls")


@pytest.fixture(scope="session")
def mariadb() -> Iterator[MariaDB]:
    with closing(MariaDB()) as server:
        server.start()
        yield server


@pytest.fixture(scope="session")
def mariadb_tls() -> Iterator[MariaDB]:
    with closing(MariaDB(tls=True)) as server:
        server.start()
        yield server


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgreSQL]:
    with closing(PostgreSQL()) as server:
        server.start()
        yield server


@pytest.fixture(scope="session")
def postgres_tls() -> Iterator[PostgreSQL]:
    with closing(PostgreSQL(tls=True)) as server:
        server.start()
        yield server


@pytest.fixture(scope="session")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of tests.support.tls, for a server that is scripted."""
    folder = tmp_path_factory.mktemp("certificates") / "tls"
    make_certificates(folder)
    return folder


@pytest.fixture(params=["mariadb", "postgres"])
def server(request: pytest.FixtureRequest) -> Server:
    """Each of the plain servers in turn, with nothing in database `sbtest`."""
    return _emptied(request.getfixturevalue(request.param))


@pytest.fixture(params=["mariadb", "postgres", "sqlite"])
def database(request: pytest.FixtureRequest, tmp_path: Path) -> list[str]:
    """Our options that select an empty database of each kind in turn."""
    if request.param == "sqlite":
        return ["--db-driver=sqlite", f"--sqlite-db={tmp_path / 'test.db'}"]
    return _emptied(request.getfixturevalue(request.param)).args


def _emptied(server: Server) -> Server:
    server.kill_all_client_connections()
    server.empty_database()
    return server


@pytest.fixture(autouse=True)
def servers_up(request: pytest.FixtureRequest) -> Iterator[None]:
    """Starts again what a test has stopped, so that one test that fails half-way does not fail the next."""
    yield
    for name in SERVERS:
        if name in request.fixturenames:
            request.getfixturevalue(name).start()


def pytest_configure() -> None:
    signal.signal(signal.SIGTERM, _end_in_order)


def _end_in_order(number: int, frame: FrameType | None) -> None:
    # As for Ctrl-C: fixtures are taken down, so that no server outlives the tests.
    raise KeyboardInterrupt
