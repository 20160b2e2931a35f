"""Ctrl-C and SIGTERM: a run ends and reports what was done; anything else ends at once and says so."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable
from types import FrameType

from sysbench_py import core
from sysbench_py.errors import ExitStatus

LOG_FATAL = 0


class Interrupts:
    """What the signals do now.

    The work is done in a thread of its own: Python runs signal handlers in the main thread only, which
    therefore must never be inside a long call into Lua."""

    def __init__(self) -> None:
        self.signal_number: int | None = None
        self._doing = ""
        self._stoppable: threading.Event | None = None

    def doing(self, what: str) -> None:
        """Name the work of which a signal leaves a part undone."""
        self._doing = what
        self._stoppable = None

    def run_started(self, wake: threading.Event) -> None:
        """From now on the first signal stops the run; `wake` is set for whoever waits for its end."""
        self._stoppable = wake

    def _on_signal(self, number: int, _frame: FrameType | None) -> None:
        if self._stoppable is None or self.signal_number is not None:
            name = signal.Signals(number).name
            core.log_message(LOG_FATAL, f"interrupted by {name} during {self._doing}".encode())
            os._exit(128 + number)
        self.signal_number = number
        core.run_stop()
        self._stoppable.set()

    def status(self, status: ExitStatus) -> ExitStatus:
        """The exit status, with an interrupted run's taking precedence."""
        return status if self.signal_number is None else ExitStatus(128 + self.signal_number)

    def watch(self, work: Callable[[], ExitStatus]) -> ExitStatus:
        """Do the work in another thread while this one, the main thread, waits for it and for signals."""
        result: list[ExitStatus | BaseException] = []

        def run() -> None:
            try:
                result.append(work())
            except BaseException as error:
                result.append(error)

        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self._on_signal)
        thread = threading.Thread(target=run, name="conductor", daemon=True)
        thread.start()
        thread.join()
        if isinstance(result[0], BaseException):
            raise result[0]
        return result[0]
