"""Every stock workload, Debian's by path and our own, from prepare to cleanup, on every database."""

from pathlib import Path
from typing import Any

import pytest

from tests.support.reference import ours, report
from tests.support.server import Server
from tests.support.workloads import DEBIAN, LUA, SCRIPTS

# Statements of one event, as docs/workloads.md lists them; None where an event may send none.
STATEMENTS_PER_EVENT = {"oltp_read_only": 16, "oltp_read_write": 20, "oltp_write_only": 6, "bulk_insert": None}
EVENTS = 200


@pytest.fixture(params=["mariadb", "postgres", "sqlite"])
def connect(request: pytest.FixtureRequest, tmp_path: Path) -> list[str]:
    """Options that select each database in turn, with nothing in it."""
    if request.param == "sqlite":
        return ["--db-driver=sqlite", f"--sqlite-db={tmp_path}/stock.db"]
    server: Server = request.getfixturevalue(request.param)
    server.empty_database()
    return server.args


@pytest.mark.parametrize("folder", [DEBIAN, LUA], ids=["debian", "ours"])
@pytest.mark.parametrize("script", SCRIPTS)
def test_prepare_run_cleanup(connect: list[str], folder: Path, script: str) -> None:
    sizes = [] if script == "bulk_insert" else ["--table-size=1000"]
    result = ours(
        str(folder / f"{script}.lua"), *connect, *sizes, "--threads=8", f"--events={EVENTS}", "--time=0",
        "prepare", "run", "cleanup",
    )  # fmt: skip
    assert result.status == 0, result.stdout
    numbers = report(result.stdout.partition("Dropping table")[0])
    assert numbers["events"] == EVENTS
    check_statements(numbers, STATEMENTS_PER_EVENT.get(script, 1))


def check_statements(numbers: dict[str, Any], per_event: int | None) -> None:
    if per_event is None:
        # A flush a thread that had any event.
        assert 1 <= numbers["write"] <= 8
        return
    # An event that was restarted has sent some of its statements twice, and the failed one is counted apart.
    assert EVENTS * per_event <= numbers["total"] <= (EVENTS + numbers["ignored_errors"]) * per_event


def test_oltp_common_prepares(connect: list[str]) -> None:
    for folder in (DEBIAN, LUA):
        common = [str(folder / "oltp_common.lua"), *connect, "--tables=10", "--table_size=1000", "--threads=4"]
        assert ours(*common, "prepare").status == 0
        numbers = report(ours(str(folder / "oltp_read_only.lua"), *common[1:], "--events=20", "run").stdout)
        assert (numbers["events"], numbers["read"]) == (20, 280)
        assert ours(*common, "cleanup").status == 0


@pytest.mark.parametrize("script", ["oltp_read_write", "oltp_insert"])
def test_workload_by_name(script: str, tmp_path: Path) -> None:
    result = ours(
        script, "--db-driver=sqlite", f"--sqlite-db={tmp_path}/stock.db", "--table-size=100", "--events=10",
        "prepare", "run", "cleanup",
    )  # fmt: skip
    assert result.status == 0
    assert report(result.stdout.partition("Dropping table")[0])["events"] == 10


def test_1024_threads_on_sqlite_in_memory() -> None:
    result = ours(
        "oltp_point_select", "--db-driver=sqlite", "--sqlite-db=:memory:", "--table-size=1000",
        "--threads=1024", "--events=20000", "--time=0", "prepare", "run",
    )  # fmt: skip
    assert result.status == 0, result.stdout
    numbers = report(result.stdout[result.stdout.index("Running the test") :])
    assert (numbers["events"], numbers["read"]) == (20000, 20000)


def test_1024_threads_on_an_empty_event(tmp_path: Path) -> None:
    (tmp_path / "empty.lua").write_text("function event() end\n")
    result = ours("empty.lua", "--threads=1024", "--events=1000000", "--time=0", "run", cwd=tmp_path)
    assert result.status == 0
    assert report(result.stdout)["events"] == 1000000
