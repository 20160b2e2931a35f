"""What is kept of a run for its outputs."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sysbench_py.errors import ExitStatus
from sysbench_py.log import FATAL, log, say
from sysbench_py.sinks.outputs import Outputs
from sysbench_py.stats.client import Client
from sysbench_py.stats.model import IntervalStats, TotalStats
from sysbench_py.stats.result import RunResult, Setup


class Recording:
    """Tells the outputs what happens, and makes the result of it at the end."""

    def __init__(self, outputs: Outputs, describe: Callable[[], Setup]) -> None:
        self._outputs = outputs
        self._describe = describe
        self._intervals: list[IntervalStats] = []
        self._checkpoints: list[TotalStats] = []
        self._told = 0

    @property
    def failed(self) -> bool:
        """Whether something is missing in an output."""
        return bool(self._outputs.problems)

    def begin(self) -> None:
        """The workers are ready. Raises UsageError if an output cannot be written."""
        self._setup = self._describe()
        self._outputs.begin(self._setup)

    def interval(self, stats: IntervalStats) -> None:
        """An interval has passed."""
        self._intervals.append(stats)
        self._outputs.interval(stats)
        self._tell()

    def checkpoint(self, stats: TotalStats) -> None:
        """A checkpoint has been reported."""
        self._checkpoints.append(stats)

    def end(
        self,
        rest: IntervalStats,
        total: TotalStats,
        client: Client,
        status: ExitStatus,
        *,
        cut_short: Sequence[str],
        failed: bool,
    ) -> None:
        """The run is over; `rest` is what no interval has covered, the others are as in RunResult."""
        counters = rest.counters
        if not self._intervals or counters.events or counters.queries or counters.errors or counters.reconnects:
            self.interval(rest)
        result = RunResult(
            setup=self._setup,
            exit_status=status,
            intervals=tuple(self._intervals),
            checkpoints=tuple(self._checkpoints),
            total=total,
            client=client,
            cut_short=tuple(cut_short),
            failed=failed,
        )
        for name in self._outputs.end(result):
            say(f"result: {name}")
        self._tell()
        self._outputs.close()

    def _tell(self) -> None:
        problems = self._outputs.problems
        for problem in problems[self._told :]:
            log(FATAL, f"{problem}: this output is lost")
        self._told = len(problems)
