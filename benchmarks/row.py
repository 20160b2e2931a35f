"""A row of a table: two commands that do the same work, and what is compared of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from benchmarks.measure import Metric


@dataclass(frozen=True)
class Row:
    """Commands are templates whose names in braces are attributes of `Site`.

    `figures` are metrics and the goal of the ratio of ours to theirs, if there is one. `before` runs before each run
    and is not measured.
    """

    name: str
    figures: Mapping[Metric, float | None]
    theirs: str
    ours: str
    against: str = "sysbench 1.0"
    before: str = ""


def against_reference(name: str, arguments: str, figures: Mapping[Metric, float | None], before: str = "") -> Row:
    """The same arguments for the reference and for our command, of a run as long as --time says."""
    arguments += " --time={time} run"
    return Row(name, figures, f"{{reference}} {arguments}", f"{{ours}} {arguments}", before=before)
