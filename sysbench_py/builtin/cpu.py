"""The cpu test: how often a second the prime numbers below a limit are found by trial division."""

from __future__ import annotations

from collections.abc import Sequence

from sysbench_py import core
from sysbench_py.builtin.base import SimpleTest
from sysbench_py.errors import UsageError
from sysbench_py.log import INFO, NOTICE
from sysbench_py.options import Kind, Option, OptionSet
from sysbench_py.plan import Plan
from sysbench_py.stats.model import TotalStats

OPTIONS = (Option("cpu-max-prime", Kind.INT, "10000", "upper limit for primes generator"),)


class CpuTest(SimpleTest):
    """An event looks for the prime numbers below `max_prime`."""

    def __init__(self, max_prime: int, old_report: bool) -> None:
        self._max_prime = max_prime
        self._old_report = old_report

    def begin(self) -> bool:
        if self._max_prime <= 0:
            raise UsageError.fatal(
                f"Invalid value of cpu-max-prime: {self._max_prime}.", about="cpu_max_prime", advice="use at least 1"
            )
        return True

    def mode_messages(self) -> Sequence[tuple[int, str]]:
        return (
            (INFO, "Doing CPU performance benchmark\n"),
            (NOTICE, f"{'Primer' if self._old_report else 'Prime'} numbers limit: {self._max_prime}\n"),
        )

    def run_worker(self, thread_id: int) -> bool:
        return core.bench_cpu_worker(thread_id, self._max_prime)

    def report_block(self, stats: TotalStats) -> Sequence[str]:
        return ("CPU speed:", f"    events per second: {stats.per_second(stats.counters.events):8.2f}")

    def old_report_block(self, stats: TotalStats) -> Sequence[str]:
        return (f"Maximum prime number checked in CPU test: {self._max_prime}\n",)


def create(options: OptionSet, plan: Plan) -> CpuTest:
    """The test as the options ask for it. Raises UsageError for a value that is no number."""
    return CpuTest(options.get("cpu-max-prime", int), plan.old_report)
