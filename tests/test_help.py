"""The help: the reference's own, with the rows that it does not have."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from sysbench_py.drivers import find_driver
from sysbench_py.help import help_text
from sysbench_py.option_rows import DB_OPTIONS, GENERAL_OPTIONS, LATENCY_OPTIONS, LOG_OPTIONS, RAND_OPTIONS
from sysbench_py.options import Option, format_option_list
from sysbench_py.resources import stock_workloads
from sysbench_py.tool_names import TOOLS
from sysbench_py.tools.app import app
from tests.support.compat import compat
from tests.support.reference import ours

NOT_IN_THE_REFERENCE = {
    "warmup-time",
    "thread-init-timeout",
    "luajit-cmd",
    "rate-overload",
    "rate-detail",
    "arrival",
    "statements",
    "errors",
    "rand-zipfian-exp",
    "db-reconnect-timeout",
    "mysql-ssl-key",
    "mysql-ssl-ca",
    "mysql-ssl-cert",
    "mysql-compression-algorithms",
    "pgsql-sslmode",
    "pgsql-ignore-errors",
    "mysql-password-file",
    "pgsql-password-file",
    "multiplex",
    "output",
    "progress",
    "report-style",
    "workers",
    "processes",
    "live",
    "preflight",
    "bulk",
}


@pytest.fixture(scope="module")
def theirs() -> str:
    return subprocess.run(["/usr/bin/sysbench", "--help"], capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize(
    ("title", "rows"),
    [
        ("General options:\n", GENERAL_OPTIONS),
        ("Generator options:\n", RAND_OPTIONS),
        ("Log options:\n", LOG_OPTIONS),
        ("critical messages} [3]\n\n", LATENCY_OPTIONS),
        ("General database options:\n\n", DB_OPTIONS),
        ("mysql options:\n", find_driver("mysql").options),
        ("pgsql options:\n", find_driver("pgsql").options),
    ],
)
def test_rows_of_the_reference_are_printed_alike(theirs: str, title: str, rows: tuple[Option, ...]) -> None:
    common = [row for row in rows if row.name not in NOT_IN_THE_REFERENCE]
    assert f"{title}{format_option_list(common)}" in theirs


def test_nothing_else_is_different(theirs: str) -> None:
    def spaced_alike(text: str) -> str:
        return re.sub(r"(?<=\S) +", " ", text)

    ours = re.sub(r"(sqlite|dbapi) options:\n(  --.*\n)+\n", "", help_text())
    ours = re.sub(r"  (sqlite|dbapi|null|slap) - .*\n", "", ours)
    ours, found = re.subn(r"Workloads that are installed:\n(.*\n)+\Z", "", ours)
    assert found == 1
    for name in NOT_IN_THE_REFERENCE:
        ours, found = re.subn(rf"  --{name}[=\[].*\n", "", ours)
        assert found == 1, name
    assert spaced_alike(ours) == spaced_alike(theirs)


def test_options_of_later_releases_stand_where_those_print_them() -> None:
    names = [row.name for row in GENERAL_OPTIONS]
    assert names[:5] == ["threads", "events", "time", "warmup-time", "forced-shutdown"]
    assert names[5:8] == ["thread-stack-size", "thread-init-timeout", "rate"]
    assert names[names.index("config-file") + 1] == "luajit-cmd"


def test_own_drivers_are_listed() -> None:
    text = help_text()
    assert (
        "  pgsql - PostgreSQL driver\n  sqlite - SQLite driver\n"
        "  dbapi - Driver for any database with a Python DB-API 2.0 module\n"
        "  null - Null driver: sends nothing\n\n"
    ) in text
    assert "\nsqlite options:\n  --sqlite-db=STRING " in text
    assert "null options:" not in text


@compat("own-help")
def test_own_block_stands_at_the_end() -> None:
    block = help_text().partition("list of options for each test.\n\n")[2]
    workloads, tools, values, commands, end = block.split("\n\n")
    assert workloads.split()[4:] == stock_workloads()
    assert [line.split(" - ")[0] for line in tools.splitlines()[1:]] == [f"  sysbench tools {name}" for name in TOOLS]
    assert re.findall(r": (--\w+)=", values) == ["--percentile", "--rate", "--rate"]
    assert (commands, end) == (
        "Several commands are done in their order: sysbench oltp_read_write prepare run cleanup",
        "",
    )


@pytest.mark.parametrize(
    "value", re.findall(r": (--[a-z]+=\S+)$", help_text().partition("take, too:")[2], re.MULTILINE)
)
def test_values_that_the_help_adds_are_taken(value: str) -> None:
    result = ours(value, "--db-driver=null", "--events=1", "oltp_point_select", "run")
    assert (result.status, "invalid" in result.stdout.lower()) == (0, False)


def test_tools_of_the_help_are_those_there_are() -> None:
    assert [typer_command.callback.__name__ for typer_command in app.registered_commands if typer_command.callback] == [
        *TOOLS
    ]


@compat("own-help")
@pytest.mark.parametrize("test", ["cpu", "oltp_insert", "script.lua"])
def test_options_of_a_test_are_added(test: str, tmp_path: Path) -> None:
    (tmp_path / "script.lua").write_text("print('noise') sysbench.cmdline.options = {mine = {'My own', 5}}")
    general = ours("--help", cwd=tmp_path).stdout
    shown = ours(test, "--help", cwd=tmp_path)
    assert shown.stdout == general + ours(test, "help", cwd=tmp_path).stdout.partition("\n\n")[2].replace("noise\n", "")
    assert (shown.stderr, shown.status) == ("", 0)


def test_script_that_ends_the_process_has_the_help_before(tmp_path: Path) -> None:
    (tmp_path / "ends.lua").write_text("os.exit(0)")
    assert ours("ends.lua", "--help", cwd=tmp_path).stdout == ours("--help").stdout
