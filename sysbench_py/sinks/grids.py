"""Lists of the result model as tables of texts: workers, operations, and whatever else is added to a total."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, is_dataclass
from typing import Any

from sysbench_py.stats.model import NS_PER_MS, LatencyHistogram, Percentile, TotalStats


@dataclass(frozen=True)
class Grid:
    """A table. Columns whose cells are no numbers are `texts`, by their place."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    texts: frozenset[int]


def grids(total: TotalStats) -> dict[str, Grid]:
    """A table for each list of the total that is not empty, by the name of its field."""
    return {
        field.name: _grid(field.name, items)
        for field in fields(TotalStats)
        if isinstance(items := getattr(total, field.name), tuple) and items and is_dataclass(items[0])
    }


def _grid(name: str, items: Sequence[Any]) -> Grid:
    rows = [list(_cells("", item)) for item in items]
    texts = {number for number, (_, value) in enumerate(rows[0]) if isinstance(value, str)}
    return Grid(
        title=name.replace("_", " ").capitalize(),
        columns=[_title(column) for column, _ in rows[0]],
        rows=[[_text(column, value) for column, value in row] for row in rows],
        texts=frozenset(texts),
    )


def _cells(prefix: str, item: Any) -> Iterator[tuple[str, Any]]:
    """Names and values of the columns; what is inside of another type is named after both."""
    for field in fields(item):
        value, name = getattr(item, field.name), f"{prefix}{field.name}"
        if isinstance(value, LatencyHistogram):
            continue
        if is_dataclass(value):
            yield from _cells(f"{name} ", value)
        elif isinstance(value, tuple):
            for each in value:
                if isinstance(each, Percentile):
                    yield f"{prefix}p{each}_ns", each.latency_ns
        else:
            yield name, value


def _title(column: str) -> str:
    for ending, unit in (("_ns", ", ms"), ("_per_s", "/s"), ("_s", ", s"), ("_bytes", ", bytes")):
        if column.endswith(ending):
            return column.removesuffix(ending).replace("_", " ") + unit
    return column.replace("_", " ")


def _text(column: str, value: Any) -> str:
    if column.endswith("_ns"):
        return f"{value / NS_PER_MS:.3f}"
    return f"{value:.2f}" if isinstance(value, float) else str(value)
