"""Ctrl-C, SIGTERM and SIGHUP: a run ends and reports what was done; anything else ends at once and says so.

A second signal always ends the process at once, but for one that comes with the first: `timeout` sends SIGTERM to the
process and then to its group."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable
from queue import SimpleQueue
from types import FrameType
from typing import NoReturn

from sysbench_py import core
from sysbench_py.errors import ExitStatus
from sysbench_py.log import FATAL, log
from sysbench_py.system import END_SIGNALS, SAME_SIGNAL_S, join_os_thread

# What a command that is cut off leaves behind.
_LEAVES = {
    "prepare": "what it was making stands half-done: do 'cleanup', then 'prepare' again",
    "cleanup": "some of what it was removing may be left: do 'cleanup' again",
    "run": "no event has been run",
}
_MAY_LEAVE = "what it was doing may stand half-done"
# How long reports, their hooks and done() may take after a signal.
REPORT_GRACE_S = 5.0


def _handle_by(handler: Callable[[int, FrameType | None], None] | signal.Handlers) -> None:
    """For those that whoever started the process does not want ignored, as a shell does for `&` and nohup."""
    for number in END_SIGNALS:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, handler)


def _ignore(_number: int, _frame: FrameType | None) -> None:
    """A handler, as a signal that is ignored would not be heeded later."""


def leave_now(status: int) -> NoReturn:
    """End the process although threads are still at work."""
    core.log_end()
    os._exit(status)


class Interrupts:
    """What the signals do now.

    The work is done in a thread of its own: Python runs signal handlers in the main thread only, which
    therefore must never be inside a long call into Lua."""

    def __init__(self) -> None:
        self.signal_number: int | None = None
        self._command: str | None = None
        self._stoppable: threading.Event | None = None
        self._run_ended = False
        self._keep_result: Callable[[], None] = lambda: None
        self._report_limit: threading.Timer | None = None
        # What the main thread waits for; a signal handler may put into it at any moment.
        self._news: SimpleQueue[None] = SimpleQueue()

    def begin(self, command: str | None) -> None:
        """A command begins (None for a script's body); a signal ends it wherever it is."""
        self._command = command
        self._stoppable = None
        self._run_ended = False

    def run_started(self, wake: threading.Event) -> None:
        """From now on the first signal stops the run; `wake` is set for whoever waits for its end."""
        self._stoppable = wake

    def run_ended(self, keep_result: Callable[[], None]) -> None:
        """The events are over. What follows gets some time after a signal, as a script's hook may never end; then the
        process does nothing more than to keep the result."""
        self._run_ended = True
        self._keep_result = keep_result
        if self.signal_number is not None:
            self._limit_report()

    def hooks_ended(self) -> None:
        """What follows is our own: it ends, and is not cut off."""
        self._run_ended = False
        if self._report_limit is not None:
            self._report_limit.cancel()

    def _limit_report(self) -> None:
        self._report_limit = threading.Timer(REPORT_GRACE_S, self._cut_report)
        self._report_limit.daemon = True
        self._report_limit.start()

    def _cut_report(self) -> None:
        log(FATAL, f"interrupted by {self.name}, and a hook of the script does not end")
        self._keep_result()
        leave_now(128 + (self.signal_number or 0))

    @property
    def name(self) -> str:
        """The signal that has come, as people call it."""
        return signal.Signals(self.signal_number or 0).name

    def _on_signal(self, number: int, _frame: FrameType | None) -> None:
        _handle_by(_ignore)
        self._news.put(None)
        self.signal_number = number
        if self._stoppable is not None:
            core.run_stop()
            self._stoppable.set()
            if self._run_ended:
                self._limit_report()
            return
        during = ""
        if self._command is not None:
            during = f" during '{self._command}': {_LEAVES.get(self._command, _MAY_LEAVE)}"
        core.progress_clear()
        log(FATAL, f"interrupted by {self.name}{during}")
        leave_now(128 + number)

    def status(self, status: ExitStatus) -> ExitStatus:
        """The exit status, with an interrupted run's taking precedence."""
        return status if self.signal_number is None else ExitStatus(128 + self.signal_number)

    def watch(self, work: Callable[[], ExitStatus]) -> ExitStatus:
        """Do the work in another thread while this one, the main thread, waits for it and for signals."""
        result: list[ExitStatus | BaseException] = []

        def conduct() -> None:
            try:
                result.append(work())
            except BaseException as error:
                result.append(error)
            finally:
                self._news.put(None)

        _handle_by(self._on_signal)
        thread = threading.Thread(target=conduct, name="conductor", daemon=True)
        thread.start()
        self._news.get()
        if self.signal_number is not None:
            time.sleep(SAME_SIGNAL_S)
            _handle_by(signal.SIG_DFL)
        join_os_thread(thread)
        if isinstance(result[0], BaseException):
            raise result[0]
        return result[0]
