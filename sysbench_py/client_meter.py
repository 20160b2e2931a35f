"""Measures what the load machine spends on a run, from the kernel's own counts (proc(5), getrusage(2), cgroups(7))."""

from __future__ import annotations

import os
import resource
import threading
from dataclasses import dataclass, field
from pathlib import Path

from sysbench_py import core
from sysbench_py.stats.client import Client

SAMPLE_S = 1.0
# So many workers stand for all when it comes to how long they wait for a CPU.
WATCHED_THREADS = 32
TICKS_PER_S = os.sysconf("SC_CLK_TCK")
# Fields of a line of /proc/stat that are not work: idle and iowait; guest time is in user time already.
IDLE_FIELDS = (3, 4)
FIELDS = 8


@dataclass(frozen=True)
class Quota:
    """A CPU quota of the control group: how many CPUs, and where its counts are. 0 CPUs if there is no quota."""

    cpus: float = 0.0
    counts: Path | None = None

    def periods(self) -> tuple[int, int]:
        """(how many there have been, how many of them were not long enough)"""
        words = _read(self.counts).split() if self.counts else []
        counts = dict(zip(words[::2], words[1::2], strict=False))
        return int(counts.get("nr_periods", 0)), int(counts.get("nr_throttled", 0))


@dataclass(frozen=True)
class _Reading:
    """Cumulative counts at one moment."""

    time_ns: int
    usage: tuple[float, float, int, int]
    busy_ticks: int | None
    periods: tuple[int, int]


@dataclass
class ClientMeter:
    """`os_threads` and `carriers` as in the result; `root` is where /proc and /sys are."""

    os_threads: int
    carriers: int
    root: Path = Path("/")
    _runnable: list[int] = field(default_factory=list)

    def begin(self) -> None:
        """Statistics begin now, and the workers are there."""
        self._affinity = os.sched_getaffinity(0)
        self._quota = find_quota(self.root)
        workers = [each.native_id for each in threading.enumerate() if each.name.startswith("worker ")]
        self._watched = workers[:: -(-len(workers) // WATCHED_THREADS) or 1]
        self._first = self._read()
        self._waits_first = self._waits_last = self._waits()
        self._waits_end_ns = self._first.time_ns

    def sample(self) -> None:
        """To be called every SAMPLE_S while the workers run."""
        words = _read(self.root / "proc/loadavg").split()
        if len(words) > 3:
            # This thread is one of those that run.
            self._runnable.append(max(int(words[3].split("/")[0]) - 1, 0))
        self._waits_last, self._waits_end_ns = self._waits(), core.now_ns()

    def end(self, events: int, latency_sum_ns: int, waits_for_server: bool) -> Client:
        """The figures since `begin`, in which there were so many events."""
        first, last = self._first, self._read()
        duration_s = (last.time_ns - first.time_ns) / 1e9
        periods, throttled = (now - before for now, before in zip(last.periods, first.periods, strict=True))
        user_s, system_s, waiting, preempted = (
            now - before for now, before in zip(last.usage, first.usage, strict=True)
        )
        busy = None
        if first.busy_ticks is not None and last.busy_ticks is not None and duration_s > 0:
            busy = (last.busy_ticks - first.busy_ticks) / TICKS_PER_S / duration_s
        available = float(len(self._affinity))
        return Client(
            duration_s=duration_s,
            events=events,
            latency_sum_ns=latency_sum_ns,
            cpus=min(self._quota.cpus or available, available),
            os_threads=self.os_threads,
            carriers=self.carriers,
            cpu_user_s=user_s,
            cpu_system_s=system_s,
            cpus_busy=busy,
            switches_waiting=int(waiting),
            switches_preempted=int(preempted),
            runnable_avg=sum(self._runnable) / len(self._runnable) if self._runnable else None,
            runnable_max=max(self._runnable, default=None),
            waiting_share=self._waiting_share(),
            throttled_share=throttled / periods if periods else None,
            clock_source=_read(self.root / "sys/devices/system/clocksource/clocksource0/current_clocksource").strip()
            or None,
            clock_read_ns=core.clock_read_ns(),
            waits_for_server=waits_for_server,
        )

    def _read(self) -> _Reading:
        return _Reading(core.now_ns(), _usage(), self._busy_ticks(), self._quota.periods())

    def _busy_ticks(self) -> int | None:
        """What the CPUs that this process may use have worked for anybody."""
        found = None
        for line in _read(self.root / "proc/stat").splitlines():
            name, *fields = line.split()
            if name[:3] == "cpu" and name[3:].isdigit() and int(name[3:]) in self._affinity:
                ticks = sum(int(text) for at, text in enumerate(fields[:FIELDS]) if at not in IDLE_FIELDS)
                found = (found or 0) + ticks
        return found

    def _waits(self) -> dict[int, int]:
        """How long each watched worker has waited for a CPU so far, in ns."""
        waits = {}
        for thread_id in self._watched:
            words = _read(self.root / f"proc/self/task/{thread_id}/schedstat").split()
            if len(words) > 1:
                waits[thread_id or 0] = int(words[1])
        return waits

    def _waiting_share(self) -> float | None:
        """Of those workers that were there at the first reading and at the last one."""
        both = self._waits_first.keys() & self._waits_last.keys()
        time_ns = len(both) * (self._waits_end_ns - self._first.time_ns)
        waited_ns = sum(self._waits_last[each] - self._waits_first[each] for each in both)
        return min(waited_ns / time_ns, 1.0) if time_ns > 0 else None


def _usage() -> tuple[float, float, int, int]:
    """(user time in s, system time in s, voluntary switches, involuntary ones) of this process and of its children.

    Worker processes count, from their start, once they have been waited for, which is when they end.
    """
    own, children = map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return (
        own.ru_utime + children.ru_utime,
        own.ru_stime + children.ru_stime,
        own.ru_nvcsw + children.ru_nvcsw,
        own.ru_nivcsw + children.ru_nivcsw,
    )


def find_quota(root: Path) -> Quota:
    """The smallest CPU quota of the control groups that this process is in, of either version."""
    found = [quota for folder in _control_groups(root) if (quota := _quota(folder)).cpus]
    return min(found, key=lambda quota: quota.cpus, default=Quota())


def _control_groups(root: Path) -> list[Path]:
    """The folders of the groups and of all above them, as far as they can be seen from here."""
    folders = []
    for line in _read(root / "proc/self/cgroup").splitlines():
        _, controllers, path = line.split(":", 2)
        if controllers and "cpu" not in controllers.split(","):
            continue
        for mount in (root / "sys/fs/cgroup" / controllers, root / "sys/fs/cgroup/cpu" if controllers else None):
            if mount is None or not mount.is_dir():
                continue
            group = mount / path.lstrip("/")
            folders += [each for each in (group, *group.parents) if each.is_relative_to(mount)]
            break
    return folders


def _quota(folder: Path) -> Quota:
    # Version 2: "max 100000" or "150000 100000", microseconds a period; version 1 has a file for each, -1 for none.
    words = _read(folder / "cpu.max").split() or [
        *_read(folder / "cpu.cfs_quota_us").split(),
        *_read(folder / "cpu.cfs_period_us").split(),
    ]
    match words:
        case [allowed, period] if allowed.isdigit() and int(period):
            return Quota(int(allowed) / int(period), folder / "cpu.stat")
    return Quota()


def _read(path: Path) -> str:
    """The text of a file of the kernel's; empty where there is none."""
    try:
        return path.read_text(encoding="ascii", errors="replace")
    except OSError:
        return ""
