"""--percentile with decimals and several values, and the histograms that percentiles come from."""

from __future__ import annotations

import ctypes
import random
import re
import time
from pathlib import Path

import pytest
from hdrh.histogram import HdrHistogram

from sysbench_py import core
from sysbench_py.command_line import parse
from sysbench_py.errors import UsageError
from sysbench_py.stats.model import HIGHEST_LATENCY_NS, LatencyHistogram, Percentile
from sysbench_py.validate import make_plan
from tests.support.compat import compat
from tests.support.reference import ours, reference


def percentiles_of(*arguments: str) -> tuple[float, ...]:
    return make_plan(parse(["sysbench", *arguments]).options, pytest.fail).percentiles


def test_percentiles_are_taken_in_their_order_and_once() -> None:
    assert percentiles_of() == (95,)
    assert percentiles_of("--percentile=99.9,50,95,50,0.5") == (99.9, 50, 95, 0.5)
    assert percentiles_of("--percentile=100,99.9999") == (100, 99.9999)
    assert percentiles_of("--percentile=0") == percentiles_of("--percentile=") == ()


ADVICE = "(use 1 to 100, several as in 50,95,99.9, or 0 for none)"


@pytest.mark.parametrize(
    ("typed", "message"),
    [
        ("x", f"Invalid value for the 'percentile' option: 'x' {ADVICE}"),
        ("50,1e1", f"Invalid value for the 'percentile' option: '1e1' {ADVICE}"),
        ("nan", f"Invalid value for the 'percentile' option: 'nan' {ADVICE}"),
        ("50,100.5", f"FATAL: Invalid value for --percentile: 100.5 {ADVICE}"),
        ("-0.5", f"FATAL: Invalid value for --percentile: -0.5 {ADVICE}"),
        ("50,0", "FATAL: Invalid value for --percentile: 50,0 (0, for none, stands alone)"),
    ],
)
def test_what_is_no_percentile_is_refused(typed: str, message: str) -> None:
    with pytest.raises(UsageError) as error:
        percentiles_of(f"--percentile={typed}")
    assert error.value.line == message


def test_a_percentage_is_written_without_needless_digits() -> None:
    texts = {50.0: "50", 100: "100", 99.9: "99.9", 99.99999: "99.99999", 0.5: "0.5"}
    assert {percent: f"{Percentile(percent=percent, latency_ns=0)}" for percent in texts} == texts


@compat("percentile-lists")
def test_the_first_of_several_percentiles_has_the_lines_of_the_reference(tmp_path: Path) -> None:
    script = tmp_path / "script.lua"
    script.write_text("function init() print('> ' .. sysbench.opt.percentile + 1) end function event() end")
    several = ("--percentile=99.9,50", "--events=1", "--time=0", "run")
    assert reference(str(script), *several).status == 1
    result = ours(str(script), *several)
    assert (result.status, "> 100.9\n" in result.stdout) == (0, True)
    assert re.findall(r"^ *[\d.]+th percentile: {1,27}[\d.]+$", result.stdout, re.MULTILINE)[0][:11] == "       99.9"
    assert re.search(r"^ +99\.9th percentile: .*\n +50th percentile: .*\n +sum: ", result.stdout, re.MULTILINE)


def test_a_report_hook_of_ours_names_the_first_percentile(tmp_path: Path) -> None:
    script = tmp_path / "script.lua"
    script.write_text("function event() end sysbench.hooks.report_intermediate = sysbench.report_default")
    options = ("--percentile=99.9,50", "--report-interval=1", "--time=1", "--rate=50")
    assert " lat (ms,99.9%): " in ours(str(script), *options, "run").stdout


def random_latencies(rng: random.Random) -> list[int]:
    scale = rng.choice((5, 12, 20, 31))
    latencies = [min(int(rng.lognormvariate(scale, 2)), HIGHEST_LATENCY_NS) for _ in range(rng.randrange(1, 400))]
    return [*latencies, *rng.sample([0, 1, 2047, 2048, HIGHEST_LATENCY_NS], rng.randrange(5))]


def histogram_of(latencies: list[int]) -> LatencyHistogram:
    return LatencyHistogram(((latency, 1) for latency in latencies), max(latencies, default=0))


@pytest.mark.parametrize("seed", range(25))
def test_merged_histograms_equal_one_recording_count_for_count(seed: int) -> None:
    rng = random.Random(seed)
    parts = [random_latencies(rng) for _ in range(rng.randrange(1, 8))] + [[]]
    merged = LatencyHistogram.merged(map(histogram_of, parts))
    recorded = HdrHistogram(1, HIGHEST_LATENCY_NS, 3)
    everything = [latency for part in parts for latency in part]
    for latency in everything:
        recorded.record_value(latency)
    theirs = [(recorded.get_value_from_index(i), count) for i, count in enumerate(recorded.counts) if count]
    assert merged.buckets_ns() == theirs
    assert merged == histogram_of(everything)
    for percent in (0.1, 25, 50, 95, 99.9, 99.999, 100):
        exact = min(recorded.get_value_at_percentile(percent), max(everything))
        assert merged.percentile_ns(percent) == exact <= merged.max_ns


def test_every_latency_of_a_worker_is_counted_once_however_rare() -> None:
    functions = ctypes.CDLL(None)  # of all that is loaded, the core's among them
    core.run_setup([(1, 2), (3, 4)], 0, True, True)
    spins_ns = [int(500 * 1.2**k) for k in range(44)]
    events = 0
    for spin_ns in [*spins_ns, *random.Random(1).choices(spins_ns[:20], k=1500), *spins_ns]:
        functions.sb_event_start(0)
        until_ns = time.perf_counter_ns() + spin_ns
        while time.perf_counter_ns() < until_ns:
            pass
        functions.sb_event_stop(0)
        events += 1
        if events % 40 == 0:
            assert sum(count for _, count in core.snapshot().buckets()) == events
    now = core.snapshot()
    lowest_ns = sum(value_ns * count for value_ns, count in now.buckets())
    assert lowest_ns <= now.worker_latency_sum_ns[0] < lowest_ns * (1 + 1 / 1024) + events
    assert now.worker_events == (events, 0)


@pytest.mark.parametrize("seed", range(5))
def test_an_encoded_histogram_is_read_by_hdrhistogram_and_by_us(seed: int) -> None:
    histogram = histogram_of(random_latencies(random.Random(seed)))
    text = histogram.encoded()
    theirs = HdrHistogram.decode(text)
    assert (theirs.get_total_count(), theirs.get_min_value()) == (histogram.count, histogram.buckets_ns()[0][0])
    assert LatencyHistogram.decoded(text, histogram.max_ns) == histogram


def test_an_empty_histogram_survives_its_encoding() -> None:
    empty = LatencyHistogram([], 0)
    assert LatencyHistogram.decoded(empty.encoded(), 0) == empty
    assert LatencyHistogram.merged([]) == empty


@pytest.mark.parametrize("text", ["", "x", "HISTFAAAAA==", "HISTFAAAACB4nJNpmSzMwMDAxAABzFCaEUoz2X+AMIKZAA=="])
def test_what_is_no_histogram_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="not an encoded histogram"):
        LatencyHistogram.decoded(text, 0)
