"""What the program costs by itself: no server takes part."""

from __future__ import annotations

from benchmarks.measure import CPU_PER_EVENT, EVENTS, PEAK, WALL, Metric
from benchmarks.row import Row, against_reference

EMPTY = "{lua}/empty.lua"


def _ten_times(command: str) -> str:
    """One is too short to time."""
    return f"sh -c 'for i in 1 2 3 4 5 6 7 8 9 10; do {command} >/dev/null || exit 1; done'"


def _start_up(name: str, arguments: str, goal: float) -> Row:
    return Row(
        f"start-up, {name}",
        {WALL: goal},
        _ten_times("{python} -c pass"),
        _ten_times(f"{{ours}} {arguments}"),
        "python3 -c pass",
    )


def _empty(threads: int) -> Row:
    figures: dict[Metric, float | None] = {EVENTS: 2.0, CPU_PER_EVENT: None}
    return against_reference(f"empty event, {threads} thr.", f"{EMPTY} --threads={threads}", figures)


ROWS = (
    *(_empty(threads) for threads in (1, 2, 64, 2048)),
    Row(
        "empty event against the floor, 1 thr.",
        {EVENTS: None, CPU_PER_EVENT: None},
        "{floor} empty 1 {time}",
        f"{{ours}} {EMPTY} --time={{time}} run",
        "C floor",
    ),
    against_reference("peak memory, 1024 thr.", f"{EMPTY} --threads=1024", {PEAK: 0.8}),
    Row(
        "empty event, --report-interval=1, HDR on, 1 thr.",
        {EVENTS: 0.98},
        f"{{ours}} {EMPTY} --report-interval=1 --percentile=0 --time={{time}} run",
        f"{{ours}} {EMPTY} --report-interval=1 --output=hdr:run.hdr --time={{time}} run",
        "ours, --percentile=0",
    ),
    against_reference("Lua values, 1 thr.", "{lua}/values.lua", {EVENTS: 1.2}),
    _start_up("--version", "--version", 4),
    _start_up("oltp_read_write help", "oltp_read_write help", 8),
)
