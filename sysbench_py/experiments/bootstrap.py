"""How much of a difference may be chance: bootstrap standard errors of logarithms, and Student's quantiles for them.

Everything is about logarithms, whose differences are ratios. A statistic is recalculated from resampled pieces of
the measurement; pieces are whole runs where there are several, as one run says nothing about the next. The factor
n / (n - 1) makes up for the bootstrap's bias with few pieces (T. Hesterberg, What Teachers Should Know About the
Bootstrap, The American Statistician 69, 2015).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
import numpy.typing as npt

from sysbench_py.stats.model import LatencyHistogram

RESAMPLES = 4000
# The parts of a single run that are compared with each other, and how many intervals they need.
PARTS = 5
FEWEST_INTERVALS = 2 * PARTS

Floats = npt.NDArray[np.float64]
Counts = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Piece:
    """A run or an interval of one."""

    events: int
    time_s: float
    histogram: LatencyHistogram


@dataclass(frozen=True)
class Estimate:
    """The logarithm of something measured, its variance, and the degrees of freedom behind the variance."""

    log: float
    variance: float
    freedom: float


@dataclass(frozen=True)
class Ratio:
    """What a measurement is relative to another one, with the ends of its confidence interval."""

    value: float
    low: float
    high: float


class Sample:
    """Pieces of one side, ready to be drawn from."""

    def __init__(self, pieces: Sequence[Piece]) -> None:
        self.size = len(pieces)
        self._events = np.array([piece.events for piece in pieces], dtype=np.float64)
        self._time_s = np.array([piece.time_s for piece in pieces])
        latencies = sorted({low for piece in pieces for low, _ in piece.histogram.buckets_ns()})
        column = {latency_ns: number for number, latency_ns in enumerate(latencies)}
        self._latencies_ns = np.maximum(np.array(latencies, dtype=np.float64), 1)
        self._counts = np.zeros((self.size, len(latencies)))
        for row, piece in enumerate(pieces):
            for latency_ns, count in piece.histogram.buckets_ns():
                self._counts[row, column[latency_ns]] = count

    def log_throughput(self, weights: Floats) -> Floats:
        """Of each row of weights, one a piece: the logarithm of the events a second."""
        # A resample of intervals in which nothing happened has no logarithm.
        events: Floats = np.maximum(weights @ self._events, 1e-9)
        return np.asarray(np.log(events / (weights @ self._time_s)))

    def log_percentile(self, percent: float, weights: Floats) -> Floats:
        """Of each row of weights: the logarithm of the percentile of all latencies in ns, by its bucket's start."""
        logs = np.empty(len(weights))
        # In portions: the table of sums has a row a resample and a column a bucket.
        for start in range(0, len(weights), 250):
            sums = np.cumsum(weights[start : start + 250] @ self._counts, axis=1)
            ranks = np.maximum(np.floor(sums[:, -1] * percent / 100 + 0.5), 1)
            places = np.minimum((sums < ranks[:, None]).sum(axis=1), len(self._latencies_ns) - 1)
            logs[start : start + 250] = np.log(self._latencies_ns[places])
        return logs

    def rounding(self, percent: float) -> float:
        """Variance of the logarithm of a percentile that comes from rounding alone, as of clocks and buckets.

        That of a uniform distribution between the latencies beside it that were measured at all.
        """
        sums = np.cumsum(self._counts.sum(axis=0))
        rank = max(math.floor(sums[-1] * percent / 100 + 0.5), 1)
        place = int((sums < rank).sum())
        beside = np.log(self._latencies_ns[max(place - 1, 0) : place + 2])
        return float(np.max(np.diff(beside), initial=0.0) ** 2 / 12)


@cache
def run_weights(size: int) -> Floats:
    """How often each of `size` runs is drawn, a row a resample."""
    draws = np.random.default_rng(size).integers(size, size=(RESAMPLES, size))
    return _counted(draws, size)


@cache
def block_weights(size: int) -> Floats:
    """How often each interval of a run is drawn in blocks of a `PARTS`-th of the run, which wrap around its end.

    Neighbours stay together, as they are alike (circular block bootstrap, D. Politis and J. Romano, 1992).
    """
    length = size // PARTS
    starts = np.random.default_rng(size).integers(size, size=(RESAMPLES, PARTS))
    draws = (starts[:, :, None] + np.arange(length)).reshape(RESAMPLES, PARTS * length) % size
    return _counted(draws, size)


def _counted(draws: Counts, size: int) -> Floats:
    rows = np.repeat(np.arange(len(draws)), draws.shape[1])
    weights = np.zeros((len(draws), size))
    np.add.at(weights, (rows, draws.ravel()), 1)
    return weights


def over_runs(log: float, resampled: Floats, runs: int, rounding: float) -> Estimate:
    """From statistics of resampled runs; `rounding` is a variance that they do not show."""
    return Estimate(log, float(np.var(resampled)) * runs / (runs - 1) + rounding, runs - 1)


def over_blocks(log: float, resampled: Floats, rounding: float) -> Estimate:
    """From statistics of the resampled blocks of a single run, in the same way.

    The run as a whole is taken to be as uncertain as one of its parts: what makes runs differ changes as slowly as
    what makes parts of a run differ, or slower, and does not average out within a run.
    """
    return Estimate(log, float(np.var(resampled)) * PARTS * PARTS / (PARTS - 1) + rounding, PARTS - 1)


def ratio(a: Estimate, b: Estimate, confidence: float) -> Ratio:
    """B relative to A, measured independently (B. Welch's degrees of freedom, Biometrika 34, 1947)."""
    variance = a.variance + b.variance
    squares = a.variance**2 / a.freedom + b.variance**2 / b.freedom
    freedom = variance**2 / squares if squares > 0 else a.freedom + b.freedom
    return difference(Estimate(b.log - a.log, variance, freedom), confidence)


def difference(estimate: Estimate, confidence: float) -> Ratio:
    """The ratio whose logarithm is estimated."""
    reach = student_quantile((1 + confidence) / 2, estimate.freedom) * math.sqrt(estimate.variance)
    # Beyond, there is nothing but infinity.
    reach = min(reach, 50.0)
    return Ratio(math.exp(estimate.log), math.exp(estimate.log - reach), math.exp(estimate.log + reach))


@cache
def student_quantile(share: float, freedom: float) -> float:
    """The quantile of Student's distribution, for shares from 0.5; degrees of freedom may be fractional, from 1.

    With t = sqrt(f) tan(u), the density becomes proportional to cos(u)^(f - 1) on a finite range.
    """
    angles = np.linspace(0, math.pi / 2, 200_001)
    density = np.cos(angles) ** (freedom - 1)
    steps = (density[1:] + density[:-1]) / 2
    shares = np.concatenate(([0.0], np.cumsum(steps)))
    angle = np.interp((share - 0.5) * 2 * shares[-1], shares, angles)
    return math.sqrt(freedom) * math.tan(float(angle))
