"""Worker threads."""

from __future__ import annotations

import threading
from collections.abc import Callable

from sysbench_py import core
from sysbench_py.log import FATAL, log

# Python, TLS and Lua need more than the 64 KiB that --thread-stack-size asks for by default.
MIN_STACK_SIZE_BYTES = 512 * 1024


class Crew:
    """The workers of a run or of a parallel command: work(thread id) tells whether it went well."""

    def __init__(self, work: Callable[[int], bool], threads: int, stack_size_bytes: int) -> None:
        self._work = work
        self._threads = threads
        self._stack_size_bytes = max(stack_size_bytes, MIN_STACK_SIZE_BYTES)
        self._lock = threading.Lock()
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
                threading.Thread(
                    target=self._run, args=(thread_id,), name=f"worker {thread_id}", daemon=True
                ).start()
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
                self.wake.set()

    def join(self) -> None:
        """Wait for the last worker, and say which fatal lines came from several."""
        while self.running > 0:
            self.wake.wait()
        for message, times in core.log_collapse(False):
            first_line = message.decode(errors="surrogateescape").split("\n")[0]
            log(FATAL, f"(from {times} more thread{'s' if times > 1 else ''}) {first_line}")
