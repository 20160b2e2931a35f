"""What a result says of how it came about: the command line, versions, the machine."""

from __future__ import annotations

import math
import os
import platform
import re
from datetime import datetime, timezone
from pathlib import Path

from sysbench_py.command_line import CommandLine
from sysbench_py.drivers import DRIVERS
from sysbench_py.drivers.seen import seen
from sysbench_py.options import OptionSet
from sysbench_py.passwords import is_secret, without_passwords
from sysbench_py.plan import Plan
from sysbench_py.script import luajit_version
from sysbench_py.stats.result import Database, Machine, OptionValue, Setup
from sysbench_py.version import VERSION_STRING


def describe(cmdline: CommandLine, plan: Plan) -> Setup:
    """The set-up of a run whose workers are connected, as it is about to start."""
    return Setup(
        command_line=tuple(map(without_passwords, cmdline.argv)),
        test=cmdline.testname or "",
        options=_options(cmdline.options),
        threads=plan.threads,
        percentiles=plan.percentiles,
        warmup_s=plan.warmup_s,
        report_interval_s=plan.report_interval_s,
        started_at=datetime.now(timezone.utc).isoformat(timespec="milliseconds"),
        engine=VERSION_STRING,
        luajit=luajit_version(),
        python=platform.python_version(),
        databases=tuple(Database(**each._asdict()) for each in seen()),
        machine=_machine(),
    )


def _options(options: OptionSet) -> dict[str, OptionValue]:
    """All but secrets, and but the defaults of drivers that are not used."""
    used = {each.driver for each in seen()}
    unused = tuple(f"{driver.name}_" for driver in DRIVERS if driver.name not in used)
    return {
        key: _shown(value)
        for key, value in options.values().items()
        if not is_secret(key) and (options.typed(key) or not key.startswith(unused))
    }


def _shown(value: OptionValue) -> OptionValue:
    if isinstance(value, str):
        return without_passwords(value)
    # JSON has no infinity.
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value


def _machine() -> Machine:
    system = os.uname()
    return Machine(
        host=system.nodename,
        kernel=f"{system.sysname} {system.release}",
        cpu=_cpu_model() or system.machine,
        cpus=len(os.sched_getaffinity(0)),
        memory_bytes=os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
    )


def _cpu_model() -> str:
    """As the kernel calls it; empty where it has no name for it, as on many ARM machines."""
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
    match = re.search(r"^model name\s*: *(.*)$", text, re.MULTILINE)
    return match[1] if match else ""
