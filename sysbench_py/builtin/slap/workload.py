"""One run of clients."""

from __future__ import annotations

from collections.abc import Sequence

from sysbench_py import core
from sysbench_py.builtin.base import SimpleTest
from sysbench_py.stats.model import TotalStats


class SlapWorkload(SimpleTest):
    """An event is a statement. `stats` are there when the run is over; they are not printed."""

    sql = True

    def __init__(self, work: core.SlapWork) -> None:
        self._work = work
        self.stats: TotalStats | None = None

    def run_worker(self, thread_id: int) -> bool:
        return core.bench_slap_worker(thread_id, self._work)

    def total_messages(self, stats: TotalStats, final: bool) -> Sequence[str]:
        self.stats = stats
        return ()
