"""Scripts of the kinds that people publish, in tests/lua/published, on every database that can run them."""

import re
from pathlib import Path

import pytest

from tests.support.proc import Result
from tests.support.reference import Program, ours, reference, report
from tests.support.server import Server

LUA = Path(__file__).parent / "lua"
COUNTS = ("read", "write", "other", "transactions", "queries", "ignored_errors", "reconnects", "events")


def run(program: Program, script: str, *args: str) -> Result:
    result = program(f"published/{script}.lua", *args, cwd=LUA)
    assert result.status == 0, result.stdout + result.stderr
    return result


def counts(result: Result) -> dict[str, float]:
    """What the report says of a run, without times."""
    values = report(result.stdout)
    return {name: values[name] for name in COUNTS}


def printed(result: Result) -> list[str]:
    """What the script itself prints, messages and reports left out, in an order that no race changes."""
    return sorted(line for line in result.stdout.splitlines() if not line.startswith(("FATAL: ", "(last")))


def life(program: Program, script: str, database: list[str], *options: str) -> dict[str, float]:
    """Prepare, 60 events with the same random numbers, cleanup."""
    run(program, script, *database, *options, "prepare")
    result = run(program, script, *database, *options, "--events=60", "--time=0", "--rand-seed=3", "run")
    run(program, script, *database, *options, "cleanup")
    return counts(result)


@pytest.mark.parametrize("script", ["order_entry", "point_five"])
def test_same_statements(script: str, server: Server) -> None:
    assert life(ours, script, server.args) == life(reference, script, server.args)


def test_sqlite_counts_the_same(server: Server, tmp_path: Path) -> None:
    sqlite = ["--db-driver=sqlite", f"--sqlite-db={tmp_path / 'test.db'}"]
    assert life(ours, "order_entry", sqlite) == life(ours, "order_entry", server.args)


def test_order_entry_with_several_threads(database: list[str], tmp_path: Path) -> None:
    """Transactions that conflict are done again, and what they add up to is right."""
    options = (*database, "--threads=4", "--rollbacks=10", "--events=400", "--time=0", "--rand-seed=3")
    loaded = run(ours, "order_entry", *options, "--verbosity=0", "prepare")
    assert printed(loaded) == ["warehouse 1 loaded", "warehouse 2 loaded"]
    values = counts(run(ours, "order_entry", *options, "run"))
    assert values["events"] == 400
    assert values["ignored_errors"] > 0
    check = tmp_path / "check.lua"
    check.write_text(
        """
        function help()
           local con = sysbench.sql.driver():connect()
           for w = 1, 2 do
              local sold = con:query_row("SELECT SUM(1000 - quantity) FROM stock" .. w)
              local ordered = con:query_row("SELECT SUM(amount) FROM orders" .. w)
              local orders = con:query_row("SELECT COUNT(*) FROM orders" .. w)
              local number = con:query_row("SELECT next_order - 1 FROM warehouse" .. w)
              print(sold == ordered and orders == number and tonumber(orders) > 0)
           end
        end
        """
    )
    assert ours(str(check), "--verbosity=0", *database, "help").stdout == "true\ntrue\n"


def test_own_reports() -> None:
    args = ("--threads=2", "--time=3", "--report-interval=2", "--verbosity=0", "run")
    expected = printed(run(reference, "own_reports", *args))
    assert printed(run(ours, "own_reports", *args)) == expected
    assert expected == [
        "2,2,some,some",
        "time,threads,events,p",
        '{"threads": 2, "per_second": "many", "average": "plausible"}',
    ]


def test_lists_and_parallel_commands(database: list[str]) -> None:
    options = (
        *database,
        "--threads=3",
        "--tables=a1,b2,c3",
        "--rows=250",
        "--batch_size=100",
        "--tag=x y",
        "--verbosity=0",
    )
    assert printed(run(ours, "sharded_load", *options, "load")) == []
    checked = printed(run(ours, "sharded_load", *options, "check"))
    assert checked == ["a1\t250\t1\t250\tx y", "b2\t250\t1\t250\tx y", "c3\t250\t1\t250\tx y"]
    two = ours("published/sharded_load.lua", *options, "--tables=a1,b2", "check", cwd=LUA)
    assert two.status == 1
    assert printed(run(ours, "sharded_load", *options, "drop")) == []


def test_lists_and_parallel_commands_as_the_reference(server: Server) -> None:
    options = (*server.args, "--threads=2", "--rows=30", "--verbosity=0")
    outputs = []
    for program in (reference, ours):
        outputs.append(
            [printed(run(program, "sharded_load", *options, command)) for command in ("load", "check", "drop")]
        )
    assert outputs[0] == outputs[1]
    assert len(outputs[0][1]) == 3


def test_own_event_loop(database: list[str]) -> None:
    result = run(ours, "own_loop", *database, "--threads=2", "--time=60", "run")
    assert sorted(re.findall(r"^thread .*", result.stdout, re.MULTILINE)) == [
        "thread 0: 5 events, 5 reads",
        "thread 1: 5 events, 5 reads",
    ]
    assert counts(result)["events"] == counts(result)["read"] == 10


def test_errors_that_are_caught(database: list[str]) -> None:
    run(ours, "catching", *database, "prepare")
    result = run(ours, "catching", *database, "--events=10", "--time=0", "run")
    # One try in three asks for a restart, the last one of each restart's tries too: 15 tries for ten events.
    values = counts(result)
    tries = re.search(r"^(\d+)\t(\d+)\t(\d+)\t(\d+)$", result.stdout, re.MULTILINE)
    assert tries is not None
    duplicates, missing, restarts, stored = map(int, tries.groups())
    assert duplicates == stored == 10 + restarts
    assert restarts == 5
    assert missing == duplicates + restarts
    assert values["events"] == 10
    assert values["ignored_errors"] == duplicates + missing
    run(ours, "catching", *database, "cleanup")


def test_errors_that_are_caught_as_in_the_reference(server: Server) -> None:
    outputs = []
    for program in (reference, ours):
        run(program, "catching", *server.args, "prepare")
        result = run(program, "catching", *server.args, "--events=10", "--time=0", "run")
        outputs.append((counts(result), re.findall(r"^\d+\t.*", result.stdout, re.MULTILINE)))
        run(program, "catching", *server.args, "cleanup")
    assert outputs[0] == outputs[1]


@pytest.mark.parametrize(
    "options",
    [
        ("--oltp-table-size=500",),
        ("--oltp_table_size=300", "--oltp-range-size=20"),
        ("--oltp-table-size=1e2", "--oltp-auto-inc=off"),
        ("--oltp-table-size= 50 ",),
        ("--rand-type=pareto", "--oltp-table-size=200"),
    ],
)
def test_numeric_options_of_a_script_for_0_5(options: tuple[str, ...], database: list[str]) -> None:
    """Its functions take numbers as options bring them, as text."""
    values = life(ours, "point_five", database, *options)
    assert (values["events"], values["read"]) == (60, 120)
