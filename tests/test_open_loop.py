"""--rate: arrivals, latency from the intended start beside service time, overload, steps, fractions, warm-up."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest

from sysbench_py import core
from sysbench_py.passwords import without_passwords
from tests.support.compat import compat
from tests.support.detail import STATEMENTS, STEPS, TIMES, table
from tests.support.proc import Result, Run
from tests.support.reference import ours, report
from tests.support.server import Server

SLEEPS = "ffi.cdef('int usleep(unsigned)')\nlocal function nap(s) ffi.C.usleep(s * 1e6) end\n"
ROOT = Path(__file__).parent.parent
EMPTY = "function event() end"


def run(folder: Path, script: str, *options: str) -> Result:
    (folder / "script.lua").write_text(SLEEPS + script)
    return ours("script.lua", *options, "run", cwd=folder)


def open_loop(stdout: str) -> dict[str, float]:
    """The lines of the block, `waiting` and `waiting_max` apart, and times in ms."""
    lines = stdout.split("\nOpen loop (")[1].splitlines()
    values = [line.split(":")[1].split()[0] for line in lines[1:5]]
    waiting, waiting_max = values[2].split("/")
    times = {
        f"{row['name'].split()[0]}_{name}": float(row[name])
        for row in table(stdout, TIMES)
        for name in ("avg", "p50", "p95", "p99", "max")
    }
    return {
        "asked": float(values[0]),
        "reached": float(values[1]),
        "waiting": int(waiting),
        "waiting_max": int(waiting_max),
        "dropped": int(values[3]),
        **times,
    }


def arrivals(rates: tuple[tuple[float, float], ...], n: int, length_s: float, *, uniform: bool = False) -> list[float]:
    """In seconds."""
    core.run_setup([(1, 2)], 0, True, True)
    core.pacer_setup(rates, (12345, 67890), uniform=uniform)
    return [ns / 1e9 for ns in core.pacer_arrivals(n, length_s)]


def kolmogorov_smirnov(values: list[float], cdf: Callable[[float], float]) -> float:
    """sqrt(n) times the largest distance between the distribution of the values and `cdf`."""
    n = len(values)
    ranked = sorted(map(cdf, values))
    return math.sqrt(n) * max(max((i + 1) / n - p, p - i / n) for i, p in enumerate(ranked))


# Above it for one sample of a hundred, if the distribution is right (Kolmogorov). The generator's seed is fixed.
CRITICAL = 1.63


@pytest.mark.parametrize("rate", [100, 1000, 20000, 0.5])
def test_arrivals_are_poisson(rate: float) -> None:
    times = arrivals(((rate, 0),), 50_000, 1e9)
    gaps = [later - earlier for earlier, later in pairwise(times)]
    assert len(gaps) / (times[-1] - times[0]) == pytest.approx(rate, rel=0.01)
    assert kolmogorov_smirnov(gaps, lambda gap: -math.expm1(-rate * gap)) < CRITICAL
    # And independent of each other: what follows a long gap is like the others.
    after_long = [after for gap, after in pairwise(gaps) if gap * rate > 1]
    assert kolmogorov_smirnov(after_long, lambda gap: -math.expm1(-rate * gap)) < CRITICAL


def test_arrivals_follow_the_steps() -> None:
    steps = ((1000.0, 20.0), (200.0, 20.0), (5000.0, 0.0))
    times = arrivals(steps, 1_000_000, 45)
    begins = (0.0, 20.0, 40.0, 45.0)
    for (rate, _), begin, end in zip(steps, begins, begins[1:], strict=False):
        within = [at for at in times if begin <= at < end]
        assert abs(len(within) - rate * (end - begin)) < 4 * math.sqrt(rate * (end - begin))
        # Arrivals of a Poisson process are spread evenly over a period.
        assert kolmogorov_smirnov(within, lambda at, a=begin, b=end: (at - a) / (b - a)) < CRITICAL  # type: ignore[misc]


@pytest.mark.parametrize("rate", [0.5, 3, 20000, 3e6])
def test_uniform_arrivals_have_equal_distances(rate: float) -> None:
    times = arrivals(((rate, 0),), 10_000, 1e9, uniform=True)
    assert all(at == pytest.approx((i + 1) / rate, abs=1e-8) for i, at in enumerate(times))


@pytest.mark.parametrize(("rate", "seconds"), [(100, 2), (1000, 1), (20000, 1)])
def test_rate_is_the_one_asked_for(tmp_path: Path, rate: int, seconds: int) -> None:
    """Uniform arrivals, as a count of random ones is exact to 1 % only in many seconds."""
    result = run(tmp_path, EMPTY, f"--rate={rate}", "--arrival=uniform", f"--time={seconds}", "--threads=2")
    values = open_loop(result.stdout)
    total = report(result.stdout)
    assert values["asked"] == pytest.approx(rate, rel=0.001)
    # On a machine that stalls at the very end some may wait.
    assert total["events"] + values["waiting"] == pytest.approx(seconds * rate, rel=0.01)
    assert values["dropped"] == 0


def test_fractional_rate(tmp_path: Path) -> None:
    result = run(tmp_path, EMPTY, "--rate=2.5", "--arrival=uniform", "--rate-detail", "--time=1")
    assert "Target transaction rate: 2.5/sec\n" in result.stdout
    # On a machine that stalls at the very end one may wait.
    assert report(result.stdout)["events"] + open_loop(result.stdout)["waiting"] == 2


@pytest.mark.parametrize("options", [(), ("--rate-detail=off",)], ids=" ".join)
def test_plain_rate_reports_as_the_reference(tmp_path: Path, options: tuple[str, ...]) -> None:
    result = run(tmp_path, EMPTY, "--rate=1000", "--events=5", *options)
    assert result.stdout.splitlines()[-1] == ""
    assert "Open loop" not in result.stdout
    assert report(result.stdout)["events"] == 5


def test_detail_shows_both_times(tmp_path: Path) -> None:
    script = "function event() nap(0.02) end"
    values = open_loop(run(tmp_path, script, "--rate=100", "--arrival=uniform", "--rate-detail", "--time=1").stdout)
    # Of 100 events, 50 or less are done.
    assert values["reached"] < 60 < values["asked"]
    assert values["waiting_max"] >= values["waiting"] > 30
    assert values["latency_p50"] > values["service_p50"]
    assert values["service_p50"] >= 20


def test_overload_is_reported(tmp_path: Path) -> None:
    options = ("--rate=1000000", "--rate-overload=report", "--arrival=uniform", "--time=1")
    result = run(tmp_path, "function event() nap(0.01) end", *options, "--report-interval=1")
    assert result.status == 0
    values = open_loop(result.stdout)
    total = report(result.stdout)
    assert values["waiting"] == values["waiting_max"] == 131071
    # Each one is done, waits or has been dropped.
    assert total["events"] + values["waiting"] + values["dropped"] == pytest.approx(1_000_000, rel=0.001)
    assert total["intermediate"][1]["queue_length"] == 131071


def test_no_rate_is_too_high_to_be_reported(tmp_path: Path) -> None:
    result = run(tmp_path, EMPTY, "--rate=2000000000", "--rate-overload=report", "--time=1", "--threads=2")
    assert result.status == 0
    assert open_loop(result.stdout)["dropped"] > 1_000_000_000


def test_steps(tmp_path: Path) -> None:
    options = ("--rate=200:50:75@0.5s", "--arrival=uniform", "--threads=2")
    result = run(tmp_path, EMPTY, *options)
    assert "Target transaction rate: 200/sec to 50/sec in 3 steps of 0.5 s\n" in result.stdout
    steps = table(result.stdout, STEPS)
    # The last one lasts as long as the run, of whole seconds.
    assert report(result.stdout)["total_time_s"] >= 1.99
    # Steps are measured apart when somebody looks, which may be late.
    begins_s = [float(step["from s"]) for step in steps]
    assert begins_s[0] == 0 and begins_s[1] >= 0.5 and begins_s[2] >= 1
    for step, begin_s in zip(steps, begins_s, strict=True):
        end_s = begin_s + float(step["seconds"])
        periods = ((200, 0, 0.5), (125, 0.5, 1), (50, 1, math.inf))
        asked = sum(rate * max(min(to_s, end_s) - max(from_s, begin_s), 0) for rate, from_s, to_s in periods)
        assert float(step["asked/s"]) == pytest.approx(asked / (end_s - begin_s), rel=0.1)
    events = sum(float(step["reached/s"]) * float(step["seconds"]) for step in steps)
    assert events == pytest.approx(report(result.stdout)["events"], abs=10)


def test_steps_longer_than_asked_for_lengthen_the_last(tmp_path: Path) -> None:
    result = run(tmp_path, EMPTY, "--rate=10:20:10@0.5", "--time=3", "--arrival=uniform")
    first, last = table(result.stdout, STEPS)
    assert float(first["seconds"]) < float(last["seconds"])


def test_backlog_of_the_warm_up_is_forgotten(tmp_path: Path) -> None:
    # The first second's events are too slow for their rate.
    script = "local n = 0 function event() n = n + 1 if n <= 10 then nap(0.1) end end"
    result = run(tmp_path, script, "--rate=200", "--rate-detail", "--warmup-time=1", "--time=1")
    values = open_loop(result.stdout)
    # Two hundred events had waited, and as many come; with them half of all latencies were above 0.5 s.
    assert values["latency_p50"] < 300
    assert report(result.stdout)["events"] < 300


def test_events_of_the_warm_up_are_not_taken_from_the_limit(tmp_path: Path) -> None:
    """Events that are in work at its end count, one a worker, and no others beside --events."""
    options = ("--warmup-time=1", "--time=0", "--events=1000", "--threads=4")
    result = run(tmp_path, EMPTY, *options)
    assert 1000 <= report(result.stdout)["events"] <= 1004


def test_stalled_server_shows_in_latency_and_not_in_service_time(server: Server, tmp_path: Path) -> None:
    script = (
        "function thread_init() con = sysbench.sql.driver():connect() end function event() con:query('SELECT 1') end"
    )
    (tmp_path / "script.lua").write_text(script)
    options = [*server.args, "--rate=200", "--arrival=uniform", "--threads=2", "--time=4"]
    with ours.start("script.lua", *options, "run", cwd=tmp_path) as running:
        running.wait_for("Threads started!")
        server.stall(2)
        result = running.result()
    assert result.status == 0, result.stdout
    values = open_loop(result.stdout)
    # Half of the events were due while the server stood still; the two that were sent waited for it.
    assert values["latency_p99"] > 1500
    assert values["latency_p50"] > values["service_p50"]
    assert values["service_p99"] < 500 < 1500 < values["service_max"]
    assert values["waiting_max"] > 300


def test_example() -> None:
    env = {"SYSBENCH": f"{sys.executable} -m sysbench_py", "RATE": "50:100:50@0.5s"}
    with Run("sh", str(ROOT / "examples" / "open_loop.sh"), cwd=ROOT, env=env) as running:
        result = running.result()
    assert result.status == 0, result.stdout + result.stderr
    assert len(table(result.stdout, STEPS)) == 2
    assert any(row["statement"] == "SELECT c FROM sbtest1 WHERE id=?" for row in table(result.stdout, STATEMENTS))


@compat("rates")
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("--rate=1:2", "Invalid value for --rate: 1:2 (write FROM:TO:STEP@SECONDS, for example 1000:5000:1000@10s)"),
        ("--rate=1:2:0@1s", "Invalid value for --rate: 1:2:0@1s (the step must be greater than 0)"),
        ("--rate=0:2:1@1s", "Invalid value for --rate: 0:2:1@1s (rates go from 0.000001 to 2147483647 a second)"),
        ("--rate=1:2:1@0", "Invalid value for --rate: 1:2:1@0 (a step lasts up to 1000000 seconds, and longer than 0)"),
        ("--rate=1:5000:1@1s", "Invalid value for --rate: 1:5000:1@1s (these are 5000 steps, and there can be 1000)"),
        ("--rate=1:5:1@2s --time=9", "--time=9 ends before the steps of --rate do, after 10 seconds"),
        ("--rate=-0.5", "Invalid value for --rate: -0.5. (use at least 0)"),
        ("--rate-overload=report", "--rate-overload needs --rate"),
        ("--arrival=uniform", "--arrival needs --rate"),
        ("--rate=1 --arrival=x", "Invalid value for --arrival: 'x' (use poisson, uniform)"),
        ("--rate=1 --rate-overload=x", "Invalid value for --rate-overload: 'x' (use fail, report)"),
    ],
)
def test_mistakes(options: str, message: str) -> None:
    result = ours(*options.split(), "cpu", "run")
    assert (result.status, result.stdout.rstrip("\n")) == (1, f"FATAL: {message}")


def test_steps_are_no_password() -> None:
    for text in ("--rate=100:200:50@10s", "1:2:.5@0.5"):
        assert without_passwords(text) == text
    assert without_passwords("user:1@10.0.0.1") == "user:***@10.0.0.1"


@pytest.mark.parametrize("text", ["x", "1e3", "1.5x", "", "0.0000000001", "99999999999", "9999999999.5", "nan"])
def test_what_is_no_rate(text: str) -> None:
    result = ours(f"--rate={text}", "cpu", "run")
    right = "use a number from 0.000001 to 2147483647, or FROM:TO:STEP@SECONDS"
    assert (result.status, result.stderr) == (1, f"Invalid value for the 'rate' option: '{text}' ({right})\n")
