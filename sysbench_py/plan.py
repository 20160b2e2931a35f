"""Plan: what one run is to do, fully resolved, frozen and picklable."""

from __future__ import annotations

from typing import NamedTuple


class RandPlan(NamedTuple):
    """Parameters of the random distributions; `distribution` is the one scripts get by default."""

    distribution: str
    spec_iter: int
    spec_pct: int
    spec_res: int
    pareto_h: float
    zipfian_exp: float


class RateStep(NamedTuple):
    """One rate of --rate, and how long it lasts; 0 for the only one, which lasts for the run."""

    rate_per_s: float
    length_s: float


class Plan(NamedTuple):
    """The general settings of a run.

    A limit, rate or interval of 0 means none, a `seed` of 0 means the current time; without `percentiles` none
    is calculated. `multiplex` is the number of OS threads that all workers share; 0 gives each its own.
    `processes` is how many the workers are shared among, 0 for this one alone.
    `rate_steps` is empty without a rate. `forced_shutdown_s` counts from the time limit; None means never.
    An empty `db_driver` or `luajit_cmd` means that the user named none. With `old_report`, reports have the
    layout of sysbench 0.4.
    """

    threads: int
    multiplex: int
    processes: int
    events_limit: int
    time_limit_s: int
    warmup_s: int
    forced_shutdown_s: int | None
    thread_stack_size_bytes: int
    thread_init_timeout_s: int
    rate_steps: tuple[RateStep, ...]
    rate_overload: str
    rate_detail: bool
    arrival: str
    report_interval_s: int
    checkpoints_s: tuple[int, ...]
    percentiles: tuple[float, ...]
    histogram: bool
    old_report: bool
    statements: bool
    errors: bool
    progress: bool
    live: bool
    verbosity: int
    debug: bool
    validate: bool
    seed: int
    rand: RandPlan
    luajit_cmd: str
    db_driver: str
    db_ps_mode: str
    db_debug: bool
    db_reconnect_timeout_s: int
    preflight: str
    bulk: str
