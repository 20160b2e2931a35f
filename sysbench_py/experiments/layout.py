"""Numbers and tables for people."""

from __future__ import annotations

from collections.abc import Sequence


def shown(value: float) -> str:
    """A number with two decimals, and with more where these would say little."""
    return f"{value:,.2f}" if value >= 1 or not value else f"{value:.3g}"


def aligned(rows: Sequence[Sequence[str]], *, left: int) -> str:
    """Rows of cells as lines; the first `left` columns begin at the left, the others end at the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for row in rows:
        cells = [
            cell.ljust(width) if number < left else cell.rjust(width)
            for number, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)
