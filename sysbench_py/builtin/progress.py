"""A bar on standard error, for people who wait at a terminal."""

from __future__ import annotations

import sys
import time

BAR_WIDTH = 30
REDRAW_S = 0.1
MIB = 2**20


class Progress:
    """How much of `total_bytes` is there. Nothing is drawn where standard error is no terminal."""

    def __init__(self, total_bytes: int) -> None:
        self._total_bytes = total_bytes
        self._there_bytes = 0
        self._written_bytes = 0
        self._start_s = self._drawn_s = time.monotonic()
        self._terminal = sys.stderr.isatty()
        self._visible = False

    def skip(self, size_bytes: int) -> None:
        """So much need not be written."""
        self._there_bytes += size_bytes

    def add(self, size_bytes: int) -> None:
        """So much has been written."""
        self._there_bytes += size_bytes
        self._written_bytes += size_bytes
        now_s = time.monotonic()
        if self._terminal and now_s - self._drawn_s >= REDRAW_S:
            self._drawn_s = now_s
            self._draw(now_s - self._start_s)

    def _draw(self, elapsed_s: float) -> None:
        share = min(self._there_bytes / self._total_bytes, 1.0)
        bar = "#" * int(share * BAR_WIDTH)
        rate = self._written_bytes / MIB / elapsed_s
        # The cursor goes back to the start of the line: whatever is printed next takes the bar's place.
        sys.stderr.write(f"\x1b[K[{bar:<{BAR_WIDTH}}] {share:4.0%} {rate:8.1f} MiB/s\r")
        sys.stderr.flush()
        self._visible = True

    def clear(self) -> None:
        """Take the bar away, before a message and at the end."""
        if self._visible:
            sys.stderr.write("\x1b[K")
            sys.stderr.flush()
            self._visible = False
