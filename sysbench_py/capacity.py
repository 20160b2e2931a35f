"""How many worker threads the system lets a process have, so that too many are an error before they are started.

Each limit is an upper bound: a count that is refused could not work, and one that is not may still fail."""

from __future__ import annotations

import resource
from collections.abc import Iterator
from pathlib import Path

from sysbench_py.errors import UsageError
from sysbench_py.plan import Plan

PROC = Path("/proc")
CGROUPS = Path("/sys/fs/cgroup")
# Capabilities that RLIMIT_NPROC does not count for: CAP_SYS_ADMIN and CAP_SYS_RESOURCE, getrlimit(2).
_UNLIMITED = 1 << 21 | 1 << 24


def check_threads(plan: Plan, worker_bytes: int) -> None:
    """Raises UsageError if the system has no room for the plan's workers, which need at least `worker_bytes` each."""
    limits = [(room // worker_bytes, what) for room, what in _memory_limits()]
    if not plan.multiplex:
        limits += _thread_limits()
    most, what = min(limits, default=(plan.threads, ""))
    if plan.threads > most:
        raise UsageError.fatal(
            f"Invalid value for --threads: {plan.threads}",
            about="threads",
            advice=f"use at most {max(most, 0)}: {what} has no room for more",
        )


def _thread_limits() -> Iterator[tuple[int, str]]:
    """(so many more threads, what allows no more)"""
    # Behind the slash in `0.20 0.18 0.12 1/80 11206` stand all threads there are, proc_loadavg(5).
    loadavg = _text(PROC / "loadavg").split()
    running = int(loadavg[3].partition("/")[2]) if len(loadavg) > 3 else 0
    for name in ("threads-max", "pid_max"):
        limit = _number(PROC / "sys/kernel" / name)
        if limit is not None:
            yield limit - running, f"/proc/sys/kernel/{name}"
    status = dict(line.split(":", 1) for line in _text(PROC / "self/status").splitlines() if ":" in line)
    processes, _ = resource.getrlimit(resource.RLIMIT_NPROC)
    if processes != resource.RLIM_INFINITY and not int(status.get("CapEff", "0"), 16) & _UNLIMITED:
        yield processes, "ulimit -u"
    for folder in _cgroups("pids"):
        limit, used = _number(folder / "pids.max"), _number(folder / "pids.current")
        if limit is not None and used is not None:
            yield limit - used, f"{folder}/pids.max"


def _memory_limits() -> Iterator[tuple[int, str]]:
    """(so many bytes, what has no more)"""
    meminfo = dict(line.split(":", 1) for line in _text(PROC / "meminfo").splitlines() if ":" in line)
    if "MemAvailable" in meminfo:
        fields = (meminfo.get(name, "0 kB") for name in ("MemAvailable", "SwapFree"))
        yield sum(int(field.split()[0]) * 1024 for field in fields), "the memory"
    for limit_name, used_name in (("memory.max", "memory.current"), ("memory.limit_in_bytes", "memory.usage_in_bytes")):
        for folder in _cgroups("memory"):
            limit, used = _number(folder / limit_name), _number(folder / used_name)
            if limit is not None and used is not None:
                yield limit - used + _page_cache_bytes(folder), f"{folder}/{limit_name}"


def _page_cache_bytes(folder: Path) -> int:
    """What a control group's usage has of files: the kernel gives it up for a process."""
    stat = dict(line.split(" ", 1) for line in _text(folder / "memory.stat").splitlines() if " " in line)
    return int(stat.get("file") or stat.get("total_cache") or 0)


def _cgroups(controller: str) -> Iterator[Path]:
    """The folders of this process's control groups, of both versions, and of those above them."""
    for line in _text(PROC / "self/cgroup").splitlines():
        _, controllers, path = line.split(":", 2)
        if controllers and controller not in controllers.split(","):
            continue
        root = CGROUPS / controllers if controllers else CGROUPS
        group = root / path.lstrip("/")
        for folder in (group, *group.parents):
            if not folder.is_relative_to(root):
                break
            yield folder


def _text(path: Path) -> str:
    """The content of a file of the kernel; empty where there is none."""
    try:
        return path.read_text()
    except OSError:
        return ""


def _number(path: Path) -> int | None:
    """A number in a file; None for no file and for `max`."""
    text = _text(path).strip()
    return int(text) if text.isdecimal() else None
