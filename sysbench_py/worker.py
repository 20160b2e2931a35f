"""Worker threads."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Sequence

from sysbench_py import core
from sysbench_py.log import DEBUG, FATAL, log
from sysbench_py.system import join_os_thread

# Python, TLS and Lua need more than the 64 KiB that --thread-stack-size asks for by default.
MIN_STACK_SIZE_BYTES = 512 * 1024
# How long a thread may keep the interpreter to itself, if that is longer than Python's own 5 ms. Each that waits for it
# wakes so often to ask for it, and when workers start and end, all of them wait: thousands would do nothing else.
SWITCH_INTERVAL_S_PER_THREAD = 0.0001


def crew_groups(threads: int, carriers: int) -> list[Sequence[int]]:
    """Which workers run on which OS thread: each on one of its own, or all on so many carriers."""
    n = min(carriers, threads) or threads
    return [range(first, threads, n) for first in range(n)]


class Crew:
    """The workers of a run or of a parallel command, a group of them on each OS thread.

    work(thread ids) runs a group and tells whether it went well.
    """

    def __init__(
        self, work: Callable[[Sequence[int]], bool], groups: Sequence[Sequence[int]], stack_size_bytes: int
    ) -> None:
        self._work = work
        self._groups = groups
        self._stack_size_bytes = max(stack_size_bytes, MIN_STACK_SIZE_BYTES)
        self._switch_interval_s = sys.getswitchinterval()
        self._threads: list[threading.Thread] = []
        self._lock = threading.Lock()
        self._ended = threading.Event()
        self.running = sum(map(len, groups))
        self.failed = False
        # Set when the last worker has ended; a signal handler may set it earlier, to wake whoever waits.
        self.wake = threading.Event()

    def start(self) -> None:
        """Start all workers. Fatal lines that several of them print alike are counted from now on."""
        core.log_collapse(True)
        sys.setswitchinterval(max(self._switch_interval_s, len(self._groups) * SWITCH_INTERVAL_S_PER_THREAD))
        before = threading.stack_size(self._stack_size_bytes)
        try:
            for group in self._groups:
                thread = threading.Thread(target=self._run, args=(group,), name=f"worker {group[0]}", daemon=True)
                thread.start()
                self._threads.append(thread)
        except RuntimeError as error:
            started = len(self._threads)
            log(FATAL, f"thread {started + 1} of {len(self._groups)} cannot be started: {error}")
            for group in self._groups[started:]:
                for _ in group:
                    core.worker_missing()
                self._finish(group, False)
        finally:
            threading.stack_size(before)

    def open(self, time_limit_ns: int, go: bool, warmup_ns: int = 0) -> int:
        """Open the start barrier, for a run or to call it off; when that was, as now_ns()."""
        return core.barrier_open(time_limit_ns, go, warmup_ns)

    def _run(self, group: Sequence[int]) -> None:
        core.rng_enter(group[0])
        for thread_id in group:
            log(DEBUG, f"Worker thread (#{thread_id}) started")
        ok = False
        try:
            ok = self._work(group)
        finally:
            self._finish(group, ok)

    def _finish(self, group: Sequence[int], ok: bool) -> None:
        with self._lock:
            self.failed = self.failed or not ok
            self.running -= len(group)
            if self.running == 0:
                self._ended.set()
                self.wake.set()

    def join(self, timeout_s: float | None = None) -> bool:
        """Wait for the last worker, and say how often fatal lines came again; False if the time is up."""
        if not self._ended.wait(timeout_s):
            return False
        for thread in self._threads:
            join_os_thread(thread)
        sys.setswitchinterval(self._switch_interval_s)
        least, most = core.log_collapse(False)
        if most:
            times = "once more" if most == 1 else f"{'' if least == most else 'up to '}{most} times more"
            log(FATAL, f"(the same {times})")
        return True
