"""More threads than the system has room for are an error that names the number that fits."""

import re
import resource
from pathlib import Path

import pytest

from sysbench_py import capacity
from sysbench_py.capacity import check_threads
from sysbench_py.command_line import parse
from sysbench_py.errors import UsageError
from sysbench_py.validate import make_plan
from tests.support.compat import compat
from tests.support.reference import ours, report

MIB = 2**20


@compat("too-many-threads")
@pytest.mark.parametrize("test", ["cpu", "oltp_point_select"])
def test_a_million_threads(test: str) -> None:
    result = ours(test, "--db-driver=null", "--threads=1000000", "run")
    line = r"FATAL: Invalid value for --threads: 1000000 \(use at most \d+: .+ has no room for more\)\n"
    assert re.fullmatch(rf"sysbench .*\n\n{line}", result.stdout)
    assert (result.stderr, result.status) == ("", 1)


def test_a_thousand_threads(tmp_path: Path) -> None:
    (tmp_path / "empty.lua").write_text("function event() end")
    result = ours("empty.lua", "--threads=1000", "--events=1000", "run", cwd=tmp_path)
    assert (result.status, report(result.stdout)["events"]) == (0, 1000)


def check(threads: int, *options: str) -> None:
    plan = make_plan(parse(["sysbench", f"--threads={threads}", *options]).options, pytest.fail)
    check_threads(plan, MIB)


@pytest.fixture
def system(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A system without any limit, to write some into."""
    monkeypatch.setattr(capacity, "PROC", tmp_path / "proc")
    monkeypatch.setattr(capacity, "CGROUPS", tmp_path / "cgroup")
    monkeypatch.setattr(resource, "getrlimit", lambda _: (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    check(10**9)
    return tmp_path


def write(system: Path, **files: str) -> None:
    for name, text in files.items():
        path = system / name.replace("__", "/").replace("_DOT_", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def fits(most: int, what: str) -> None:
    check(most)
    with pytest.raises(UsageError) as raised:
        check(most + 1)
    assert raised.value.line == (
        f"FATAL: Invalid value for --threads: {most + 1} (use at most {most}: {what} has no room for more)"
    )


def test_limits_of_the_kernel(system: Path) -> None:
    write(system, proc__loadavg="0.20 0.18 0.12 1/80 11206\n")
    (system / "proc/sys/kernel").mkdir(parents=True)
    (system / "proc/sys/kernel/threads-max").write_text("1000\n")
    (system / "proc/sys/kernel/pid_max").write_text("2000\n")
    fits(920, "/proc/sys/kernel/threads-max")
    check(921, "--multiplex=2")


def test_memory(system: Path) -> None:
    write(system, proc__meminfo="MemTotal: 99999 kB\nMemAvailable:   10240 kB\nSwapFree:  2048 kB\n")
    fits(12, "the memory")


def test_processes_of_a_user(system: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resource, "getrlimit", lambda _: (50, 100))
    write(system, proc__self__status="Name:\tpython\nCapEff:\t0000000000000000\n")
    fits(50, "ulimit -u")
    write(system, proc__self__status="CapEff:\t000001ffffffffff\n")
    check(10**6)


def test_control_groups_of_version_2(system: Path) -> None:
    write(system, proc__self__cgroup="0::/a/b\n")
    write(system, cgroup__a__memory_DOT_max=f"{30 * MIB}\n", cgroup__a__memory_DOT_current=f"{20 * MIB}\n")
    write(system, cgroup__a__b__memory_DOT_max="max\n", cgroup__a__b__memory_DOT_current="7\n")
    fits(10, f"{system}/cgroup/a/memory.max")
    write(system, cgroup__a__memory_DOT_stat=f"anon 1\nfile {5 * MIB}\n")
    fits(15, f"{system}/cgroup/a/memory.max")
    write(system, cgroup__a__b__pids_DOT_max="9\n", cgroup__a__b__pids_DOT_current="3\n")
    fits(6, f"{system}/cgroup/a/b/pids.max")


def test_control_groups_of_version_1(system: Path) -> None:
    write(system, proc__self__cgroup="4:memory:/a\n8:pids,x:/\n0::/\n")
    write(system, cgroup__memory__a__memory_DOT_limit_in_bytes=f"{4 * MIB}\n")
    write(system, cgroup__memory__a__memory_DOT_usage_in_bytes=f"{MIB}\n")
    fits(3, f"{system}/cgroup/memory/a/memory.limit_in_bytes")
