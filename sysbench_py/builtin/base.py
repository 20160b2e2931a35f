"""What most built-in tests have in common: nothing of their own but events."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence

from sysbench_py import core
from sysbench_py.builtin import Runs
from sysbench_py.errors import ExitStatus, UsageError
from sysbench_py.options import option_key
from sysbench_py.workload import Workload


class SimpleTest(Workload):
    """A test without commands."""

    commands: Mapping[str, Callable[[], ExitStatus]] = {}

    def conduct(self, runs: Runs) -> ExitStatus:
        return runs.whole(self)

    @abstractmethod
    def run_worker(self, thread_id: int) -> bool:
        """The whole life of a worker, in its thread. Whether nothing failed."""

    def run_workers(self, thread_ids: Sequence[int]) -> bool:
        (thread_id,) = thread_ids
        return self.run_worker(thread_id)


def invalid(name: str, value: object, advice: str) -> UsageError:
    """The error for an option of a test."""
    return UsageError.fatal(f"Invalid value for {name}: {value}", about=option_key(name), advice=advice)


def check_at_least(minimum: int, name: str, value: int) -> None:
    """Raises UsageError if the option has a smaller value."""
    if value < minimum:
        raise invalid(name, value, f"use at least {minimum}")


def make_locks(name: str, number: int) -> core.LockArray:
    """As many locks as the option says. Raises UsageError for none, and for too many."""
    check_at_least(1, name, number)
    try:
        return core.LockArray(number)
    except MemoryError:
        raise invalid(name, number, "more than the memory can hold") from None
