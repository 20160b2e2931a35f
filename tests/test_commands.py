"""Several commands, none, scripts from a terminal, as programs, and the tools beside them."""

import os
import pty
import re
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.compat import compat
from tests.support.on_path import sysbench_on_path
from tests.support.proc import Run
from tests.support.reference import ours

STEPS = """
function prepare() print('prepared') end
function event() end
function cleanup() print('cleaned') end
sysbench.cmdline.commands = { warm = {function() print('warm', sysbench.cmdline.command) end},
                              no = {function() return false end} }
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "steps.lua").write_text(STEPS)
    return tmp_path


@compat("several-commands")
def test_commands_are_done_one_after_the_other(folder: Path) -> None:
    result = ours("steps.lua", "--events=3", "prepare", "warm", "run", "cleanup", cwd=folder)
    assert (result.status, result.stderr) == (0, "")
    parts = ["prepared", "warm\twarm", "total number of events:              3", "cleaned"]
    assert sorted(parts, key=result.stdout.index) == parts
    assert result.stdout.count("(using bundled LuaJIT") == 1


def test_the_first_command_that_fails_is_the_last(folder: Path) -> None:
    result = ours("steps.lua", "prepare", "no", "cleanup", cwd=folder)
    assert result.status == 1
    assert "prepared" in result.stdout
    assert "cleaned" not in result.stdout


def test_nothing_is_done_if_a_later_command_does_not_exist(folder: Path) -> None:
    result = ours("steps.lua", "prepare", "rnu", cwd=folder)
    assert (result.status, result.stderr) == (
        1,
        "Unrecognized command line argument: rnu (did you mean 'run'?)\n",
    )
    assert "prepared" not in result.stdout


@compat("loaded-only")
def test_script_without_a_command_names_those_that_it_has(folder: Path) -> None:
    result = ours("steps.lua", cwd=folder)
    assert result.status == 0
    assert result.stderr == (
        "steps.lua was loaded and no more; its commands are prepare, run, cleanup, no, warm: "
        "type for example 'sysbench steps.lua run'\n"
    )


def test_the_body_of_a_script_that_has_no_commands_is_all(folder: Path) -> None:
    (folder / "hello.lua").write_text("print('hello')")
    result = ours("hello.lua", cwd=folder)
    assert (result.status, result.stderr) == (0, "")
    assert result.stdout.endswith("\n\nhello\n")


def test_alone_on_a_terminal_it_says_what_to_type() -> None:
    main, terminal = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "sysbench_py"], stdin=terminal, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    os.close(terminal)
    os.write(main, b"print('typed')\n\x04")
    stdout, stderr = process.communicate(timeout=60)
    os.close(main)
    assert stdout.endswith(b"\n\nReading the script from the standard input:\n\ntyped\n")
    assert b"'sysbench --help'" in stderr
    assert process.returncode == 0


def test_script_can_be_a_program(folder: Path) -> None:
    script = folder / "program"
    script.write_text("#!/usr/bin/env sysbench\nfunction event() end\nprint(sysbench.cmdline.script_path)\n")
    script.chmod(script.stat().st_mode | stat.S_IXUSR)
    with Run("./program", "--events=2", "run", cwd=folder, env=sysbench_on_path(folder)) as run:
        result = run.result()
    assert result.status == 0
    assert "./program\n" in result.stdout
    assert "total number of events:              2\n" in result.stdout


def test_a_test_with_the_name_of_the_tools_is_found_by_its_path(tmp_path: Path) -> None:
    (tmp_path / "tools").write_text("print('a script')")
    for name in ("tools", "./tools"):
        assert ours(name, cwd=tmp_path).stdout.endswith("\na script\n")


def test_tools_are_listed(tmp_path: Path) -> None:
    result = ours("tools", "--help", cwd=tmp_path)
    assert result.status == 0
    assert "  completion  " in result.stdout


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("tools nonsense", "sysbench tools: .*nonsense.*"),
        ("tools comp", "sysbench tools: .*comp.*"),
        ("tools --nonsense", "sysbench tools: .*--nonsense.*"),
        ("tools completion", "sysbench tools completion: .*bash, zsh, fish.*"),
        ("tools completion tcsh", "sysbench tools completion: .*'tcsh' is not one of 'bash', 'zsh', 'fish'.*"),
        ("tools drivers --nonsense", "sysbench tools drivers: .*--nonsense.*"),
        ("tools report", "sysbench report: Missing argument 'FILE'."),
        ("report", "sysbench report: Missing argument 'FILE'."),
        ("report a b", "sysbench report: .*b.*"),
        ("compare", "sysbench compare: Missing argument 'A B...'."),
        ("ab", "sysbench ab: .*TEST.*"),
    ],
)
def test_wrong_use_of_the_tools_is_a_line_and_status_1(arguments: str, said: str, tmp_path: Path) -> None:
    result = ours(*arguments.split(), cwd=tmp_path)
    assert (result.stdout, result.status) == ("", 1)
    assert re.fullmatch(f"{said}\n", result.stderr)
    assert "'complete'" not in result.stderr


def test_tools_alone_are_listed(tmp_path: Path) -> None:
    result = ours("tools", cwd=tmp_path)
    assert (result.stdout, result.status) == (ours("tools", "--help", cwd=tmp_path).stdout, 1)
    assert "..." not in result.stdout.partition("Commands:")[2]


def test_typer_is_only_imported_for_the_tools() -> None:
    code = (
        "import sys; from sysbench_py.cli import run; run(['sysbench', 'cpu', '--events=1', 'run']);"
        "print({'typer', 'rich', 'pymysql', 'psycopg2'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.endswith("set()\n")


def test_a_run_with_standard_error_closed_keeps_its_results(tmp_path: Path) -> None:
    command = f"{sys.executable} -m sysbench_py cpu --events=20 --time=10 --output=json:a.json run 2>&-"
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parent.parent)}
    done = subprocess.run(
        ["sh", "-c", command], cwd=tmp_path, env=environment, stdout=subprocess.PIPE, text=True, check=False
    )
    assert done.returncode == 0
    assert "Threads fairness:" in done.stdout
    assert (tmp_path / "a.json").stat().st_size > 0


@pytest.mark.parametrize("arguments", [["--help"], ["cpu", "--time=100", "--report-interval=1", "run"]], ids=" ".join)
def test_it_ends_when_nobody_reads_the_output(arguments: list[str]) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(
        [sys.executable, "-m", "sysbench_py", *arguments],
        stdout=writer,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    os.close(writer)
    assert done.returncode == -13
    assert done.stderr == ""


@pytest.mark.parametrize(
    ("command", "status"), [("off", "false"), ("on", "true"), ("off=", "false"), ("opt=3,-loop", "true")]
)
def test_luajit_commands(command: str, status: str) -> None:
    result = ours(f"--luajit-cmd={command}", "-", stdin="print((jit.status()))")
    assert (result.status, result.stdout.splitlines()[-1]) == (0, status)


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("nonsense", "FATAL: unknown luaJIT command or jit.* modules not installed"),
        ("opt=nonsense", "FATAL: unknown or malformed optimization flag 'nonsense'"),
    ],
)
def test_wrong_luajit_commands(command: str, message: str) -> None:
    result = ours(f"--luajit-cmd={command}", "-", stdin="print('loaded')")
    assert (result.status, result.stdout.splitlines()[2:]) == (1, [message])


def test_luajit_command_is_given_to_every_state(tmp_path: Path) -> None:
    (tmp_path / "show.lua").write_text(
        "function thread_init() io.write('jit ' .. tostring((jit.status())) .. '\\n') end\nfunction event() end"
    )
    result = ours("show.lua", "--luajit-cmd=off", "--threads=3", "--events=1", "run", cwd=tmp_path)
    assert result.stdout.count("jit false\n") == 3
    assert ours("cpu", "--luajit-cmd=nonsense", "--events=1", "run").status == 0


def test_wrong_options_of_a_driver_are_told_to_scripts_that_use_it(tmp_path: Path) -> None:
    (tmp_path / "named.lua").write_text(
        "function prepare() print(pcall(function() sysbench.sql.driver('mysql'):connect() end)) end\n"
        "function cleanup() print('cleaned') end"
    )
    options = ("--mysql-host=", "--db-driver=null", "named.lua")
    assert ours(*options, "cleanup", cwd=tmp_path).stdout.endswith("\n\ncleaned\n")
    result = ours(*options, "prepare", cwd=tmp_path)
    assert "FATAL: No MySQL hosts specified, aborting\n" in result.stdout
    assert "connection creation failed" in result.stdout
