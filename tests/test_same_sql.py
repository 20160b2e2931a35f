"""The server's own log shows the same SQL, statement by statement, from the reference and from us."""

from pathlib import Path

import pytest

from tests.support.mariadb import MariaDB
from tests.support.querylog import Entry
from tests.support.reference import Program, ours, reference
from tests.support.server import Server
from tests.support.workloads import DEBIAN, LUA, SCRIPTS

VARIANTS = {
    "oltp_read_write": (
        ("--skip_trx", "--range_selects=off"),
        ("--auto_inc=off", "--create_secondary=off", "--rand-type=uniform"),
        ("--delete_inserts=3", "--range-size=7", "--point_selects=0", "--rand-type=pareto"),
        ("--db-ps-mode=disable",),
    ),
    "oltp_insert": (("--auto_inc=off",),),
    "select_random_points": (("--random_points=3", "--rand-type=gaussian"),),
    "select_random_ranges": (("--number_of_ranges=2", "--delta=50"),),
}
CASES = [(script, ()) for script in SCRIPTS] + [
    (script, options) for script, variants in VARIANTS.items() for options in variants
]


def tables_of(script: str) -> tuple[str, ...]:
    """bulk_insert knows no such options, and the select_random_* only one table."""
    if script == "bulk_insert":
        return ()
    return ("--tables=1" if script.startswith("select_random") else "--tables=2", "--table-size=300")


def sql_of(program: Program, server: Server, script: Path, options: tuple[str, ...]) -> list[list[Entry]]:
    """What prepare, 200 events and cleanup send."""
    logs = []
    tables = tables_of(script.stem)
    for command in ("prepare", "run", "cleanup"):
        limits = ("--events=200", "--time=0", "--rand-seed=42") if command == "run" else ()
        with server.query_log() as log:
            result = program(str(script), *server.args, *tables, *options, *limits, command)
        assert result.status == 0, result.stdout
        logs.append(log)
    return [[entry for entry in log if _counts(entry)] for log in logs]


def _counts(entry: Entry) -> bool:
    # The reference opens one more PostgreSQL connection for every bulk insert, and asks it nothing.
    return entry.command not in ("Connect", "Quit", "Close stmt")


def without_connections(log: list[Entry]) -> list[tuple[str, str]]:
    return [(entry.command, entry.text) for entry in log]


def words(value: str | tuple[str, ...]) -> str:
    return value if isinstance(value, str) else " ".join(value)


@pytest.mark.parametrize(("script", "options"), CASES, ids=words)
def test_same_sql(server: Server, script: str, options: tuple[str, ...]) -> None:
    expected = sql_of(reference, server, DEBIAN / f"{script}.lua", options)
    # 200 events of bulk_insert are one statement.
    assert len(expected[1]) >= (1 if script == "bulk_insert" else 200)
    for path in (DEBIAN / f"{script}.lua", LUA / f"{script}.lua"):
        server.empty_database()
        seen = sql_of(ours, server, path, options)
        for wanted, got in zip(expected, seen, strict=True):
            assert without_connections(got) == without_connections(wanted)


def test_same_connections_and_statements_on_mariadb(mariadb: MariaDB) -> None:
    """Connects, quits and closed statements too."""
    logs = []
    for program in (reference, ours):
        mariadb.empty_database()
        command = [str(DEBIAN / "oltp_read_write.lua"), *mariadb.args, *tables_of("oltp_read_write")]
        assert program(*command, "prepare").status == 0
        with mariadb.query_log() as log:
            assert program(*command, "--events=5", "--time=0", "--rand-seed=1", "run").status == 0
        logs.append(log)
    assert logs[1] == logs[0]


@pytest.mark.parametrize("options", [(), ("--auto_inc=off",), ("--rand-type=uniform",)], ids=" ".join)
def test_prepared_tables_are_equal(mariadb: MariaDB, options: tuple[str, ...]) -> None:
    sums = []
    for program, script in (
        (reference, str(DEBIAN / "oltp_common.lua")),
        (ours, str(DEBIAN / "oltp_common.lua")),
        (ours, str(LUA / "oltp_common.lua")),
    ):
        mariadb.empty_database()
        arguments = [*mariadb.args, "--tables=1", "--table_size=1000", *options]
        assert program(script, *arguments, "prepare").status == 0
        sums.append((mariadb.sql("CHECKSUM TABLE sbtest1"), mariadb.sql("SELECT COUNT(*) FROM sbtest1")))
    assert sums[0][1][0][0] == 1000
    assert all(entry == sums[0] for entry in sums)
