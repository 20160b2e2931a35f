"""The benchmarks run and read what they should; their floor and their responder are what they say."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path

import pytest

from benchmarks.builtin import ROWS as BUILTIN_ROWS
from benchmarks.command import line
from benchmarks.dbapi import ROWS as DBAPI_ROWS
from benchmarks.measure import QUERIES, WALL, Metric, RunFailed, run
from benchmarks.row import Row
from benchmarks.rows_client import ROWS as CLIENT_ROWS
from benchmarks.rows_databases import ROWS as DATABASE_ROWS
from benchmarks.rows_points import ROWS as POINT_ROWS
from benchmarks.site import Site
from benchmarks.statements import ROWS as STATEMENT_ROWS
from tests.support.mariadb import MariaDB
from tests.support.postgres import PostgreSQL
from tests.support.proc import Run, wait_until
from tests.support.reference import ours
from tests.support.server import DATABASE, USER, Server

ROWS = (*BUILTIN_ROWS, *CLIENT_ROWS, *DATABASE_ROWS, *DBAPI_ROWS, *POINT_ROWS, *STATEMENT_ROWS)
ROOT = Path(__file__).parent.parent
# As long as column c of the stock tables, but for the blank at its end.
VALUE_SIZE = 119

READ_ROWS = """
function prepare()
   local con = sysbench.sql.driver():connect()
   assert(con:query("BEGIN") == nil)
   print("> " .. con:query_row("select c from t where id = 1"))
   local stmt = con:prepare("SELECT c FROM t WHERE id = ? AND k = ?")
   local a, b = stmt:bind_create(sysbench.sql.type.INT), stmt:bind_create(sysbench.sql.type.VARCHAR, 10)
   stmt:bind_param(a, b)
   for i = 1, 3 do
      a:set(i)
      b:set("x")
      local rs = stmt:execute()
      assert(rs.nrows == 1 and rs.nfields == 1)
      print("> " .. rs:fetch_row()[1])
      rs:free()
   end
   stmt:close()
   con:disconnect()
end
"""


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    with ExitStack() as stack:
        yield Site("", f"{sys.executable} -m sysbench_py", 1, tmp_path, stack)


def test_the_command_prints_its_table() -> None:
    words = ("empty event, 1 thr.", "against the floor")
    with Run(sys.executable, "-m", "benchmarks", "--pairs=1", "--time=1", *words, cwd=ROOT) as command:
        result = command.result()
    assert result.status == 0, result.stdout + result.stderr
    table = [row.strip("| ").split(" | ") for row in result.stdout.splitlines() if row.startswith("| ")]
    assert [(row[0], row[1], row[2]) for row in table[2:]] == [
        ("empty event, 1 thr.", "events/s", "sysbench 1.0"),
        ("empty event, 1 thr.", "client CPU, us/event", "sysbench 1.0"),
        ("empty event against the floor, 1 thr.", "events/s", "C floor"),
        ("empty event against the floor, 1 thr.", "client CPU, us/event", "C floor"),
    ]
    assert all(float(row[3].replace(",", "")) > 0 and float(row[4].replace(",", "")) > 0 for row in table[2:])
    assert table[2][6] == "at least 2"
    assert "- theirs: sysbench 1.0.20\n" in result.stdout


def test_a_word_that_no_row_contains() -> None:
    with Run(sys.executable, "-m", "benchmarks", "nonsense", cwd=ROOT) as command:
        result = command.result()
    assert (result.status, result.stdout, result.stderr) == (1, "", "no row contains 'nonsense' (see --list)\n")


@pytest.mark.parametrize(
    "words", [("benchmarks", "--list"), ("benchmarks.builtin", "--list"), ("benchmarks.slap", "nothing")]
)
def test_a_table_that_nobody_reads(words: tuple[str, ...]) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "wb") as closed:
        done = subprocess.run(
            [sys.executable, "-m", *words], cwd=ROOT, stdout=closed, stderr=subprocess.PIPE, check=False
        )
    assert (done.returncode, done.stderr) == (128 + signal.SIGPIPE, b"")


def test_what_is_missing_is_told_in_a_line(tmp_path: Path) -> None:
    (tmp_path / "benchmarks").symlink_to(ROOT / "benchmarks")
    (tmp_path / "sysbench_py").mkdir()
    (tmp_path / "sysbench_py" / "__init__.py").touch()
    say = "cannot be found: do 'pip install -e . pytest' in the checkout\n"
    for directory, missing in (
        (ROOT, "pytest, pymysql, psycopg2"),
        (tmp_path, "pytest, pymysql, psycopg2, sysbench_py._core"),
    ):
        for module in ("benchmarks", "benchmarks.slap"):
            # Without all that is installed.
            command = (sys.executable, "-S", "-m", module, "--help")
            with Run(*command, cwd=directory, env={"PYTHONPATH": None}) as running:
                result = running.result()
            assert (result.status, result.stdout, result.stderr) == (1, "", f"{missing} {say}")


@pytest.mark.parametrize(
    ("metric", "goal", "cells"),
    [
        (QUERIES, 1.5, "2.000 (1.00..3.00) | at least 1.5 | yes"),
        (QUERIES, 2.1, "2.000 (1.00..3.00) | at least 2.1 | no"),
        (WALL, 2.0, "2.000 (1.00..3.00) | at most 2 | yes"),
        (WALL, 1.9, "2.000 (1.00..3.00) | at most 1.9 | no"),
        (WALL, None, "2.000 (1.00..3.00) |  | "),
    ],
)
def test_a_line_is_of_medians(metric: Metric, goal: float | None, cells: str) -> None:
    row = Row("work", {metric: goal}, "", "")
    pairs = [(1.0, 3.0), (4000.0, 4000.0), (10.0, 20.0)]
    assert line(row, metric, goal, pairs) == f"| work | {metric.name} | sysbench 1.0 | 10 | 20 | {cells} |"


def test_templates_name_what_is_there() -> None:
    names = {name for row in ROWS for name in re.findall(r"{(\w+)}", row.theirs + row.ours + row.before)}
    set_at_once = {"reference", "ours", "time", "tables", "lua", "python"}
    assert {name for name in names if not hasattr(Site, name)} == set_at_once
    assert len({row.name for row in ROWS}) == len(ROWS)


@pytest.mark.parametrize("driver", ["mysql", "pgsql"])
def test_the_responder_answers_our_client(site: Site, driver: str, tmp_path: Path) -> None:
    (tmp_path / "read.lua").write_text(READ_ROWS)
    server = site.command(f"{{responder_{driver}}}")
    result = ours("read.lua", *server, "prepare", cwd=tmp_path)
    assert result.status == 0, result.stdout
    values = [row[2:] for row in result.stdout.splitlines() if row.startswith("> ")]
    assert len(values) == 4
    assert set(values) == {values[0]}
    assert re.fullmatch(rf"[0-9-]{{{VALUE_SIZE}}}", values[0])
    for options in (), ("--multiplex=1",):
        arguments = (*server, "--tables=3", "--threads=5", "--events=200", "--time=0", *options)
        result = ours("oltp_point_select", *arguments, "run")
        assert result.status == 0, result.stdout
        assert "queries:                             200 " in result.stdout


def _executions(server: Server) -> int:
    """How many statements that read a table's rows the server has run."""
    if isinstance(server, MariaDB):
        return int(server.sql("SHOW GLOBAL STATUS LIKE 'Com_stmt_execute'")[0][1])
    # Each of the floor's is one scan, whichever way the planner goes.
    return int(server.sql("SELECT sum(seq_scan + coalesce(idx_scan, 0)) FROM pg_stat_user_tables")[0][0])


def _counts(server: Server, expected: int) -> bool:
    return _executions(server) == expected


def test_the_floor_selects_points(server: Server, site: Site) -> None:
    options = (*server.args, "--tables=2", "--table-size=100")
    assert ours("oltp_point_select", *options, "prepare").status == 0
    protocol = "mysql" if isinstance(server, MariaDB) else "pgsql"
    places = [("127.0.0.1", server.port)]
    if isinstance(server, MariaDB):
        places.append((str(server.socket), 0))
    elif isinstance(server, PostgreSQL):
        places.append((str(server.directory / f".s.PGSQL.{server.port}"), 0))
    for host, port in places:
        before = _executions(server)
        floor = site.command(f"{{floor}} {protocol} {host} {port} {USER} {DATABASE} 3 1")
        text = run([*floor, "2", "100"], site.directory).text
        found = re.fullmatch(r"queries: (\d+)\nseconds: \d\.\d{6}\n", text)
        assert found is not None
        assert int(found[1]) > 0
        expected = before + int(found[1])
        wait_until(partial(_counts, server, expected), "the server to count all queries", 10)
        with pytest.raises(RunFailed, match=r"sbtest3.*exist"):
            run([*floor, "3", "100"], site.directory)
