"""The mutex test: how long each worker needs for many short critical sections."""

from __future__ import annotations

from collections.abc import Sequence

from sysbench_py import core
from sysbench_py.builtin.base import SimpleTest, check_at_least, make_locks
from sysbench_py.log import INFO
from sysbench_py.options import Kind, Option, OptionSet
from sysbench_py.plan import Plan

OPTIONS = (
    Option("mutex-num", Kind.INT, "4096", "total size of mutex array"),
    Option("mutex-locks", Kind.INT, "50000", "number of mutex locks to do per thread"),
    Option("mutex-loops", Kind.INT, "10000", "number of empty loops to do outside mutex lock"),
)


class MutexTest(SimpleTest):
    """Each worker has one event: `locks` times it counts to `loops` and takes one of `num` mutexes."""

    def __init__(self, num: int, locks: int, loops: int) -> None:
        self._num = num
        self._locks = locks
        self._loops = loops

    def begin(self) -> bool:
        check_at_least(1, "mutex-locks", self._locks)
        check_at_least(0, "mutex-loops", self._loops)
        self._array = make_locks("mutex-num", self._num)
        return True

    def mode_messages(self) -> Sequence[tuple[int, str]]:
        return ((INFO, "Doing mutex performance test"),)

    def run_worker(self, thread_id: int) -> bool:
        return core.bench_mutex_worker(thread_id, self._array, self._locks, self._loops)


def create(options: OptionSet, _plan: Plan) -> MutexTest:
    """The test as the options ask for it. Raises UsageError for a value that is no number."""
    return MutexTest(*(options.get(row.name, int) for row in OPTIONS))
