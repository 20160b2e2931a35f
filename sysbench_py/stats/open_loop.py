"""What became of --rate: the whole run, a checkpoint's period, each step."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic

from sysbench_py.stats.collect import SnapshotT, latency_of
from sysbench_py.stats.model import NS_PER_S, OpenLoop, RateStats
from sysbench_py.stats.summary import DETAIL_PERCENTILES


@dataclass
class _Period(Generic[SnapshotT]):
    """A period that goes on: its beginning, and the longest backlog since."""

    start_ns: int
    before: SnapshotT | None
    dropped_before: int
    backlog_max: int = 0


class OpenLoopMeter(Generic[SnapshotT]):
    """Measures periods of rate mode.

    `steps` are (rate_per_s, length_s), the length of the last one being that of the run. `look()` tells (events
    waiting, in work, most that have waited since it was asked last, events dropped since the start).
    """

    def __init__(
        self,
        steps: tuple[tuple[float, float], ...],
        arrival: str,
        look: Callable[[], tuple[int, int, int, int]],
    ) -> None:
        self._rates_per_s = [rate for rate, _ in steps]
        self._arrival = arrival
        self._look = look
        self._start_ns = 0
        self._done: list[RateStats] = []
        # When each step ends, in seconds since the start; the last one has no end.
        self.step_ends_s: list[float] = []
        for _, length_s in steps[:-1]:
            self.step_ends_s.append((self.step_ends_s[-1] if self.step_ends_s else 0) + length_s)

    def begin(self, start_ns: int, before: SnapshotT | None) -> None:
        """The run begins, or its warm-up has ended with the counts `before`."""
        self._start_ns = start_ns
        self._step: _Period[SnapshotT] = _Period(start_ns, before, 0)
        self._total: _Period[SnapshotT] = _Period(start_ns, before, 0)
        self.look()

    def look(self) -> tuple[int, int, int]:
        """(events waiting, in work, dropped) now; to be called often, as it is what ends a run with a full queue."""
        waiting, running, longest, dropped = self._look()
        for period in (self._step, self._total):
            period.backlog_max = max(period.backlog_max, longest)
        return waiting, running, dropped

    def end_step(self, now: SnapshotT) -> None:
        """A step has ended and the next one begins."""
        waiting, _, dropped = self.look()
        self._done.append(self._stats(self._step, now, waiting, dropped))
        self._step = _Period(now.time_ns, now, dropped, waiting)

    def checkpoint(self, now: SnapshotT) -> None:
        """The next total begins."""
        waiting, _, dropped = self.look()
        self._total = _Period(now.time_ns, now, dropped, waiting)

    def result(self, now: SnapshotT) -> OpenLoop:
        """Everything since the last checkpoint, and the steps since the start; the last one goes on."""
        waiting, _, dropped = self.look()
        steps = [*self._done, self._stats(self._step, now, waiting, dropped)] if len(self._rates_per_s) > 1 else []
        return OpenLoop(
            arrival=self._arrival, total=self._stats(self._total, now, waiting, dropped), steps=tuple(steps)
        )

    def _stats(self, period: _Period[SnapshotT], now: SnapshotT, waiting: int, dropped: int) -> RateStats:
        counts = now if period.before is None else now.minus(period.before)
        if counts.service is None:
            raise ValueError("counts without service times")
        events = sum(counts.worker_events)
        length_s = (now.time_ns - period.start_ns) / NS_PER_S
        start_s = (period.start_ns - self._start_ns) / NS_PER_S
        asked = self._asked(start_s + length_s) - self._asked(start_s)
        return RateStats(
            start_s=start_s,
            length_s=length_s,
            rate_asked_per_s=asked / length_s if length_s > 0 else 0.0,
            rate_reached_per_s=events / length_s if length_s > 0 else 0.0,
            events=events,
            backlog=waiting,
            backlog_max=period.backlog_max,
            events_dropped=dropped - period.dropped_before,
            latency=latency_of(counts, DETAIL_PERCENTILES),
            service_time=latency_of(counts.service, DETAIL_PERCENTILES),
        )

    def _asked(self, until_s: float) -> float:
        """How many events are asked for until then, on average."""
        steps = zip(self._rates_per_s, [0.0, *self.step_ends_s], [*self.step_ends_s, math.inf], strict=True)
        return sum(rate_per_s * max(min(end_s, until_s) - begin_s, 0.0) for rate_per_s, begin_s, end_s in steps)
