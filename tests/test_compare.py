"""Comparisons: what is found, what is not, and how often chance is taken for a difference."""

from __future__ import annotations

import math
import re
import signal
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from sysbench_py.errors import UsageError
from sysbench_py.experiments.bootstrap import Ratio, student_quantile
from sysbench_py.experiments.comparison import (
    FEWEST_PAIRS,
    Line,
    Metric,
    Side,
    compare,
    differences,
    regressions,
    verdict,
)
from sysbench_py.experiments.layout import relative
from sysbench_py.sinks.json_document import render
from sysbench_py.stats.result import RunResult
from tests.support.durable_postgres import DurablePostgreSQL
from tests.support.on_path import sysbench_on_path
from tests.support.proc import Result, Run
from tests.support.reference import ours
from tests.support.results import SETUP, result

ROOT = Path(__file__).parent.parent
COMPARISONS = 100


@pytest.mark.parametrize(
    ("share", "freedom", "quantile"),
    # From the tables of Student's distribution.
    [
        (0.975, 1, 12.706),
        (0.975, 2, 4.303),
        (0.975, 4, 2.776),
        (0.995, 4, 4.604),
        (0.95, 10, 1.812),
        (0.975, 1e4, 1.96),
    ],
)
def test_student_quantile(share: float, freedom: float, quantile: float) -> None:
    assert student_quantile(share, freedom) == pytest.approx(quantile, abs=1e-3)


def one_run(random: np.random.Generator, intervals: int, correlation: float, factor: float = 1) -> Side:
    """A run whose throughput wanders by 5 %, one interval being like the one before."""
    level, rates = random.normal(), []
    for _ in range(intervals):
        level = correlation * level + random.normal() * (1 - correlation**2) ** 0.5
        rates.append(float(1000 * factor * np.exp(0.05 * level)))
    return Side("run", [result(rates, [1000 / rate for rate in rates])])


def runs(random: np.random.Generator, spread: float, number: int, factor: float = 1) -> Side:
    """Several runs whose throughput differs by such a share, as normal deviates do."""
    rates = [float(1000 * factor * np.exp(spread * random.normal())) for _ in range(number)]
    return Side("runs", [result([rate], [1000 / rate]) for rate in rates])


def found(lines: list[Line]) -> bool:
    return any(line.shown for line in lines)


@pytest.mark.parametrize("correlation", [0, 0.8])
def test_false_alarms_of_single_runs_are_rare_if_intervals_hang_together(correlation: float) -> None:
    random = np.random.default_rng(1)
    sides = [one_run(random, 20, correlation) for _ in range(2 * COMPARISONS)]
    pairs = zip(sides[::2], sides[1::2], strict=True)
    alarms = sum(found(compare({"": pair}, ())) for pair in pairs)
    assert alarms <= 0.1 * COMPARISONS


@pytest.mark.parametrize("number", [2, 4])
def test_false_alarms_of_several_runs_are_as_rare_as_they_should_be(number: int) -> None:
    random = np.random.default_rng(number)
    pairs = [(runs(random, 0.03, number), runs(random, 0.03, number)) for _ in range(COMPARISONS)]
    alarms = sum(found(compare({"": pair}, ())) for pair in pairs)
    assert alarms <= 0.1 * COMPARISONS
    if number >= FEWEST_PAIRS:
        paired = sum(found(compare({"": pair}, (), paired=True)) for pair in pairs)
        assert paired <= 0.1 * COMPARISONS


def test_two_pairs_give_no_interval_and_three_one_that_says_something() -> None:
    random = np.random.default_rng(3)
    with pytest.raises(UsageError, match="are 2 pairs, too few to give an interval: it takes 3 or more"):
        compare({"": (runs(random, 0.01, 2), runs(random, 0.01, 2))}, (), paired=True)
    widths = [
        line.ratio.high / line.ratio.low
        for _ in range(20)
        for line in compare({"": (runs(random, 0.01, 3), runs(random, 0.01, 3))}, (), paired=True)
    ]
    assert sorted(widths)[len(widths) // 2] < 1.2


def test_a_single_run_against_several_is_held_to_their_spread() -> None:
    random = np.random.default_rng(5)
    pairs = [(runs(random, 0.03, 5), runs(random, 0.03, 1)) for _ in range(COMPARISONS)]
    for swapped in (False, True):
        alarms = sum(found(compare({"": (b, a) if swapped else (a, b)}, ())) for a, b in pairs)
        assert alarms <= 0.1 * COMPARISONS
    a, b = runs(random, 0.01, 5), runs(random, 0.01, 1, 1.3)
    assert compare({"": (a, b)}, ())[0].ratio.low > 1
    assert compare({"": (b, a)}, ())[0].ratio.high < 1


def test_what_is_different_is_found() -> None:
    random = np.random.default_rng(2)
    lines = compare({"": (runs(random, 0.02, 5), runs(random, 0.02, 5, 0.8))}, (50, 95))
    assert [line.shown for line in lines] == [True] * 3
    assert lines[0].ratio.value == pytest.approx(0.8, rel=0.05)
    assert lines[1].ratio.value == pytest.approx(1.25, rel=0.05)
    assert lines[0].ratio.low < 0.8 < lines[0].ratio.high
    assert verdict(lines).startswith("B is worse: throughput ")
    assert [line.title for line in regressions(lines, 0.1)] == ["throughput", "p50 latency", "p95 latency"]
    assert regressions(lines, 0.5) == []
    single = compare({"": (one_run(random, 40, 0.5), one_run(random, 40, 0.5, 1.5))}, ())
    assert verdict(single).startswith("B is better: throughput ")
    assert regressions(single, 0) == []


def test_pairs_cancel_what_both_runs_have_met_alike() -> None:
    rates = [1000.0, 700.0, 1400.0, 500.0, 1100.0]
    a = Side("a", [result([rate], [1]) for rate in rates])
    b = Side("b", [result([rate * share], [1]) for rate, share in zip(rates, (0.9, 0.91, 0.9, 0.89, 0.9), strict=True)])
    assert not found(compare({"": (a, b)}, ()))
    (line,) = compare({"": (a, b)}, (), paired=True)
    assert line.shown
    assert line.ratio.value == pytest.approx(0.9, rel=0.01)


def test_a_step_of_the_clock_is_no_difference() -> None:
    """All runs alike to the last digit, and one step of 10 ns between the sides."""
    a = Side("a", [result([1000, 1000], [0.00102, 0.00103])] * 4)
    b = Side("b", [result([1000, 1000], [0.00103, 0.00104])] * 4)
    assert not found(compare({"": (a, b)}, (25, 50, 95)))


def test_intervals_are_wider_the_more_of_them_must_hold_together() -> None:
    random = np.random.default_rng(3)
    pair = (runs(random, 0.02, 5), runs(random, 0.02, 5))
    alone, with_others = compare({"": pair}, ())[0].ratio, compare({"x=1": pair, "x=2": pair}, (50,))[0].ratio
    assert with_others.low < alone.low < 1 < alone.high < with_others.high


def test_runs_that_say_too_little_are_refused() -> None:
    run = result([1000] * 9, [1] * 9)
    for interval_s, shorter in ((0, ""), (1, ""), (2, " or a shorter --report-interval")):
        side = Side("short.json", [replace(run, setup=replace(run.setup, report_interval_s=interval_s))])
        with pytest.raises(UsageError) as error:
            compare({"": (side, side)}, ())
        assert error.value.line == (
            "FATAL: 'short.json' is one run of 9 full intervals, too few to compare: it takes 10 (a longer "
            f"--time{shorter}), or several runs in a folder"
        )
    with pytest.raises(UsageError, match="there is nothing to compare"):
        Side("idle.json", [result([0], [1])])


def test_how_set_ups_differ() -> None:
    other = replace(SETUP, options={"threads": 4.0, "n": ("a", "b"), "y": False}, engine="engine 2")
    assert differences(SETUP, other) == ["engine engine 1 / engine 2", "threads 1 / 4", "n - / a,b", "y - / off"]


@pytest.mark.parametrize(
    ("ratio", "text"),
    [
        (1, "equal"),
        (0.253, "74.7% lower"),
        (0.0004, "99.96% lower"),
        (1e-9, "more than 99.9999% lower"),
        (0.99962, "0.04% lower"),
        (1 + 1e-12, "less than 0.0001% higher"),
        (1.021, "2.1% higher"),
        (1.9999, "99.99% higher"),
        (2, "2.0 times as high"),
        (12345.6, "12,345.6 times as high"),
        (math.inf, "more than 1,000,000 times as high"),
    ],
)
def test_ratios_in_words(ratio: float, text: str) -> None:
    assert relative(ratio) == text


@pytest.mark.parametrize(
    ("where", "low", "high", "text"),
    [
        ("", 0.253, 3.95, "throughput may be anything from 74.7% lower to 4.0 times as high"),
        ("", 0.97, 1.021, "throughput may be anything from 3.0% lower to 2.1% higher"),
        ("threads=4", 1, 1.021, "throughput at threads=4 may be anything from equal to 2.1% higher"),
        ("", 1, 1, "throughput may be equal"),
    ],
)
def test_what_is_said_of_no_difference(where: str, low: float, high: float, text: str) -> None:
    line = Line(where, Metric(None), 1, 1, Ratio(1, low, high))
    assert verdict([line]) == f"no difference shown: compared with A's, B's {text}"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Files `steady.json`, `slow.json`, folders `base`, `worse` with several runs."""
    random = np.random.default_rng(4)
    save(tmp_path / "steady.json", one_run(random, 30, 0.3).runs[0])
    save(tmp_path / "slow.json", one_run(random, 30, 0.3, 0.5).runs[0])
    for name, factor in (("base", 1), ("worse", 0.9)):
        (tmp_path / name).mkdir()
        for number, run in enumerate(runs(random, 0.01, 4, factor).runs):
            save(tmp_path / name / f"{number}.json", run)
    return tmp_path


def save(file: Path, run: RunResult) -> None:
    file.write_text(render(run))


def test_files_and_folders_and_the_exit_status(folder: Path) -> None:
    alone = ours("compare", "steady.json", "slow.json", "base", "--fail-above=5%", cwd=folder)
    assert (alone.status, alone.stderr) == (1, "")
    assert "A: steady.json (1 run)\nB: slow.json (1 run)\n" in alone.stdout
    assert "A: steady.json (1 run)\nB: base (4 runs)\n" in alone.stdout
    assert "\nB is worse: throughput " in alone.stdout
    assert "\nworse by more than 5%: throughput " in alone.stdout
    passed = ours("tools", "compare", "base", "worse", "--fail-above=20", "--percentile=99.9", cwd=folder)
    assert (passed.status, passed.stderr) == (0, "")
    assert "p99.9 latency, ms" in passed.stdout
    assert "\nB is worse: throughput " in passed.stdout


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (("base",), "compare needs two results or more: sysbench compare A.json B.json"),
        (("base", "none.json"), "Cannot read 'none.json': No such file or directory"),
        (("base", "empty"), "'empty' has no results that --output=json has written"),
        (("base", "text.json"), "'text.json' is no result that --output=json has written: no JSON: "),
        (
            ("base", "old.json"),
            "'old.json' is no result that --output=json has written: schema_version is 99, and this",
        ),
        (("base", "cut.json"), "'cut.json' is of a run that did not end well (exit status 130)"),
        (("base", "worse", "--fail-above=much"), "Invalid value for --fail-above: 'much' (write for example 5%)"),
        (("base", "worse", "--percentile=0"), "Invalid value for --percentile: '0' (write for example 50,95,99.9)"),
        (
            ("base", "steady.json", "--paired"),
            "pairs need as many runs of 'base' as of 'steady.json', and there are ",
        ),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_mistakes_are_one_line(folder: Path, arguments: tuple[str, ...], line: str) -> None:
    (folder / "empty").mkdir()
    (folder / "text.json").write_text("text")
    (folder / "old.json").write_text('{"schema_version": 99}')
    save(folder / "cut.json", replace(result([1000] * 12, [1] * 12), exit_status=130))
    shown = ours("compare", *arguments, cwd=folder)
    assert (shown.status, shown.stdout) == (1, "")
    assert shown.stderr.startswith(f"FATAL: {line}")
    assert shown.stderr.count("\n") == 1


SCRIPT = """
sysbench.cmdline.options = {us = {"Time of an event", 1000}, fail = {"Fail", false}}
ffi.cdef("int usleep(unsigned)")
function thread_init() if sysbench.opt.fail then error("no luck", 0) end end
function event() ffi.C.usleep(sysbench.opt.us) end
function prepare() end
"""


@pytest.fixture
def script(tmp_path: Path) -> Path:
    (tmp_path / "t.lua").write_text(SCRIPT)
    (tmp_path / "u.lua").write_text(SCRIPT.replace("1000", "9000"))
    return tmp_path


def test_sweeps_point_by_point(script: Path) -> None:
    quick = ("--time=0", "--events=20", "--repeats=2", "--pictures=")
    for name, values in (("a", "1,2"), ("b", "2,4")):
        done = ours("sweep", "t.lua", f"--threads={values}", *quick, f"--folder={name}", "run", cwd=script)
        assert done.status == 0, done.stderr
    compared = ours("compare", "a", "b", "--percentile=50", cwd=script)
    assert compared.status == 1
    assert "\nthreads=2: throughput, 1/s " in compared.stdout
    assert compared.stderr == (
        "FATAL: 'b' has no result of threads=1, which 'a' has\nFATAL: 'a' has no result of threads=4, which 'b' has\n"
    )


def ab(folder: Path, *arguments: str) -> Result:
    return ours("ab", *arguments, "--time=0", "--events=20", "--folder=out", "run", cwd=folder)


def test_ab_of_two_scripts(script: Path) -> None:
    shown = ab(script, "t.lua", "--b=u.lua", "--pairs=3", "--compare-percentile=50", "--fail-above=5%")
    # On a busy machine three pairs may be too different from each other to show anything.
    shows = "\nworse by more than 5%: " in shown.stdout
    assert (shown.status, shown.stderr) == (int(shows), "")
    order = [line.split(":")[0] for line in shown.stdout.splitlines() if line.startswith("pair ")]
    assert order == ["pair 1, A", "pair 1, B", "pair 2, B", "pair 2, A", "pair 3, A", "pair 3, B"]
    assert "\nset-up, A / B: test t.lua / u.lua; us 1000 / 9000\n" in shown.stdout
    assert ("\nB is worse: " if shows else "\nno difference shown: ") in shown.stdout
    again = ours("compare", "--paired", "out/a", "out/b", "--percentile=50", "--fail-above=5%", cwd=script)
    assert again.status == shown.status
    assert again.stdout.splitlines()[-6:] == shown.stdout.splitlines()[-6:]


def test_ab_with_a_side_that_fails(script: Path) -> None:
    shown = ab(script, "t.lua", "--b=--fail", "--pairs=3")
    assert shown.status == 1
    assert "pair 2, B failed: run: exit status 1: FATAL: `thread_init' function failed: no luck" in shown.stdout
    assert shown.stderr == "FATAL: 0 complete pairs are too few to give an interval, it takes 3: see out\n"


def test_the_example_runs(tmp_path: Path) -> None:
    environment = {**sysbench_on_path(tmp_path), "SYSBENCH_LIMIT": "--time=0 --events=50"}
    with Run("sh", str(ROOT / "examples" / "sweep_and_compare.sh"), cwd=tmp_path, env=environment) as running:
        shown = running.result()
    assert (shown.status, shown.stderr) == (0, "")
    assert "\nbest: threads=" in shown.stdout
    assert shown.stdout.count("\nset-up, A / B: db_ps_mode auto / disable\n") == 2
    assert (tmp_path / "sweep" / "sweep.png").exists()


def test_too_few_pairs_at_ctrl_c_are_not_said_to_compare(script: Path) -> None:
    arguments = ("t.lua", "--b=--us=2000", "--time=1", "--warmup-time=0", "--pairs=9", "--folder=out", "run")
    with ours.start("ab", *arguments, cwd=script) as running:
        running.wait_for("pair 1, A")
        running.process.send_signal(signal.SIGINT)
        shown = running.result()
    # More than none if the signal comes late.
    told = r"interrupted by SIGINT: (0 of 9 pairs are|1 of 9 pairs is|2 of 9 pairs are) done\n"
    assert (shown.status, bool(re.fullmatch(told, shown.stderr))) == (130, True), shown.stderr


def test_ctrl_c_keeps_complete_pairs(script: Path) -> None:
    arguments = ("t.lua", "--b=--us=2000", "--time=1", "--warmup-time=0", "--pairs=9", "--folder=out", "run")
    with ours.start("ab", *arguments, cwd=script) as running:
        running.wait_for("pair 4, B")
        running.process.send_signal(signal.SIGINT)
        # timeout(1) sends it to the process and to its group.
        running.process.send_signal(signal.SIGINT)
        shown = running.result()
    assert shown.status == 130
    again = "sysbench compare --paired out/a out/b compares them"
    # More than three if the signal comes late.
    match = re.fullmatch(rf"interrupted by SIGINT: ([3-8]) of 9 pairs are done; {again}\n", shown.stderr)
    assert match, shown.stderr
    assert sorted(path.relative_to(script / "out").as_posix() for path in (script / "out").rglob("*.*")) == [
        f"{side}/{pair:03d}.json" for side in ("a", "b") for pair in range(1, int(match[1]) + 1)
    ]


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (("t.lua",), "ab compares two set-ups: give --a='...' or --b='...', for example --b='--threads=8'"),
        (("t.lua", "--b=--nosuch"), "invalid option: --nosuch"),
        (("t.lua", "--b=none.lua"), "FATAL: Cannot find benchmark 'none.lua'"),
        (("t.lua", "--b=a.lua b.lua"), "'a.lua b.lua' has more than one test: a.lua and b.lua"),
        (("t.lua", "--b='x"), "''x' cannot be read: No closing quotation"),
        (("t.lua", "--b=--us=2", "--compare-percentile=x"), "FATAL: Invalid value for --compare-percentile: 'x'"),
        (("t.lua", "--b=--us=2", "--pairs=1"), "FATAL: Invalid value for --pairs: 1 (must be at least 3: fewer give"),
        (("t.lua", "--b=--us=2", "--pairs=2"), "FATAL: Invalid value for --pairs: 2 (must be at least 3: fewer give"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_mistakes_of_ab_are_one_line(script: Path, arguments: tuple[str, ...], line: str) -> None:
    shown = ab(script, *arguments)
    assert (shown.status, shown.stdout) == (1, "")
    assert shown.stderr.startswith(line)
    assert shown.stderr.count("\n") == 1
    assert not (script / "out").exists()


@pytest.fixture
def durable_postgres() -> Iterator[DurablePostgreSQL]:
    with closing(DurablePostgreSQL()) as server:
        server.start()
        yield server


def test_commits_that_wait_for_the_disk_are_found_on_postgresql(
    durable_postgres: DurablePostgreSQL, tmp_path: Path
) -> None:
    options = [option for option in durable_postgres.args if "user" not in option]
    workload = ("oltp_update_non_index", "--table-size=500", "--time=0", "--events=100")
    sides = ("--a=--pgsql-user=sbasync", "--b=--pgsql-user=sbtest", "--pairs=4", "--fail-above=5%")
    # The owner of the tables is the same on both sides.
    assert ours(*workload, *options, "--pgsql-user=sbtest", "prepare").status == 0
    shown = ours("ab", *workload, *options, *sides, "--compare-percentile=50", "--folder=out", "run", cwd=tmp_path)
    assert (shown.status, shown.stderr) == (1, "")
    assert "\nset-up, A / B: pgsql_user sbasync / sbtest\n" in shown.stdout
    assert "\nB is worse: " in shown.stdout
