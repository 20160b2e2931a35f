"""The whole result of a run: what was run, where, and everything that was measured."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sysbench_py.stats.client import Client
from sysbench_py.stats.model import IntervalStats, TotalStats

# Goes up when what is in a saved result changes its meaning or is no longer there; additions leave it.
SCHEMA_VERSION = 1

OptionValue = bool | int | float | str | tuple[str, ...]


def option_text(value: OptionValue) -> str:
    """The value as one types it; scripts have floats for whole numbers."""
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, float):
        return f"{value:.15g}"
    return ",".join(value) if isinstance(value, tuple) else str(value)


@dataclass(frozen=True, kw_only=True, slots=True)
class Database:
    """What a driver has connected to. An embedded database has its version in both places."""

    driver: str
    library: str
    server_version: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Machine:
    """Where the load was made. `cpus` are those that the process may use; `memory_bytes` is all there is."""

    host: str
    kernel: str
    cpu: str
    cpus: int
    memory_bytes: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Setup:
    """What was run, without passwords.

    `options` are all values in force, by their names in `sysbench.opt`; `started_at` is ISO 8601 in UTC.
    Statistics begin `warmup_s` later. `report_interval_s` is 0 if no intervals were printed: they are recorded
    all the same.
    """

    command_line: tuple[str, ...]
    test: str
    options: Mapping[str, OptionValue]
    threads: int
    percentiles: tuple[float, ...]
    warmup_s: int
    report_interval_s: int
    started_at: str
    engine: str
    luajit: str
    python: str
    databases: tuple[Database, ...]
    machine: Machine


@dataclass(frozen=True, kw_only=True, slots=True)
class RunResult:
    """A run from its start to its end, however it ended: `exit_status` is that of the process.

    Without checkpoints, counts and histograms of the intervals add up to those of `total`; with checkpoints
    `total` is what came after the last one. `client` is missing in results of earlier versions.

    `cut_short` are the messages of a run that a signal or --forced-shutdown has ended; `failed` tells whether a worker
    has failed.
    """

    schema_version: int = SCHEMA_VERSION
    setup: Setup
    exit_status: int
    intervals: tuple[IntervalStats, ...]
    checkpoints: tuple[TotalStats, ...]
    total: TotalStats
    client: Client | None = None
    cut_short: tuple[str, ...] = ()
    failed: bool = False
