"""A line on standard error for people who wait at a terminal: drawn over and over, and gone at the end.

The core draws it and takes it away before anything is printed, so that it never mixes with output.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from types import TracebackType
from typing import TYPE_CHECKING

from sysbench_py import core

if TYPE_CHECKING:
    from sysbench_py.stats.model import IntervalStats

BAR_WIDTH = 30
REDRAW_S = 0.1
# How often the line of a command is drawn that does not tell how far it is.
TICK_S = 0.5
MIB = 2**20


def wanted(on: bool) -> bool:
    """Whether there is anybody to show progress to."""
    return on and sys.stderr.isatty()


def draw(line: str) -> None:
    """Show the line; what does not fit into the terminal is cut off."""
    import shutil

    width = shutil.get_terminal_size().columns
    core.progress_draw(os.fsencode(line[: width - 1]))


class ByteProgress:
    """How much of `total_bytes` is there."""

    def __init__(self, total_bytes: int, on: bool) -> None:
        self._total_bytes = total_bytes
        self._there_bytes = 0
        self._written_bytes = 0
        self._start_s = self._drawn_s = time.monotonic()
        self._on = wanted(on)

    def skip(self, size_bytes: int) -> None:
        """So much need not be written."""
        self._there_bytes += size_bytes

    def add(self, size_bytes: int) -> None:
        """So much has been written."""
        self._there_bytes += size_bytes
        self._written_bytes += size_bytes
        now_s = time.monotonic()
        if self._on and now_s - self._drawn_s >= REDRAW_S:
            self._drawn_s = now_s
            self._draw(now_s - self._start_s)

    def _draw(self, elapsed_s: float) -> None:
        share = min(self._there_bytes / self._total_bytes, 1.0)
        bar = "#" * int(share * BAR_WIDTH)
        rate = self._written_bytes / MIB / elapsed_s
        left_s = (self._total_bytes - self._there_bytes) / MIB / rate if rate else 0
        draw(f"[{bar:<{BAR_WIDTH}}] {share:4.0%} {rate:8.1f} MiB/s, {max(left_s, 0):.0f} s left")

    def clear(self) -> None:
        """The last byte has been written."""
        core.progress_clear()


class CommandProgress:
    """The time that a script's command takes, and the rows that it has loaded, while the context lasts."""

    def __init__(self, command: str, on: bool) -> None:
        self._command = command
        self._on = wanted(on)
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._tick, name="progress", daemon=True)

    def __enter__(self) -> CommandProgress:
        self._start_s = time.monotonic()
        self._rows_before = core.db_rows_loaded()
        if self._on:
            self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._ended.set()
        if self._on:
            self._thread.join()
            core.progress_clear()

    def _tick(self) -> None:
        while not self._ended.wait(TICK_S):
            elapsed_s = time.monotonic() - self._start_s
            rows = core.db_rows_loaded() - self._rows_before
            loaded = f", {rows:,} rows, {rows / elapsed_s:,.0f} rows/s" if rows else ""
            draw(f"{self._command}: {elapsed_s:.0f} s{loaded}")


def draw_run(stats: IntervalStats, *, done: int, events_limit: int, time_limit_s: int) -> None:
    """Draw the line of a run; `stats` are those of the last second or so, `done` all its events."""
    from sysbench_py.stats.model import NS_PER_MS  # late: prepare does without

    parts = [f"run: {stats.time_total_s:.0f} s"]
    if time_limit_s:
        parts = [f"run: {max(time_limit_s - stats.time_total_s, 0):.0f} s left"]
    if events_limit:
        parts.append(f"{done:,} of {events_limit:,} events")
    parts.append(f"{stats.events_per_s:,.0f} {'tps' if stats.sql else 'events/s'}")
    parts += [f"p{each} {each.latency_ns / NS_PER_MS:.2f} ms" for each in stats.latency.percentiles]
    if stats.counters.errors:
        parts.append(f"{stats.errors_per_s:,.1f} errors/s")
    draw(", ".join(parts))
