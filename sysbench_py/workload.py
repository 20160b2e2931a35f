"""What a run needs to know of the test that it runs: a Lua script or a built-in one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from sysbench_py.plan import Plan
    from sysbench_py.stats.model import IntervalStats, TotalStats


class Workload(Protocol):
    """The test of a run. Messages are printed by the runner, in the order of the methods here.

    What a test does not say, it inherits: no SQL, nothing to set up, the usual reports."""

    @property
    def sql(self) -> bool:
        """Whether reports have their SQL form, asked when one is made."""
        return False

    @property
    def waits_for_server(self) -> bool:
        """Whether events wait for a server, which then should be what limits them."""
        return False

    def begin(self) -> bool:
        """First of all: check and set up what needs no worker; False, after a message, if that fails."""
        return True

    def events_limit(self, plan: Plan) -> int:
        """How many events the run has at most, 0 for no limit."""
        return plan.events_limit

    def mode_messages(self) -> Sequence[tuple[int, str]]:
        """(priority, message) lines that describe the test, after the run's own."""
        return ()

    def open(self) -> bool:
        """After these lines, before the workers; False, after a message, if that fails."""
        return True

    def run_workers(self, thread_ids: Sequence[int]) -> bool:
        """The whole life of the workers of an OS thread, most often of one: set up, wait at the core's start
        barrier, run events, tear down. Whether nothing failed."""

    def tell_of_waits(self) -> None:
        """Workers are not ready in time: say what they may be waiting for."""
        return

    def interval_messages(self, stats: IntervalStats) -> Sequence[str] | None:
        """An intermediate report of the test's own; None for the usual one, empty if it is printed."""
        return None

    def total_messages(self, stats: TotalStats, final: bool) -> Sequence[str] | None:
        """A whole cumulative report (final or of a checkpoint) of the test's own, likewise."""
        return None

    def report_block(self, stats: TotalStats) -> Sequence[str]:
        """The test's own part at the head of the usual cumulative report."""
        return ()

    def old_report_block(self, stats: TotalStats) -> Sequence[str]:
        """The same for the report in the layout of sysbench 0.4."""
        return ()

    def end(self) -> bool:
        """After the final report; False, after a message, if something of the test's own has failed."""
        return True
