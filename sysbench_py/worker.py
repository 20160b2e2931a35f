"""Worker threads."""

from __future__ import annotations

import threading
from collections.abc import Callable

from sysbench_py import core
from sysbench_py.log import DEBUG, FATAL, log

# Python, TLS and Lua need more than the 64 KiB that --thread-stack-size asks for by default.
MIN_STACK_SIZE_BYTES = 512 * 1024


class Crew:
    """The workers of a run or of a parallel command: work(thread id) tells whether it went well."""

    def __init__(self, work: Callable[[int], bool], threads: int, stack_size_bytes: int) -> None:
        self._work = work
        self._threads = threads
        self._stack_size_bytes = max(stack_size_bytes, MIN_STACK_SIZE_BYTES)
        self._lock = threading.Lock()
        self._ended = threading.Event()
        self.running = threads
        self.failed = False
        # Set when the last worker has ended; a signal handler may set it earlier, to wake whoever waits.
        self.wake = threading.Event()

    def start(self) -> None:
        """Start all workers. Fatal lines that several of them print alike are counted from now on."""
        core.log_collapse(True)
        before = threading.stack_size(self._stack_size_bytes)
        started = 0
        try:
            for thread_id in range(self._threads):
                threading.Thread(target=self._run, args=(thread_id,), name=f"worker {thread_id}", daemon=True).start()
                started += 1
        except RuntimeError as error:
            log(FATAL, f"thread {started + 1} of {self._threads} cannot be started: {error}")
            for _ in range(started, self._threads):
                core.worker_missing()
                self._finish(False)
        finally:
            threading.stack_size(before)

    def _run(self, thread_id: int) -> None:
        core.rng_enter(thread_id)
        log(DEBUG, f"Worker thread (#{thread_id}) started")
        ok = False
        try:
            ok = self._work(thread_id)
        finally:
            self._finish(ok)

    def _finish(self, ok: bool) -> None:
        with self._lock:
            self.failed = self.failed or not ok
            self.running -= 1
            if self.running == 0:
                self._ended.set()
                self.wake.set()

    def join(self, timeout_s: float | None = None) -> bool:
        """Wait for the last worker, and say how often fatal lines came again; False if the time is up."""
        if not self._ended.wait(timeout_s):
            return False
        least, most = core.log_collapse(False)
        if most:
            times = "once more" if most == 1 else f"{'' if least == most else 'up to '}{most} times more"
            log(FATAL, f"(the same {times})")
        return True
