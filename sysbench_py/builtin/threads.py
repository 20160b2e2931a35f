"""The threads test: how the scheduler copes with workers that yield while they hold a lock."""

from __future__ import annotations

from collections.abc import Sequence

from sysbench_py import core
from sysbench_py.builtin.base import SimpleTest, check_at_least, make_locks
from sysbench_py.log import INFO
from sysbench_py.options import Kind, Option, OptionSet
from sysbench_py.plan import Plan

OPTIONS = (
    Option("thread-yields", Kind.INT, "1000", "number of yields to do per request"),
    Option("thread-locks", Kind.INT, "8", "number of locks per thread"),
)


class ThreadsTest(SimpleTest):
    """An event takes one of `locks` mutexes `yields` times."""

    def __init__(self, yields: int, locks: int) -> None:
        self._yields = yields
        self._locks = locks

    def begin(self) -> bool:
        check_at_least(0, "thread-yields", self._yields)
        self._array = make_locks("thread-locks", self._locks)
        return True

    def mode_messages(self) -> Sequence[tuple[int, str]]:
        return (
            (INFO, "Doing thread subsystem performance test"),
            (INFO, f"Thread yields per test: {self._yields} Locks used: {self._locks}"),
        )

    def run_worker(self, thread_id: int) -> bool:
        return core.bench_threads_worker(thread_id, self._array, self._yields)


def create(options: OptionSet, _plan: Plan) -> ThreadsTest:
    """The test as the options ask for it. Raises UsageError for a value that is no number."""
    return ThreadsTest(options.get("thread-yields", int), options.get("thread-locks", int))
