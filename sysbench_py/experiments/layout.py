"""Numbers and tables for people."""

from __future__ import annotations

from collections.abc import Sequence


def shown(value: float) -> str:
    """A number with two decimals, and with more where these would say little."""
    return f"{value:,.2f}" if value >= 1 or not value else f"{value:.3g}"


def relative(ratio: float) -> str:
    """What a value is, compared with another one: `3.2% lower`, `4.0 times as high`, `equal`."""
    if ratio == 1:
        return "equal"
    if ratio >= 2:
        return f"{ratio:,.1f} times as high" if ratio < 1e6 else "more than 1,000,000 times as high"
    percent = abs(ratio - 1) * 100
    for decimals in range(1, 5):
        number = f"{percent:.{decimals}f}"
        if float(number) not in (0, 100):
            break
    else:
        number = "less than 0.0001" if percent < 50 else "more than 99.9999"
    return f"{number}% {'higher' if ratio > 1 else 'lower'}"


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
