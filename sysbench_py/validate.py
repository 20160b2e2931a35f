"""From the values of the general options to a Plan."""

from __future__ import annotations

import math
import re
from collections.abc import Callable

from sysbench_py.errors import UsageError
from sysbench_py.options import OptionSet, option_key, parse_int
from sysbench_py.plan import Plan, RandPlan, RateStep
from sysbench_py.rates import parse_steps
from sysbench_py.suggest import one_of
from sysbench_py.system import processors

MAX_CHECKPOINTS = 256
MAX_VERBOSITY = 5
OLD_REPORT = "0.4"
REPORT_STYLES = ("1.0", OLD_REPORT)
DISTRIBUTIONS = ("uniform", "gaussian", "special", "pareto", "zipfian")

_PERCENT = re.compile(r"[ \t\n\v\f\r]*[+-]?[0-9]+(\.[0-9]+)?")
_PERCENTILE_ADVICE = "use 1 to 100, several as in 50,95,99.9, or 0 for none"
_FORCED_SHUTDOWN = re.compile(r"\+?([0-9]+)(%?)")


def make_plan(options: OptionSet, warn: Callable[[str], None]) -> Plan:
    """Validate the general options in the order in which sysbench 1.0.20 does.

    `warn` gets lines for stdout. What one option means for another one (a deprecated spelling, --debug) is set
    in `options` too.
    Raises UsageError for the first value that is wrong.
    """
    _take_alias(options, "num-threads", "threads", warn)
    threads = _at_least(1, options, "threads")
    multiplex = _at_least(0, options, "multiplex")
    processes = _processes(options, threads)
    if multiplex and processes:
        raise UsageError.fatal(f"--multiplex={multiplex} and --workers=process exclude each other")
    if processes and options.get("statements", bool):
        raise UsageError.fatal("--statements=on needs --workers=thread: statements are not told apart across processes")
    _take_alias(options, "max-requests", "events", warn)
    events_limit = max(options.get("events", int), 0)
    _take_alias(options, "max-time", "time", warn)
    time_limit_s = max(options.get("time", int), 0)
    if not events_limit and not time_limit_s:
        warn("WARNING: Both event and time limits are disabled, running an endless test")
    warmup_s = _at_least(0, options, "warmup-time")
    forced_shutdown_s = _forced_shutdown_s(options.get("forced-shutdown", str), time_limit_s)
    thread_stack_size_bytes = options.get("thread-stack-size", int)
    if thread_stack_size_bytes <= 0:
        raise UsageError.fatal(
            f"Invalid value for thread-stack-size: {thread_stack_size_bytes}.\n",
            about="thread_stack_size",
            advice="use a size, as in 64K",
        )
    thread_init_timeout_s = _at_least(1, options, "thread-init-timeout")
    seed = options.get("rand-seed", int)
    rand = _rand(options)
    _take_alias(options, "tx-rate", "rate", warn)
    rate_steps = _rate_steps(options)
    time_limit_s = _time_of_steps(options, rate_steps, time_limit_s)
    # Anew, as it may be a part of the time limit; the first call has its place in the order of the errors.
    forced_shutdown_s = _forced_shutdown_s(options.get("forced-shutdown", str), time_limit_s)
    report_interval_s = _at_least(0, options, "report-interval")
    checkpoints_s = _checkpoints_s(options.get("report-checkpoints", tuple))
    debug = options.get("debug", bool)
    if debug:
        options.set("verbosity", str(MAX_VERBOSITY))
    verbosity = options.get("verbosity", int)
    if not 0 <= verbosity <= MAX_VERBOSITY:
        raise UsageError(f"Invalid value for verbosity: {verbosity}", "stdout", advice=f"use 0 to {MAX_VERBOSITY}")
    percentiles = _percentiles(options.get("percentile", tuple))
    histogram = options.get("histogram", bool)
    if histogram and not percentiles:
        raise UsageError.fatal("--histogram cannot be used with --percentile=0")
    report_style = options.get("report-style", str)
    check_report_style(report_style)
    db_reconnect_timeout_s = _at_least(0, options, "db-reconnect-timeout")
    return Plan(
        threads=threads,
        multiplex=multiplex,
        processes=processes,
        events_limit=events_limit,
        time_limit_s=time_limit_s,
        warmup_s=warmup_s,
        forced_shutdown_s=forced_shutdown_s,
        thread_stack_size_bytes=thread_stack_size_bytes,
        thread_init_timeout_s=thread_init_timeout_s,
        rate_steps=rate_steps,
        rate_overload=options.get("rate-overload", str),
        rate_detail=_rate_detail(options, rate_steps),
        arrival=options.get("arrival", str),
        report_interval_s=report_interval_s,
        checkpoints_s=checkpoints_s,
        percentiles=percentiles,
        histogram=histogram,
        old_report=report_style == OLD_REPORT,
        statements=options.get("statements", bool),
        errors=options.get("errors", bool),
        progress=options.get("progress", bool),
        live=options.get("live", bool),
        verbosity=verbosity,
        debug=debug,
        validate=options.get("validate", bool),
        seed=seed,
        rand=rand,
        luajit_cmd=options.get("luajit-cmd", str),
        db_driver=options.get("db-driver", str),
        db_ps_mode=options.get("db-ps-mode", str),
        db_debug=options.get("db-debug", bool),
        db_reconnect_timeout_s=db_reconnect_timeout_s,
        preflight=options.get("preflight", str),
        bulk=options.get("bulk", str),
    )


def _processes(options: OptionSet, threads: int) -> int:
    wanted = _at_least(0, options, "processes")
    if options.get("workers", str) == "thread":
        if wanted:
            raise UsageError.fatal(f"--processes={wanted} needs --workers=process")
        return 0
    return min(wanted or processors(), threads)


def _take_alias(options: OptionSet, alias: str, name: str, warn: Callable[[str], None]) -> None:
    """Let the deprecated `alias` replace the option `name`, if it was given a value that says something."""
    value = options.get(alias, int)
    # Of these, sysbench heeds a negative value, except as a time.
    ignored = value < 0 and alias == "max-time"
    if value not in (0, parse_int(options.row(alias).default or "0")) and not ignored:
        warn(f"WARNING: --{alias} is deprecated, use --{name} instead")
        options.set(name, str(value))


def _at_least(minimum: int, options: OptionSet, name: str) -> int:
    value = options.get(name, int)
    if value < minimum:
        # The empty line behind these messages is part of sysbench's output.
        advice = f"use at least {minimum}"
        raise UsageError.fatal(f"Invalid value for --{name}: {value}.\n", about=option_key(name), advice=advice)
    return value


def _rate_steps(options: OptionSet) -> tuple[RateStep, ...]:
    rate = options["rate"]
    if isinstance(rate, str):
        return parse_steps(rate)
    if not isinstance(rate, int | float):
        raise TypeError(f"option rate is a {type(rate).__name__}")
    if rate < 0:
        raise UsageError.fatal(f"Invalid value for --rate: {rate}.\n", about="rate", advice="use at least 0")
    return (RateStep(rate_per_s=rate, length_s=0),) if rate else ()


def _time_of_steps(options: OptionSet, steps: tuple[RateStep, ...], time_limit_s: int) -> int:
    """The time limit, which by default is that of the steps. A longer one lengthens the last step."""
    length_s = math.ceil(sum(step.length_s for step in steps))
    if not length_s:
        return time_limit_s
    if not options.typed("time"):
        options.set("time", str(length_s))
        return length_s
    if 0 < time_limit_s < length_s:
        raise UsageError.fatal(f"--time={time_limit_s} ends before the steps of --rate do, after {length_s} seconds")
    return time_limit_s


def _rate_detail(options: OptionSet, steps: tuple[RateStep, ...]) -> bool:
    """Whether the report tells more of the rate than the original's does: asked for, or an option is new."""
    typed = [name for name in ("rate-overload", "arrival", "rate-detail") if options.typed(name)]
    if typed and not steps:
        raise UsageError.fatal(f"--{typed[0]} needs --rate")
    if not options.typed("rate-detail") and (typed or any(step.length_s for step in steps)):
        options.set("rate-detail", "on")
    return options.get("rate-detail", bool)


def _forced_shutdown_s(text: str, time_limit_s: int) -> int | None:
    """Seconds to wait after the time limit: a number, or a percentage of the limit, by default 5 %."""
    if text.lower() == "off":
        return None
    match = _FORCED_SHUTDOWN.fullmatch(text or "5%")
    value = int(match[1]) if match else 2**31
    if not match or value >= 2**31:
        advice = "use seconds, a part of --time as in 5%, or off"
        raise UsageError.fatal(f"Invalid value for --forced-shutdown: '{text}'", about="forced_shutdown", advice=advice)
    if not time_limit_s:
        return None
    return time_limit_s * value // 100 if match[2] else value


def _rand(options: OptionSet) -> RandPlan:
    rand = RandPlan(
        distribution=options.get("rand-type", str),
        spec_iter=options.get("rand-spec-iter", int),
        spec_pct=options.get("rand-spec-pct", int),
        spec_res=options.get("rand-spec-res", int),
        pareto_h=options.get("rand-pareto-h", float),
        zipfian_exp=options.get("rand-zipfian-exp", float),
    )
    if rand.distribution not in DISTRIBUTIONS:
        advice = one_of(rand.distribution, DISTRIBUTIONS)
        raise UsageError.fatal(
            f"Invalid random numbers distribution: {rand.distribution}.", about="rand_type", advice=advice
        )
    if rand.spec_iter < 1:
        raise UsageError.fatal(f"Invalid value for --rand-spec-iter: {rand.spec_iter} (must be > 0)")
    for name, percentage in (("rand-spec-pct", rand.spec_pct), ("rand-spec-res", rand.spec_res)):
        if not 0 <= percentage <= 100:
            raise UsageError.fatal(f"Invalid value for --{name}: {percentage} (must be from 0 to 100)")
    if not 0 < rand.pareto_h < 1:
        raise UsageError.fatal(f"Invalid value for --rand-pareto-h: {rand.pareto_h:g} (must be > 0 and < 1)")
    if not 0 <= rand.zipfian_exp < math.inf:
        raise UsageError.fatal("--rand-zipfian-exp must be >= 0")
    return rand


def _percentiles(items: tuple[str, ...]) -> tuple[float, ...]:
    """Each once, in the order in which they were asked for; none for 0 and without a value."""
    percents: list[float] = []
    for item in items:
        if not _PERCENT.fullmatch(item):
            raise UsageError(
                f"Invalid value for the 'percentile' option: '{item}'", about="percentile", advice=_PERCENTILE_ADVICE
            )
        percents.append(float(item))
        if not 0 <= percents[-1] <= 100:
            raise UsageError.fatal(
                f"Invalid value for --percentile: {percents[-1]:.15g}", about="percentile", advice=_PERCENTILE_ADVICE
            )
    if percents in ([], [0]):
        return ()
    if 0 in percents:
        raise UsageError.fatal(f"Invalid value for --percentile: {','.join(items)} (0, for none, stands alone)")
    return tuple(dict.fromkeys(percents))


def _checkpoints_s(items: tuple[str, ...]) -> tuple[int, ...]:
    if len(items) > MAX_CHECKPOINTS:
        raise UsageError.fatal(f"Too many checkpoints in --report-checkpoints (up to {MAX_CHECKPOINTS} can be defined)")
    checkpoints_s = []
    for item in items:
        try:
            checkpoint_s = parse_int(item)
        except ValueError:
            checkpoint_s = -1
        if checkpoint_s < 0:
            advice = "use whole seconds, as in 30,60"
            raise UsageError.fatal(
                f"Invalid value for --report-checkpoints: '{item}'", about="report_checkpoints", advice=advice
            )
        checkpoints_s.append(checkpoint_s)
    return tuple(sorted(checkpoints_s))


def check_report_style(style: str) -> None:
    """Raises UsageError for one that there is not."""
    if style not in REPORT_STYLES:
        raise UsageError.fatal(f"Invalid value for --report-style: '{style}' (use {' or '.join(REPORT_STYLES)})")
