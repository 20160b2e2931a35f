"""--live: a table of a run, drawn over and over on the terminal of standard output, and gone at the end."""

from __future__ import annotations

import io
import os
from collections import deque
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from sysbench_py import core
from sysbench_py.log import say
from sysbench_py.stats.model import NS_PER_MS, IntervalStats, Percentile

if TYPE_CHECKING:
    from rich.console import RenderableType

STDOUT = 1
# Wider, the eye loses the line.
WIDEST = 120
NARROWEST = 40
BARS = "▁▂▃▄▅▆▇█"
PERCENTS = (50, 95, 99)


class Row(NamedTuple):
    """A figure: of the last second and of the run so far, `shown` with so many digits."""

    label: str
    now: float
    run: float
    digits: int
    style: str


def open_live(asked: bool) -> Live | None:
    """The table, if it was asked for and there is a terminal for it; else a line says why not."""
    if not asked:
        return None
    if os.isatty(STDOUT) and os.environ.get("TERM") != "dumb":
        return Live()
    say("--live shows nothing, as standard output is not a terminal")
    return None


class Live:
    """The table, and what its sparklines show: a value a second."""

    def __init__(self) -> None:
        self._history: dict[str, deque[float]] = {}

    def draw(self, now: IntervalStats, run: IntervalStats, *, done: int, events_limit: int, time_limit_s: int) -> None:
        """Show the table; `now` is the last second or so, `run` everything until now."""
        import shutil

        from rich.console import Console

        size = shutil.get_terminal_size()
        rows = list(_rows(now, run))
        for row in rows:
            self._history.setdefault(row.label, deque(maxlen=WIDEST)).append(row.now)
        width = min(max(size.columns - 1, NARROWEST), WIDEST)
        text = io.StringIO()
        Console(file=text, width=width, force_terminal=True, legacy_windows=False).print(
            self._table(rows, now, width, _time_bar(run.time_total_s, done, events_limit, time_limit_s, width))
        )
        lines = text.getvalue().rstrip("\n").split("\n")[: size.lines - 1]
        core.progress_draw("\n".join(lines).encode(), STDOUT)

    def _table(self, rows: Sequence[Row], now: IntervalStats, width: int, bar: str) -> RenderableType:
        from rich import box
        from rich.console import Group
        from rich.panel import Panel
        from rich.table import Table
        from rich.text import Text

        table = Table(box=None, expand=True, padding=(0, 1), header_style="dim")
        table.add_column("", no_wrap=True)
        table.add_column("now", justify="right", no_wrap=True)
        table.add_column("run", justify="right", no_wrap=True)
        table.add_column("last seconds", ratio=1, no_wrap=True)
        fixed = [[row.label, _number(row.now, row.digits), _number(row.run, row.digits)] for row in rows]
        # A border and a blank on either side of the panel, a blank on either side of each column.
        room = width - 4 - 8 - sum(max(3, *(len(cells[at]) for cells in fixed)) for at in range(3))
        for row, cells in zip(rows, fixed, strict=True):
            line = sparkline(list(self._history[row.label])[-max(room, 1) :])
            table.add_row(cells[0], Text(cells[1], style="bold"), cells[2], Text(line, style=row.style))
        title = f"{now.threads_running} thread{'' if now.threads_running == 1 else 's'}"
        return Panel(Group(Text(bar, no_wrap=True), Text(""), table), title=title, box=box.ROUNDED, border_style="dim")


def _rows(now: IntervalStats, run: IntervalStats) -> Iterator[Row]:
    yield Row("tps" if now.sql else "events/s", now.events_per_s, run.events_per_s, 1, "cyan")
    if now.sql:
        yield Row("queries/s", now.queries_per_s, run.queries_per_s, 1, "cyan")
    for percent in sorted({*PERCENTS, *(each.percent for each in now.latency.percentiles)}):
        now_ns, run_ns = (each.latency.histogram.percentile_ns(percent) for each in (now, run))
        label = f"p{Percentile(percent=percent, latency_ns=0)}, ms"
        yield Row(label, now_ns / NS_PER_MS, run_ns / NS_PER_MS, 2, "magenta")
    yield Row("max, ms", now.latency.max_ns / NS_PER_MS, run.latency.max_ns / NS_PER_MS, 2, "magenta")
    if now.sql:
        yield Row("errors/s", now.errors_per_s, run.errors_per_s, 2, "red")
    if run.counters.reconnects:
        now_s, run_s = (each.per_second(each.counters.reconnects) for each in (now, run))
        yield Row("reconnects/s", now_s, run_s, 2, "red")
    if now.rate_mode:
        yield Row("queue", now.queue_length, now.queue_length, 0, "yellow")


def sparkline(values: Sequence[float]) -> str:
    """A bar a value, from nothing to the largest of them; a blank for 0."""
    most = max(values, default=0)
    steps = len(BARS) - 1
    return "".join(BARS[round(value / most * steps)] if value > 0 else " " for value in values)


def _number(value: float, digits: int) -> str:
    return f"{value:,.{digits}f}"


def _time_bar(elapsed_s: float, done: int, events_limit: int, time_limit_s: int, width: int) -> str:
    """How far the run is by the limit that is nearer, as a bar and in words."""
    shares = [0.0]
    words = [f"{elapsed_s:.0f} s"]
    if time_limit_s:
        shares.append(elapsed_s / time_limit_s)
        words.append(f"{max(time_limit_s - elapsed_s, 0):.0f} s left")
    if events_limit:
        shares.append(done / events_limit)
        words.append(f"{done:,} of {events_limit:,} events")
    text = ", ".join(words)
    room = width - 6 - len(text)
    if len(shares) == 1 or room < 10:
        return text
    filled = round(min(max(shares), 1.0) * room)
    return f"{'━' * filled}{'╌' * (room - filled)}  {text}"
