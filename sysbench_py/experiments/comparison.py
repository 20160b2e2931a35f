"""Results of two set-ups or more, against each other: ratios with confidence intervals, and what they say in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from sysbench_py.errors import UsageError
from sysbench_py.experiments.bootstrap import (
    FEWEST_INTERVALS,
    Estimate,
    Floats,
    Piece,
    Ratio,
    Sample,
    block_weights,
    difference,
    over_blocks,
    over_runs,
    ratio,
    run_weights,
)
from sysbench_py.experiments.layout import aligned, relative, shown
from sysbench_py.stats.model import NS_PER_MS, LatencyHistogram
from sysbench_py.stats.result import RunResult, Setup, option_text

CONFIDENCE = 0.95
# The spread of two pairs is a single number: Student's quantile for one degree of freedom is 51 if four figures must
# hold together, and noise of 1 % makes an interval from -30 % to +43 %. With three pairs it is 9, with four 5.
FEWEST_PAIRS = 3
# Options that say what is done with the results.
_OF_NO_CONCERN = ("output", "progress")


@dataclass(frozen=True)
class Side:
    """Runs of one set-up; `name` is what messages call it."""

    name: str
    runs: Sequence[RunResult]

    def __post_init__(self) -> None:
        for run in self.runs:
            if not run.total.counters.events or run.total.interval_s <= 0:
                raise UsageError.fatal(f"'{self.name}' has a run without events: there is nothing to compare")

    def throughput(self) -> float:
        """Events a second of all runs."""
        return sum(run.total.counters.events for run in self.runs) / sum(run.total.interval_s for run in self.runs)

    def percentile_ms(self, percent: float) -> float:
        """Of the latencies of all runs."""
        merged = LatencyHistogram.merged(run.total.latency.histogram for run in self.runs)
        return merged.percentile_ns(percent) / NS_PER_MS

    def sample(self) -> Sample:
        """The runs, ready to be drawn from."""
        totals = [run.total for run in self.runs]
        return Sample([Piece(each.counters.events, each.interval_s, each.latency.histogram) for each in totals])

    def interval_sample(self) -> Sample:
        """The full intervals of the only run. Raises UsageError if they are too few."""
        (run,) = self.runs
        full = [each for each in run.intervals if not each.partial]
        if len(full) < FEWEST_INTERVALS:
            # Without --report-interval a run records one a second, and 1 is the least.
            shorter = " or a shorter --report-interval" if run.setup.report_interval_s > 1 else ""
            raise UsageError.fatal(
                f"'{self.name}' is one run of {len(full)} full interval{'' if len(full) == 1 else 's'}, too few to "
                f"compare: it takes {FEWEST_INTERVALS} (a longer --time{shorter}), or several runs in a folder"
            )
        return Sample([Piece(each.counters.events, each.interval_s, each.latency.histogram) for each in full])


@dataclass(frozen=True)
class Metric:
    """Throughput if `percent` is None, else a percentile of the latency."""

    percent: float | None

    @property
    def name(self) -> str:
        """As messages call it."""
        return "throughput" if self.percent is None else f"p{self.percent:.10g} latency"

    def of(self, side: Side) -> float:
        """Events a second, or ms."""
        return side.throughput() if self.percent is None else side.percentile_ms(self.percent)

    def logs(self, sample: Sample, weights: Floats) -> Floats:
        """Of each row of weights: the logarithm of the metric, latencies in ns."""
        return sample.log_throughput(weights) if self.percent is None else sample.log_percentile(self.percent, weights)

    def log(self, sample: Sample) -> float:
        """That of all pieces, each once."""
        return float(self.logs(sample, np.ones((1, sample.size)))[0])

    def rounding(self, sample: Sample) -> float:
        """The variance of the logarithm that comes from rounding."""
        return 0.0 if self.percent is None else sample.rounding(self.percent)


@dataclass(frozen=True)
class Line:
    """One metric of two sides. `where` is the point of a sweep, and empty outside of one."""

    where: str
    metric: Metric
    a: float
    b: float
    ratio: Ratio

    @property
    def change(self) -> float:
        """B relative to A, as a share more or less."""
        return self.ratio.value - 1

    @property
    def shown(self) -> bool:
        """Whether it is more than chance."""
        return self.ratio.low > 1 or self.ratio.high < 1

    @property
    def loss(self) -> float:
        """How much worse B is, as a share; negative if it is better."""
        return -self.change if self.metric.percent is None else self.change

    @property
    def worst(self) -> float:
        """The ratio at the worse end of the interval."""
        return self.ratio.low if self.metric.percent is None else self.ratio.high

    @property
    def largest_loss(self) -> float:
        """The loss there."""
        return 1 - self.worst if self.metric.percent is None else self.worst - 1

    @property
    def title(self) -> str:
        """As messages call it."""
        return f"{self.where}: {self.metric.name}" if self.where else self.metric.name

    def __str__(self) -> str:
        return f"{self.title} {relative(self.ratio.value)}"


def compare(
    pairs: Mapping[str, tuple[Side, Side]], percentiles: Sequence[float], *, paired: bool = False, others: int = 1
) -> list[Line]:
    """All metrics of all pairs; a key of `pairs` is a point of a sweep, or empty.

    All intervals together, those of `others` such comparisons too, hold with `CONFIDENCE`: each is wide enough for
    that (C. Bonferroni). With `paired`, the n-th runs of both sides belong together. Raises UsageError.
    """
    metrics = [Metric(None), *map(Metric, percentiles)]
    confidence = 1 - (1 - CONFIDENCE) / (len(metrics) * len(pairs) * others)
    lines = []
    for where, (a, b) in pairs.items():
        measured = _paired(a, b, metrics, confidence) if paired else _apart(a, b, metrics, confidence)
        for metric, found in zip(metrics, measured, strict=True):
            lines.append(Line(where, metric, metric.of(a), metric.of(b), found))
    return lines


def _paired(a: Side, b: Side, metrics: Sequence[Metric], confidence: float) -> list[Ratio]:
    """What both runs of a pair have met alike does not count."""
    size = len(a.runs)
    if size != len(b.runs):
        raise UsageError.fatal(
            f"pairs need as many runs of '{a.name}' as of '{b.name}', and there are {size} and {len(b.runs)}"
        )
    if size < FEWEST_PAIRS:
        raise UsageError.fatal(
            f"'{a.name}' and '{b.name}' are {size} pair{'s' if size > 1 else ''}, too few to give an interval: "
            f"it takes {FEWEST_PAIRS} or more"
        )
    left, right = a.sample(), b.sample()
    weights = run_weights(size)
    found = []
    for metric in metrics:
        resampled = metric.logs(right, weights) - metric.logs(left, weights)
        rounding = metric.rounding(left) + metric.rounding(right)
        log = metric.log(right) - metric.log(left)
        found.append(difference(over_runs(log, resampled, size, rounding), confidence))
    return found


def _apart(a: Side, b: Side, metrics: Sequence[Metric], confidence: float) -> list[Ratio]:
    if (len(a.runs) == 1) == (len(b.runs) == 1):
        estimates = _by_blocks if len(a.runs) == 1 else _by_runs
        both = zip(estimates(a, metrics), estimates(b, metrics), strict=True)
        return [ratio(one, other, confidence) for one, other in both]
    # The spread of the side that has several runs is that of the other one too.
    several, single = (a, b) if len(a.runs) > 1 else (b, a)
    sample = single.sample()
    found = []
    for metric, estimate in zip(metrics, _by_runs(several, metrics), strict=True):
        change = metric.log(sample) - estimate.log
        variance = estimate.variance * (1 + len(several.runs))
        found.append(difference(Estimate(change if single is b else -change, variance, estimate.freedom), confidence))
    return found


def _by_runs(side: Side, metrics: Sequence[Metric]) -> list[Estimate]:
    sample = side.sample()
    weights = run_weights(sample.size)
    return [
        over_runs(metric.log(sample), metric.logs(sample, weights), sample.size, metric.rounding(sample))
        for metric in metrics
    ]


def _by_blocks(side: Side, metrics: Sequence[Metric]) -> list[Estimate]:
    sample = side.interval_sample()
    weights = block_weights(sample.size)
    return [
        over_blocks(metric.log(sample), metric.logs(sample, weights), metric.rounding(sample)) for metric in metrics
    ]


def table(lines: Sequence[Line]) -> str:
    """For people: a line a metric."""
    rows = [("", "A", "B", "B/A", f"{CONFIDENCE:.0%} confidence", "")]
    for line in lines:
        name = f"{line.title}, {'1/s' if line.metric.percent is None else 'ms'}"
        interval = f"{line.ratio.low:.3f} to {line.ratio.high:.3f}"
        better = "better" if line.loss < 0 else "worse"
        rows.append(
            (name, shown(line.a), shown(line.b), f"{line.ratio.value:.3f}", interval, better if line.shown else "")
        )
    return aligned(rows, left=1)


def verdict(lines: Sequence[Line]) -> str:
    """What the lines say, in words."""
    real = [line for line in lines if line.shown]
    if not real:
        rates = [line for line in lines if line.metric.percent is None]
        widest = max(rates, key=lambda line: line.ratio.high / line.ratio.low)
        low, high = relative(widest.ratio.low), relative(widest.ratio.high)
        name = f"throughput at {widest.where}" if widest.where else "throughput"
        between = low if low == high else f"anything from {low} to {high}"
        return f"no difference shown: compared with A's, B's {name} may be {between}"
    worse = [line for line in real if line.loss > 0]
    word = "worse" if len(worse) == len(real) else "better" if not worse else "better in some ways and worse in others"
    return f"B is {word}: {', '.join(map(str, real))}"


def regressions(lines: Sequence[Line], limit: float) -> list[Line]:
    """Where B is worse by more than `limit`, a share, and not by chance."""
    return [line for line in lines if line.shown and line.loss > limit]


def differences(a: Setup, b: Setup) -> list[str]:
    """How the set-ups differ, `name A / B` each."""
    left, right = _described(a), _described(b)
    names = [*left, *(name for name in right if name not in left)]
    return [
        f"{name} {left.get(name, '-')} / {right.get(name, '-')}" for name in names if left.get(name) != right.get(name)
    ]


def _described(setup: Setup) -> dict[str, str]:
    servers = ", ".join(f"{each.driver} {each.server_version}" for each in setup.databases)
    found = {"test": setup.test, "server": servers, "engine": setup.engine}
    found |= {"host": setup.machine.host, "CPU": setup.machine.cpu, "CPUs": str(setup.machine.cpus)}
    for name, value in setup.options.items():
        if name not in _OF_NO_CONCERN:
            found[name] = option_text(value) or "''"
    return found
