"""Files that never end, or are much too large, and names that are no UTF-8: one line, and no hang."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from tests.support.proc import Result, Run
from tests.support.reference import ours

ENDLESS = "/dev/zero"


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (f"--config-file={ENDLESS} cpu run", f"Cannot read the config file '{ENDLESS}': File too large"),
        (f"report {ENDLESS}", f"FATAL: '{ENDLESS}' is no result that --output=json has written: no JSON"),
        (f"compare {ENDLESS} {ENDLESS}", f"FATAL: '{ENDLESS}' is no result that --output=json has written: no JSON"),
        (
            f"oltp_point_select --mysql-password-file={ENDLESS} run",
            f"FATAL: Cannot read --mysql-password-file '{ENDLESS}': File too large",
        ),
        (
            f"oltp_point_select --db-driver=dbapi --dbapi-module=sqlite3 --dbapi-connect=@{ENDLESS} run",
            f"FATAL: Cannot read --dbapi-connect file '{ENDLESS}': File too large",
        ),
        (f"{ENDLESS} run", f"FATAL: {ENDLESS}:1: unexpected symbol"),
    ],
)
def test_an_endless_file_is_an_error(tmp_path: Path, line: str, said: str) -> None:
    result = ours(*line.split(), cwd=tmp_path)
    assert result.status == 1
    assert said in result.stdout + result.stderr


def test_an_endless_option_file_of_mysqlslap_is_an_error(tmp_path: Path) -> None:
    environment = {"PYTHONPATH": str(Path(__file__).parent.parent)}
    command = (sys.executable, "-m", "sysbench_py.mysqlslap", f"--defaults-file={ENDLESS}", "-a")
    with Run(*command, cwd=tmp_path, env=environment) as run:
        result = run.result()
    assert (result.status, result.stdout) == (1, "")
    assert result.stderr == f"mysqlslap-py: Cannot read the option file '{ENDLESS}': File too large\n"


def test_a_pipe_is_read_to_its_end(tmp_path: Path) -> None:
    assert ours("cpu", "--events=5", "--time=0", "--output=json:a.json", "run", cwd=tmp_path).status == 0
    command = f"cat a.json | {sys.executable} -m sysbench_py report /dev/stdin"
    environment = {"PYTHONPATH": str(Path(__file__).parent.parent)}
    with Run("sh", "-c", command, cwd=tmp_path, env=environment) as run:
        result = run.result()
    assert (result.status, "total number of events:              5\n" in result.stdout) == (0, True)


def test_a_name_that_is_no_text_is_shown_as_it_is(tmp_path: Path) -> None:
    name = os.fsdecode(b"\xff.json")
    command = (sys.executable, "-m", "sysbench_py", "report", name)
    environment = {"PYTHONPATH": str(Path(__file__).parent.parent)}
    with Run("sh", "-c", 'exec "$@" 2> err', "sh", *command, cwd=tmp_path, env=environment) as run:
        assert run.result() == Result("", "", 1)
    assert (tmp_path / "err").read_bytes() == b"FATAL: Cannot read '\xff.json': No such file or directory\n"
