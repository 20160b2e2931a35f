"""--live: a table on the terminal while a run lasts, and nothing of it afterwards."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from sysbench_py.live import BARS, sparkline
from tests.support.postgres import PostgreSQL
from tests.support.reference import ours, report
from tests.support.terminal import CONTROL, on_terminal, screen, without_numbers

RUN = ("cpu", "--threads=2", "--time=2", "--report-interval=1", "--rand-seed=1", "run")


def frames(got: str) -> list[list[str]]:
    """The tables, as they were drawn."""
    return [screen(f"╭{part}") for part in CONTROL.sub("", got).split("╭")[1:]]


@pytest.mark.parametrize("columns", [80, 120])
def test_the_table_fits_and_the_report_follows_as_usual(tmp_path: Path, columns: int) -> None:
    _, got = on_terminal(*RUN, "--live", "--percentile=99.9", cwd=tmp_path, stdout_too=True, columns=columns)
    drawn = [[line for line in frame if line[:1] in tuple("╭│╰")] for frame in frames(got)]
    assert drawn
    for frame in drawn:
        assert {len(line) for line in frame} == {min(columns - 1, 120)}
        text = "\n".join(frame)
        assert "2 threads" in text
        for label in ("events/s", "p50, ms", "p95, ms", "p99, ms", "p99.9, ms", "max, ms"):
            assert re.search(rf"│  {label} +[\d,.]+ +[\d,.]+ +[{BARS}]+ +│", text), (label, text)
        assert "errors/s" not in text
        # The first at one second, or later on a busy machine.
        assert re.search(r"━+╌*  [12] s, [01] s left │", text)
    plain = ours(*RUN, "--percentile=99.9", cwd=tmp_path).stdout
    assert without_numbers(screen(got)) == without_numbers(plain.split("\n"))


def test_a_run_on_a_server_shows_transactions_and_errors(postgres: PostgreSQL, tmp_path: Path) -> None:
    postgres.empty_database()
    workload = ("oltp_read_only", *postgres.args, "--tables=1", "--table-size=100")
    assert ours(*workload, "prepare", cwd=tmp_path).status == 0
    limits = ("--time=2", "--events=1000000", "--rate=50")
    _, got = on_terminal(*workload, *limits, "--live", "run", cwd=tmp_path, stdout_too=True)
    text = "\n".join(frames(got)[0])
    for label in ("tps", "queries/s", "errors/s", "queue"):
        assert f"│  {label} " in text
    assert re.search(r"[01] s left, [\d,]+ of 1,000,000 events", text)


def test_ctrl_c_ends_it_with_the_report(tmp_path: Path) -> None:
    run = ("cpu", "--time=100", "--live", "run")
    _, got = on_terminal(*run, cwd=tmp_path, stdout_too=True, interrupt_at="╰", status=130)
    shown = "\n".join(screen(got))
    assert "╰" not in shown
    assert "FATAL: interrupted by SIGINT after " in shown
    assert "total number of events: " in shown


def test_without_a_terminal_a_line_says_so(tmp_path: Path) -> None:
    result = ours("cpu", "--events=5", "--live", "run", cwd=tmp_path)
    assert result.stderr == "--live shows nothing, as standard output is not a terminal\n"
    assert report(result.stdout)["events"] == 5
    assert "\x1b" not in result.stdout


def test_bars_are_as_high_as_their_values() -> None:
    assert sparkline([0, 1, 7, 3.5]) == " ▂█▅"
    assert sparkline([0, 0]) == "  "
    assert sparkline([]) == ""
