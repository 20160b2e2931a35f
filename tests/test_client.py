"""The load machine's own figures: how they are measured, and when they are the limit of a run."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from sysbench_py.client_meter import ClientMeter, find_quota
from sysbench_py.sinks.html_page import render
from sysbench_py.sinks.json_document import read
from sysbench_py.sinks.text_client import limit_message
from sysbench_py.stats.client import Client
from tests.support.compat import compat
from tests.support.postgres import PostgreSQL
from tests.support.reference import ours

ROOT = Path(__file__).parent.parent
IDLE = Client(
    duration_s=10.0,
    events=100_000,
    latency_sum_ns=100_000 * 1_000_000,
    cpus=4.0,
    os_threads=8,
    carriers=0,
    cpu_user_s=3.0,
    cpu_system_s=2.0,
    cpus_busy=0.6,
    switches_waiting=100_000,
    switches_preempted=10,
    runnable_avg=1.0,
    runnable_max=3,
    waiting_share=0.01,
    throttled_share=0.0,
    clock_source="tsc",
    clock_read_ns=20.0,
    waits_for_server=True,
)
BUSY = replace(IDLE, cpu_user_s=20.0, cpu_system_s=18.0, cpus_busy=3.98)
NO_LIMIT = (
    IDLE,
    # A server on this machine takes the CPUs.
    replace(IDLE, cpu_user_s=9.0, cpu_system_s=6.0, cpus_busy=4.0, waiting_share=0.5, os_threads=64),
    # Too short, without events, and a test of this machine.
    replace(BUSY, duration_s=1.0),
    replace(BUSY, events=0),
    replace(BUSY, waits_for_server=False),
    # Where the kernel tells nothing.
    replace(IDLE, cpus_busy=None, waiting_share=None, throttled_share=None, clock_source=None),
    # A quota that is used up by others, a slow clock beside long events, busy carriers that are all there can be.
    replace(IDLE, throttled_share=0.9),
    replace(IDLE, clock_read_ns=1000.0),
    replace(IDLE, carriers=4, os_threads=4),
)
START = "WARNING: the load machine, not the server, limits this result: "
LIMITS = (
    (BUSY, "cpu. This process took 3.80 of 4 CPUs, 380.0 us an event"),
    (
        replace(BUSY, os_threads=64),
        "cpu. This process took 3.80 of 4 CPUs, 380.0 us an event; "
        "--multiplex=4 saves most switches between 64 threads (docs/multiplex.md)",
    ),
    (
        replace(BUSY, os_threads=64, waiting_share=0.4),
        "cpu (and threads). This process took 3.80 of 4 CPUs, 380.0 us an event; "
        "--multiplex=4 saves most switches between 64 threads (docs/multiplex.md)",
    ),
    (
        replace(IDLE, os_threads=64, waiting_share=0.4),
        "threads. Workers waited for a CPU 40% of their time, 64 threads on 4 CPUs; "
        "--multiplex=4 saves most switches between 64 threads (docs/multiplex.md)",
    ),
    (
        replace(BUSY, cpus=1.5, cpu_user_s=10.0, cpu_system_s=4.9, throttled_share=0.6),
        "cpu-quota. The container's CPU quota was used up in 60% of its periods, "
        "this process took 1.49 of 1.5 CPUs, 149.0 us an event",
    ),
    (
        replace(IDLE, carriers=1, os_threads=1, cpu_user_s=6.0, cpu_system_s=3.5),
        "carriers. The 1 OS thread of --multiplex=1 was busy, this process took 0.95 of 4 CPUs, 95.0 us an event; "
        "try --multiplex=4",
    ),
    (
        replace(IDLE, clock_source="hpet", clock_read_ns=1500.0, latency_sum_ns=100_000 * 2000, waits_for_server=False),
        "clock. Reading the clock takes 1500 ns (clock source hpet), an event 2000 ns",
    ),
)


@pytest.mark.parametrize("client", NO_LIMIT)
def test_most_runs_are_not_limited_here(client: Client) -> None:
    assert client.limits == ()
    assert limit_message(client) == ""


@pytest.mark.parametrize(("client", "message"), LIMITS)
def test_a_limit_is_named_with_its_figures(client: Client, message: str) -> None:
    assert limit_message(client) == START + message


def files(root: Path, contents: dict[str, str]) -> Path:
    for name, text in contents.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root


def test_the_smallest_quota_of_the_groups_above_counts(tmp_path: Path) -> None:
    root = files(
        tmp_path,
        {
            "proc/self/cgroup": "0::/a/b\n",
            "sys/fs/cgroup/a/b/cpu.max": "max 100000\n",
            "sys/fs/cgroup/a/cpu.max": "150000 100000\n",
            "sys/fs/cgroup/a/cpu.stat": "usage_usec 5\nnr_periods 40\nnr_throttled 10\nthrottled_usec 7\n",
            "sys/fs/cgroup/cpu.max": "300000 100000\n",
        },
    )
    quota = find_quota(root)
    assert (quota.cpus, quota.periods()) == (1.5, (40, 10))


@pytest.mark.parametrize("folder", ["cpu", "cpu,cpuacct"])
def test_a_quota_of_version_1(tmp_path: Path, folder: str) -> None:
    group = f"sys/fs/cgroup/{folder}/docker/x"
    contents = {
        "proc/self/cgroup": f"3:memory:/m\n2:{folder}:/docker/x\n0::/\n",
        f"{group}/cpu.cfs_quota_us": "50000\n",
        f"{group}/cpu.cfs_period_us": "100000\n",
        f"{group}/cpu.stat": "nr_periods 4\nnr_throttled 1\nthrottled_time 9\n",
    }
    assert find_quota(files(tmp_path, contents)).cpus == 0.5
    (tmp_path / group / "cpu.cfs_quota_us").write_text("-1\n")
    assert find_quota(tmp_path).cpus == 0


def test_figures_are_differences(tmp_path: Path) -> None:
    cpus = sorted(os.sched_getaffinity(0))
    other = max(cpus) + 1

    def stat(busy: int) -> str:
        own = f"cpu{cpus[0]} {busy} 0 0 1000 500 0 0 0 77 0\n"
        return f"cpu  9 9 9 9 9 9 9 9 0 0\n{own}cpu{other} 99999 0 0 0 0 0 0 0 0 0\n"

    root = files(tmp_path, {"proc/stat": stat(100), "proc/loadavg": "1.0 1.0 1.0 3/100 7\n"})
    meter = ClientMeter(os_threads=2, carriers=0, root=root)
    meter.begin()
    meter.sample()
    files(root, {"proc/stat": stat(100 + 10 * os.sysconf("SC_CLK_TCK")), "proc/loadavg": "1.0 1.0 1.0 7/100 7\n"})
    meter.sample()
    client = meter.end(5, 1000, True)
    assert client.cpus_busy == pytest.approx(10 / client.duration_s)
    assert (client.runnable_avg, client.runnable_max) == (4, 6)
    assert client.cpus == len(cpus)
    assert client.clock_source is None
    assert client.throttled_share is None
    assert client.waiting_share is None
    assert 0 < client.clock_read_ns < 100_000


def test_a_machine_that_tells_nothing(tmp_path: Path) -> None:
    meter = ClientMeter(os_threads=2, carriers=0, root=tmp_path)
    meter.begin()
    meter.sample()
    client = meter.end(0, 0, True)
    assert (client.cpus_busy, client.runnable_avg, client.runnable_max, client.cpu_per_event_ns) == (None,) * 4


def test_every_result_has_the_figures(postgres: PostgreSQL, tmp_path: Path) -> None:
    (tmp_path / "one.lua").write_text(
        "function thread_init() con = sysbench.sql.driver():connect() end function event() con:query('SELECT 1') end"
    )
    options = ("one.lua", *postgres.args, "--threads=2", "--time=2", "--output=json:a.json", "run")
    result = ours(*options, cwd=tmp_path)
    assert result.status == 0
    data = json.loads((tmp_path / "a.json").read_text())
    client = data["client"]
    assert client["waits_for_server"]
    assert client["events"] == data["total"]["counters"]["events"]
    assert client["latency_sum_ns"] == data["total"]["latency"]["sum_ns"]
    assert client["duration_s"] >= 2
    assert 0 < client["cpus_used"] <= client["cpus"]
    assert client["cpu_per_event_ns"] == pytest.approx(
        (client["cpu_user_s"] + client["cpu_system_s"]) * 1e9 / client["events"], abs=1
    )
    assert client["switches_waiting"] > 0
    # Not known if the main thread got no turn to look.
    assert client["waiting_share"] is None or 0 <= client["waiting_share"] <= 1
    saved = read((tmp_path / "a.json").read_bytes())
    assert saved.client is not None
    # On a machine that nothing can keep busy.
    page = render(replace(saved, client=replace(saved.client, cpus=1e6, clock_read_ns=1.0)))
    assert f"{client['cpu_per_event_ns'] / 1000:.1f} us of CPU time an event" in page
    assert "limits this result" not in page
    assert f"{START}cpu. " in render(replace(saved, client=BUSY))
    assert "us of CPU time" not in render(replace(saved, client=None))


@compat("client-limit")
def test_the_warning_comes_once_at_the_end_on_standard_error(postgres: PostgreSQL, tmp_path: Path) -> None:
    (tmp_path / "one.lua").write_text(
        "function thread_init() con = sysbench.sql.driver():connect() end function event() con:query('SELECT 1') end"
    )
    # Every machine is busy enough, and every run long enough.
    code = (
        "import sys, sysbench_py.stats.client as c; c.SHORTEST_S = c.ALL_OF_IT = c.LARGER_PART = 0; "
        "from sysbench_py.cli import run; sys.exit(run(sys.argv))"
    )
    options = ("one.lua", *postgres.args, "--threads=1", "--events=20", "run")
    command = [sys.executable, "-c", code, *options]
    result = subprocess.run(
        command, cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True, check=True
    )
    assert result.stderr.startswith(f"{START}cpu. This process took ")
    assert result.stderr.count("\n") == 1
    assert "WARNING" not in result.stdout
    assert result.stdout.endswith("\n\n")
