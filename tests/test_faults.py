"""Lost connections, restarted and killed servers: counted reconnects or one clear message, a report, exit 1."""

import time
from pathlib import Path

import pytest

from tests.support.compat import compat
from tests.support.mariadb import MariaDB
from tests.support.proc import Result
from tests.support.reference import ours, report
from tests.support.server import Server

STOCK = "/usr/share/sysbench/oltp_read_write.lua"
SCRIPTS = [STOCK, str(Path(__file__).parent.parent / "lua/oltp_read_write.lua")]
TABLES = ["--tables=2", "--table-size=1000"]


@pytest.fixture(params=["mariadb", "mariadb_tls", "postgres"])
def encrypted_too(request: pytest.FixtureRequest) -> Server:
    server: Server = request.getfixturevalue(request.param)
    server.empty_database()
    return server


def prepared(server: Server) -> list[str]:
    arguments = [*server.args, *TABLES]
    assert ours(STOCK, *arguments, "--threads=2", "prepare").status == 0
    return arguments


def ignore_all(server: Server) -> str:
    return "--mysql-ignore-errors=all" if isinstance(server, MariaDB) else "--pgsql-ignore-errors=all"


def run_with_fault(server: Server, script: str, *options: str, seconds: int, fault: str) -> Result:
    arguments = prepared(server)
    with ours.start(script, *arguments, "--threads=4", f"--time={seconds}", *options, "run") as run:
        run.wait_for("Threads started!")
        time.sleep(1)
        if fault == "kill connections":
            assert server.kill_all_client_connections() == 4
        elif fault == "restart":
            server.restart()
        else:
            server.kill9()
        return run.result()


def fatal_lines(result: Result) -> list[str]:
    return [line for line in result.stdout.splitlines() if line.startswith("FATAL")]


@compat("reconnect-everywhere")
@pytest.mark.parametrize("script", SCRIPTS, ids=["debian", "ours"])
@pytest.mark.parametrize("ps_mode", ["auto", "disable"])
def test_killed_connections_are_made_again(server: Server, script: str, ps_mode: str) -> None:
    result = run_with_fault(
        server, script, ignore_all(server), f"--db-ps-mode={ps_mode}", seconds=5, fault="kill connections"
    )
    assert result.status == 0, result.stdout
    assert report(result.stdout)["reconnects"] == 4
    assert fatal_lines(result) == []


def test_restarted_server_is_connected_again(encrypted_too: Server) -> None:
    result = run_with_fault(encrypted_too, STOCK, ignore_all(encrypted_too), seconds=6, fault="restart")
    assert result.status == 0, result.stdout
    assert report(result.stdout)["reconnects"] >= 4
    assert report(result.stdout)["transactions"] > 0


@pytest.mark.parametrize("fault", ["kill connections", "restart", "kill -9"])
def test_lost_connections_without_ignoring_them(encrypted_too: Server, fault: str) -> None:
    """One clear message, the report of what was done, exit status 1."""
    result = run_with_fault(encrypted_too, STOCK, seconds=8, fault=fault)
    assert result.status == 1
    assert report(result.stdout)["transactions"] > 0
    assert 1 <= len(fatal_lines(result)) < 12
    assert "Traceback" not in result.stdout + result.stderr


def test_killed_server_that_stays_away(server: Server) -> None:
    """The run ends at its time limit, says what it could not do, and reports."""
    result = run_with_fault(server, STOCK, ignore_all(server), seconds=3, fault="kill -9")
    assert result.status == 1
    assert "could not be made again" in result.stdout
    assert report(result.stdout)["transactions"] > 0


@compat("reconnect-timeout")
def test_killed_server_without_time_limit(server: Server) -> None:
    """--db-reconnect-timeout ends the waiting."""
    result = run_with_fault(
        server, STOCK, ignore_all(server), "--events=100000000", "--db-reconnect-timeout=1",
        seconds=0, fault="kill -9",
    )  # fmt: skip
    assert result.status == 1
    assert "could not be made again" in result.stdout
    assert report(result.stdout)["transactions"] > 0


def test_deadlocks_restart_events(server: Server) -> None:
    """Conflicts of many writers on few rows are ignored errors, not failures."""
    arguments = [*server.args, "--tables=1", "--table-size=20"]
    assert ours(STOCK, *arguments, "prepare").status == 0
    result = ours(STOCK, *arguments, "--threads=8", "--time=3", "--rand-type=uniform", "run")
    assert result.status == 0, result.stdout
    assert report(result.stdout)["ignored_errors"] > 0
