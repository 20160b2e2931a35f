"""--prepare-split=on: the same rows whatever the number of threads; and how threads of a command work together."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.support.mariadb import MariaDB
from tests.support.proc import Result, wait_until
from tests.support.reference import ours
from tests.support.server import Server

# Three blocks a table, the last one not full.
SIZE = 12_345
SPLIT = ("--prepare-split=on", "--tables=2", f"--table-size={SIZE}")
Ask = Callable[[str], list[tuple[Any, ...]]]


def sqlite_rows(path: Path, sql: str) -> list[tuple[Any, ...]]:
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute(sql).fetchall()


@pytest.fixture(params=["mariadb", "postgres", "sqlite"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[list[str], Ask, Callable[[], None]]:
    """Options for a database, and how it is asked and emptied."""
    if request.param == "sqlite":
        path = tmp_path / "test.db"
        arguments = ["--db-driver=sqlite", f"--sqlite-db={path}"]
        return arguments, lambda sql: sqlite_rows(path, sql), lambda: path.unlink(missing_ok=True)
    server: Server = request.getfixturevalue(request.param)
    server.empty_database()
    return server.args, server.sql, server.empty_database


def prepare(arguments: list[str], *options: str) -> Result:
    result = ours("oltp_read_write", *arguments, *SPLIT, *options, "prepare")
    assert (result.status, result.stderr) == (0, ""), result.stdout
    return result


VARIANTS = [
    ("--threads=2",),
    ("--threads=3", "--bulk=copy"),
    ("--threads=3", "--multiplex=1"),
    ("--threads=4", "--multiplex=2", "--bulk=copy"),
]


@pytest.mark.parametrize("ids", ["--auto_inc=on", "--auto_inc=off"])
def test_the_rows_do_not_depend_on_threads(place: tuple[list[str], Ask, Callable[[], None]], ids: str) -> None:
    arguments, ask, empty = place
    tables = []
    for options in ((), *VARIANTS):
        empty()
        prepare(arguments, ids, *options)
        found = [ask(f"SELECT id, k, c, pad FROM sbtest{number} ORDER BY id") for number in (1, 2)]
        tables.append(found)
    assert [row[0] for row in tables[0][0]] == list(range(1, SIZE + 1))
    assert tables[0][0] != tables[0][1]
    assert len({row[2] for table in tables[0] for row in table}) == 2 * SIZE
    assert all(found == tables[0] for found in tables)
    # Rows that get their ids now follow, and the workload runs.
    limits = ("--events=20", "--time=0", "--tables=2", f"--table-size={SIZE}")
    if ids == "--auto_inc=on":
        result = ours("oltp_insert", *arguments, "--events=1", "--time=0", "run")
        assert result.status == 0, result.stdout
        assert ask("SELECT MAX(id) FROM sbtest1")[0][0] == SIZE + 1
    assert ours("oltp_read_write", *arguments, *limits, "run").status == 0


def test_the_seed_counts(mariadb: MariaDB) -> None:
    sums = []
    for seed in (7, 8, 7):
        mariadb.empty_database()
        prepare(mariadb.args, "--threads=2", f"--rand-seed={seed}")
        sums.append(mariadb.sql("CHECKSUM TABLE sbtest1, sbtest2"))
    assert sums[0] == sums[2] != sums[1]


def test_indexes_come_after_all_rows(server: Server) -> None:
    with server.query_log() as log:
        result = prepare(server.args, "--threads=3")
    said = [line.split(" ")[0] for line in result.stdout.splitlines() if "sbtest" in line]
    assert sorted(said[:4]) == ["Creating", "Creating", "Inserting", "Inserting"]
    assert said[4:] == ["Creating", "Creating"]
    assert sum(entry.text.startswith("CREATE INDEX") for entry in log) == 2
    assert sum(entry.text.startswith("INSERT") for entry in log) >= 6


@pytest.mark.parametrize("ids", ["--auto_inc=on", "--auto_inc=off"])
def test_a_thread_loads_its_blocks_at_once(server: Server, ids: str) -> None:
    """But where others wait until a load has ended, because of InnoDB's AUTO-INC lock, each block is one."""
    with server.query_log() as log:
        prepare(server.args, "--tables=1", "--threads=2", "--bulk=copy", ids)
    loads = sum(entry.text.startswith(("COPY", "LOAD")) for entry in log)
    if isinstance(server, MariaDB) and ids == "--auto_inc=on":
        assert loads == 3
    else:
        assert loads in (1, 2)
    assert server.sql("SELECT COUNT(*), MIN(id), MAX(id) FROM sbtest1") == [(SIZE, 1, SIZE)]


def fatal_lines(result: Result) -> list[str]:
    return [line for line in result.stdout.splitlines() if line.startswith("FATAL: ")]


@pytest.mark.parametrize(
    "options", [("--threads=3",), ("--threads=3", "--multiplex=1"), ("--threads=2", "--bulk=copy")]
)
def test_a_table_that_is_there(server: Server, options: tuple[str, ...]) -> None:
    server.sql("CREATE TABLE sbtest2 (id INT)")
    with server.query_log() as log:
        result = ours("oltp_read_write", *server.args, *SPLIT, *options, "prepare")
    assert result.status == 1
    fatal = fatal_lines(result)
    assert "already exists" in fatal[0]
    assert "Inserting" not in result.stdout
    assert len([line for line in fatal if "function failed" in line]) == 1
    assert "remove them with 'sysbench oltp_read_write cleanup'" in result.stderr
    assert not any(entry.text.startswith(("INSERT", "COPY", "LOAD")) for entry in log)


def connections(server: Server) -> list[int]:
    if isinstance(server, MariaDB):
        found = server.sql("SELECT id FROM information_schema.processlist WHERE user = 'sbtest' ORDER BY id")
    else:
        found = server.sql("SELECT pid FROM pg_stat_activity WHERE usename = 'sbtest' ORDER BY pid")
    return [row[0] for row in found]


@pytest.mark.parametrize("bulk", ["insert", "copy"])
def test_a_thread_that_fails_in_the_middle(server: Server, bulk: str) -> None:
    arguments = [*server.args, "--prepare-split", "--table-size=20000000", "--threads=3", f"--bulk={bulk}"]
    with ours.start("oltp_read_write", *arguments, "prepare") as started:
        started.wait_for("Inserting")
        wait_until(lambda: len(connections(server)) == 3, "all threads to be there")
        victim = connections(server)[1]
        server.sql(f"KILL {victim}" if isinstance(server, MariaDB) else f"SELECT pg_terminate_backend({victim})")
        result = started.result(60)
    assert result.status == 1
    assert len([line for line in fatal_lines(result) if "function failed" in line]) == 1
    assert "secondary index" not in result.stdout


def test_databases_that_generate_the_ids_alone() -> None:
    arguments = ["--db-driver=dbapi", "--dbapi-only-print=on", "--dbapi-dialect=oracle", *SPLIT, "--threads=2"]
    result = ours("oltp_read_write", *arguments, "prepare")
    assert result.status == 1
    assert "--prepare-split=on gives the ids itself, and on oracle that needs --auto_inc=off" in result.stdout, (
        result.stdout
    )
    result = ours("oltp_read_write", *arguments, "--auto_inc=off", "prepare")
    assert (result.status, result.stdout.count("CREATE TABLE sbtest")) == (0, 2), result.stdout


# -- threads of a command


def command(folder: Path, body: str, *options: str) -> Result:
    (folder / "team.lua").write_text(
        "local cmdline, tid = sysbench.cmdline, sysbench.tid\n"
        f"local function work()\n{body}\nend\n"
        "cmdline.commands = { work = { work, cmdline.PARALLEL_COMMAND } }\n"
    )
    return ours("team.lua", "--verbosity=0", *options, "work", cwd=folder)


THREADS = [("--threads=1",), ("--threads=5",), ("--threads=5", "--multiplex=1"), ("--threads=5", "--multiplex=3")]


@pytest.mark.parametrize("options", THREADS, ids=" ".join)
def test_numbers_are_shared_out(tmp_path: Path, options: tuple[str, ...]) -> None:
    body = """
    for round = 1, 20 do
       for number in cmdline.share(7) do io.write(round .. " " .. number .. "\\n") end
       assert(cmdline.meet())
    end"""
    result = command(tmp_path, body, *options)
    assert result.status == 0, result.stdout
    lines = [tuple(map(int, line.split())) for line in result.stdout.splitlines()]
    assert [line[0] for line in lines] == sorted(line[0] for line in lines)
    assert sorted(lines) == [(round_, number) for round_ in range(1, 21) for number in range(7)]


@pytest.mark.parametrize("options", THREADS[1:], ids=" ".join)
def test_threads_that_have_ended_are_not_waited_for(tmp_path: Path, options: tuple[str, ...]) -> None:
    result = command(tmp_path, "if tid >= 2 then return end assert(cmdline.meet()) print('met')", *options)
    assert (result.status, result.stdout) == (0, "met\nmet\n")


@pytest.mark.parametrize("options", THREADS[1:], ids=" ".join)
@pytest.mark.parametrize("how", ["error('trouble', 0)", "return false"])
def test_nobody_waits_for_one_that_has_failed(tmp_path: Path, options: tuple[str, ...], how: str) -> None:
    body = f"if tid == 3 then {how} end print(cmdline.meet()) for number in cmdline.share(9) do print(number) end"
    result = command(tmp_path, body, *options)
    assert result.status == 1
    assert [line for line in result.stdout.splitlines() if "function failed" not in line] == ["false"] * 4
    assert result.stdout.count("trouble") == ("error" in how)


def test_commands_one_after_the_other(tmp_path: Path) -> None:
    body = "for number in cmdline.share(2) do io.write(number .. '\\n') end"
    (tmp_path / "team.lua").write_text(
        f"local cmdline = sysbench.cmdline\nlocal function work() {body} end\n"
        "cmdline.commands = { a = { work, true }, b = { work, true }, c = { work } }\n"
    )
    result = ours("team.lua", "--verbosity=0", "--threads=3", "a", "b", "c", cwd=tmp_path)
    assert result.status == 0
    assert sorted(result.stdout.split()) == ["0", "0", "0", "1", "1", "1"]


def test_seeds(tmp_path: Path) -> None:
    body = """
    local rand, seen = sysbench.rand, {}
    local function numbers(...) rand.seed(...) return rand.uniform(1, 1e9) .. " " .. rand.uniform(1, 1e9) end
    for seed = 0, 9 do for stream = 0, 9 do for part = 0, 9 do
       local drawn = numbers(seed, stream, part)
       assert(drawn == numbers(seed, stream, part))
       assert(not seen[drawn])
       seen[drawn] = true
    end end end
    assert(numbers(5) == numbers(5, 0, 0))
    assert(numbers(-1) ~= numbers(1))"""
    result = command(tmp_path, body)
    assert (result.status, result.stdout) == (0, "")
