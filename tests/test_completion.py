"""Completion on Tab: what is offered, and that each shell offers it."""

import os
import pty
import select
import time
from pathlib import Path

import pytest

from tests.support.on_path import sysbench_on_path
from tests.support.proc import Run, find_program
from tests.support.reference import ours

SCRIPT = """
print('this must not be offered')
sysbench.cmdline.options = {
  table_count = {"How many tables", 1},
  shape = {"Shape of things {round, square}", "round"},
  ["quick-mode"] = {"Be quick", false},
}
sysbench.cmdline.commands = { own = {function() end} }
function event() end
function prepare() end
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "things.lua").write_text(SCRIPT)
    return tmp_path


def offered(folder: Path, *words: str) -> list[str]:
    """The candidates for the last of the words."""
    result = ours("tools", "complete", "--", *words, cwd=folder)
    assert (result.status, result.stderr) == (0, "")
    return [line.partition("\t")[0] for line in result.stdout.splitlines()]


@pytest.mark.parametrize(
    ("words", "candidates"),
    [
        (["cp"], ["cpu"]),
        (["oltp_read"], ["oltp_read_only", "oltp_read_write"]),
        (["thi"], ["things.lua"]),
        (["./thi"], ["./things.lua"]),
        (["to"], ["tools"]),
        (["--time=3", "to"], []),
        (["tools", "comp"], ["compare", "completion"]),
        (["tools", "dr"], ["drivers"]),
        (["cpu", ""], ["run", "help"]),
        (["things.lua", ""], ["prepare", "run", "help", "own"]),
        (["things.lua", "o"], ["own"]),
        (["oltp_insert", "pre"], ["prepare", "prewarm"]),
        (["cpu", "--cpu"], ["--cpu-max-prime="]),
        (["things.lua", "--table"], ["--table-count="]),
        (["things.lua", "--table_"], ["--table_count="]),
        (["things.lua", "--quick"], ["--quick-mode"]),
        (["things.lua", "--quick-mode="], ["--quick-mode=on", "--quick-mode=off"]),
        (["things.lua", "--shape=r"], ["--shape=round"]),
        (["--rand-type=z"], ["--rand-type=zipfian"]),
        (
            ["--db-driver="],
            [f"--db-driver={name}" for name in ("mysql", "pgsql", "sqlite", "dbapi", "null")],
        ),
        (["--pgsql-sslmode=ver"], ["--pgsql-sslmode=verify-ca", "--pgsql-sslmode=verify-full"]),
        (["--time=1", "things.lua", "--verbo"], ["--verbosity="]),
        (["--config-file=missing", "cpu", "--cpu"], ["--cpu-max-prime="]),
        (["no_such_test", "--verbo"], ["--verbosity="]),
        (["no_such_test", ""], []),
        (["--nonsense="], []),
    ],
    ids=" ".join,
)
def test_candidates(folder: Path, words: list[str], candidates: list[str]) -> None:
    assert offered(folder, *words) == candidates


def test_every_option_of_the_help_is_offered(folder: Path) -> None:
    in_help = [line.split()[0] for line in ours("--help").stdout.splitlines() if line.startswith("  --")]
    names = [entry.split("=")[0].removesuffix("[") for entry in in_help]
    assert [name.removesuffix("=") for name in offered(folder, "--")] == names


def test_script_that_hangs_does_not_hang_the_shell(folder: Path) -> None:
    (folder / "hangs.lua").write_text("while true do end")
    assert ours("tools", "complete", "--", "hangs.lua", "", cwd=folder).stdout == ""


def test_bash(folder: Path) -> None:
    script = """
        source <(sysbench tools completion bash)
        compopt() { echo "compopt $*"; }
        try() { COMP_LINE=$1 COMP_POINT=${#1} COMPREPLY=(); _sysbench_py; echo "${COMPREPLY[@]}"; }
        try 'sysbench oltp_re'
        try 'sysbench things.lua '
        try 'sysbench things.lua --table'
        try 'sysbench things.lua --shape=r'
        complete -p sysbench
    """
    with Run(find_program("bash", "bash"), "--norc", "-c", script, cwd=folder, env=sysbench_on_path(folder)) as run:
        result = run.result()
    assert result.stderr == ""
    assert result.stdout.splitlines() == [
        "oltp_read_only oltp_read_write",
        "prepare run help own",
        "compopt -o nospace",
        "--table-count=",
        "round",
        "complete -o bashdefault -o default -F _sysbench_py sysbench",
    ]


def test_fish(folder: Path) -> None:
    script = """
        sysbench tools completion fish | source
        complete -C 'sysbench oltp_re'
        complete -C 'sysbench things.lua ow'
        complete -C 'sysbench things.lua --table'
        complete -C 'sysbench things.lua --shape=r'
    """
    environment = {
        **sysbench_on_path(folder),
        "HOME": str(folder),
        "XDG_CONFIG_HOME": None,
        "XDG_DATA_HOME": None,
    }
    with Run(find_program("fish", "fish"), "--no-config", "-c", script, cwd=folder, env=environment) as run:
        result = run.result()
    lines = [line.partition("\t")[0] for line in result.stdout.splitlines()]
    assert lines == ["oltp_read_only", "oltp_read_write", "own", "--table-count=", "--shape=round"]


def test_zsh(folder: Path) -> None:
    process, terminal = pty.fork()
    if process == 0:
        os.chdir(folder)
        os.environ.update(sysbench_on_path(folder), PS1="", TERM="dumb")
        os.execvp(find_program("zsh", "zsh"), ["zsh", "-f", "-i"])
    try:
        os.write(terminal, b"autoload -Uz compinit && compinit -u -D\n")
        os.write(terminal, b". =(sysbench tools completion zsh) && echo re''ady\n")
        _read_until(terminal, b"ready")
        for typed, completed in [
            (b"sysbench oltp_read_w\t", b"oltp_read_write "),
            (b"sysbench things.lua --table\t", b"--table-count="),
            (b"sysbench things.lua --shape=r\t", b"--shape=round "),
        ]:
            os.write(terminal, typed)
            _read_until(terminal, completed)
            os.write(terminal, b"\x15")
        os.write(terminal, b"exit\n")
    finally:
        os.close(terminal)
        os.waitpid(process, 0)


def _read_until(terminal: int, text: bytes, timeout_s: float = 60) -> None:
    """Read what the shell shows, until it has shown `text`, with or without what makes it bold."""
    shown = b""
    deadline = time.monotonic() + timeout_s
    while text not in shown.replace(b"\x1b[1m", b"").replace(b"\x1b[0m", b""):
        ready, _, _ = select.select([terminal], [], [], max(0.0, deadline - time.monotonic()))
        if not ready:
            pytest.fail(f"zsh never showed {text!r}, but {shown!r}")
        shown += os.read(terminal, 4096)
