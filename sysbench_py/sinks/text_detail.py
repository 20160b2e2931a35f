"""Text blocks that follow the usual report if they are asked for. Each is one message, and ends with an empty line."""

from __future__ import annotations

from collections.abc import Sequence

from sysbench_py.sinks.grids import LEFT, Grid, errors_grid, open_loop_grids, statements_grid
from sysbench_py.stats.model import OpenLoop, TotalStats


def detail_messages(stats: TotalStats, *, statements: bool, errors: bool, open_loop: bool) -> list[str]:
    """What the original does not report, as far as it is asked for and there is any of it."""
    messages = []
    if open_loop and stats.open_loop:
        messages.append(_open_loop_message(stats.open_loop))
    if statements and stats.sql:
        messages.append(_block(statements_grid(stats.statements)))
    if (errors or statements) and stats.errors:
        messages.append(_block(errors_grid(stats.errors)))
    return messages


def _open_loop_message(open_loop: OpenLoop) -> str:
    total = open_loop.total
    lines = [
        f"Open loop ({open_loop.arrival} arrivals):",
        f"    rate asked:                          {total.rate_asked_per_s:.2f} per sec.",
        f"    rate reached:                        {total.rate_reached_per_s:.2f} per sec.",
        f"    events waiting (at end/at most):     {total.backlog}/{total.backlog_max}",
        f"    events dropped:                      {total.events_dropped}",
        "",
    ]
    return "\n".join([*lines, *map(_block, open_loop_grids(open_loop))])


def _block(grid: Grid) -> str:
    """A table, its columns aligned, and an empty line after it."""
    table = [grid.heading, *grid.rows]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]

    def line(cells: Sequence[str]) -> str:
        aligned = (
            f"{cell:<{width}}" if name in LEFT else f"{cell:>{width}}"
            for name, cell, width in zip(grid.heading, cells, widths, strict=True)
        )
        return f"    {'  '.join(aligned)}".rstrip()

    return "\n".join([f"{grid.title}:", *map(line, table), ""])
