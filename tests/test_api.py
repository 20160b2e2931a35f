"""Running tests from Python."""

from __future__ import annotations

import pickle
import subprocess
import sys
from pathlib import Path

import pytest

import sysbench_py
from sysbench_py import CommandFailed, Plan

ROOT = Path(__file__).parent.parent


def test_a_run_returns_everything_that_was_measured() -> None:
    plan = Plan(test="cpu", options={"threads": 2, "events": 40, "time": 0, "percentile": [50, 99.9]})
    result = sysbench_py.run(plan)
    assert (result.setup.test, result.setup.threads, result.exit_status) == ("cpu", 2, 0)
    assert result.total.counters.events == result.total.latency.histogram.count == 40
    assert [percentile.percent for percentile in result.total.latency.percentiles] == [50, 99.9]
    assert sum(worker.events for worker in result.total.workers) == 40
    assert sum(interval.counters.events for interval in result.intervals) == 40


def test_a_test_is_prepared_run_and_cleaned_up(tmp_path: Path) -> None:
    database = tmp_path / "test.db"
    options = {"db_driver": "sqlite", "sqlite_db": str(database), "table_size": 100, "events": 5, "skip_trx": True}
    plan = Plan(test="oltp_read_only", options=options)
    sysbench_py.prepare(plan)
    there = "Tables of an earlier 'prepare' are there: remove them with 'sysbench oltp_read_only cleanup' and the same"
    with pytest.raises(CommandFailed, match=rf"^prepare: exit status 1: FATAL: .* \({there} options\)$"):
        sysbench_py.prepare(plan)
    result = sysbench_py.run(plan)
    assert (result.total.counters.events, result.total.counters.reads) == (5, 70)
    assert result.setup.options["skip_trx"] is True
    sysbench_py.cleanup(plan)
    with pytest.raises(CommandFailed, match=r"^run: exit status 1: FATAL: .*no such table"):
        sysbench_py.run(plan)


def test_a_wrong_plan_is_told_in_the_words_of_the_command(tmp_path: Path) -> None:
    with pytest.raises(CommandFailed, match=r"^run: exit status 1: invalid option: --thread=1") as error:
        sysbench_py.run(Plan(test="cpu", options={"thread": 1}))
    assert error.value.status == 1
    with pytest.raises(CommandFailed, match=f"Cannot find benchmark '{tmp_path}/none.lua'"):
        sysbench_py.prepare(Plan(test=f"{tmp_path}/none.lua"))


def test_a_run_that_fails_after_some_events_has_a_result(tmp_path: Path) -> None:
    script = tmp_path / "fails.lua"
    script.write_text("local n = 0 function event() n = n + 1 if n > 3 then error('enough') end end")
    result = sysbench_py.run(Plan(test=str(script)))
    assert (result.exit_status, result.total.counters.events) == (1, 3)


def test_a_plan_can_be_pickled() -> None:
    plan = Plan(test="cpu", options={"threads": 2})
    assert pickle.loads(pickle.dumps(plan)) == plan


@pytest.mark.parametrize("example", sorted((ROOT / "examples").glob("*.py")), ids=lambda path: path.stem)
def test_examples_in_python_run(example: Path, tmp_path: Path) -> None:
    shown = subprocess.run([sys.executable, str(example)], cwd=tmp_path, check=True, capture_output=True, text=True)
    assert "99.9% took at most" in shown.stdout
