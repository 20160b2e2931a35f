"""The memory test really reads and writes: seen from outside, in the page tables and in its rate."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.support.proc import wait_until
from tests.support.reference import ours

BLOCK_KIB = 64 * 1024
OPTIONS = ("memory", "--memory-block-size=64M", "--memory-total-size=0", "--time=60", "--report-interval=1")

# Four words of 8 bytes a cycle at 8 GHz: more than one core can read or write.
MOST_MIB_PER_S = 4 * 8 * 8e9 / 2**20


def forget_references(pid: int) -> None:
    """Clears the marks of all pages of the process that have been accessed (proc_pid_clear_refs(5))."""
    Path(f"/proc/{pid}/clear_refs").write_text("1")


def referenced_kib(pid: int) -> int:
    """How much of the block has been accessed since then (proc_pid_smaps(5))."""
    mappings = Path(f"/proc/{pid}/smaps").read_text()
    sizes = re.findall(r"^Size: +(\d+) kB\n(?:.*\n)*?Referenced: +(\d+) kB$", mappings, re.MULTILINE)
    # No other mapping is as large as the one with the block.
    return max(int(referenced) for size, referenced in sizes if int(size) >= BLOCK_KIB)


@pytest.mark.parametrize("mode", ["seq", "rnd"])
@pytest.mark.parametrize("oper", ["read", "write"])
def test_every_page_is_touched_again_and_again(oper: str, mode: str) -> None:
    with ours.start(*OPTIONS, f"--memory-oper={oper}", f"--memory-access-mode={mode}", "run") as run:
        run.wait_for("Threads started!")
        for _ in range(3):
            forget_references(run.process.pid)
            wait_until(lambda: referenced_kib(run.process.pid) >= BLOCK_KIB, "every page to be accessed")


@pytest.mark.parametrize("mode", ["seq", "rnd"])
def test_none_touches_nothing(mode: str) -> None:
    with ours.start(*OPTIONS, "--memory-oper=none", f"--memory-access-mode={mode}", "run") as run:
        run.wait_for("[ 1s ]")
        forget_references(run.process.pid)
        run.wait_for("[ 3s ]")
        # The kernel may have joined the mapping with a smaller one that is in use.
        assert referenced_kib(run.process.pid) < BLOCK_KIB // 4


@pytest.mark.parametrize("mode", ["seq", "rnd"])
@pytest.mark.parametrize("oper", ["read", "write"])
def test_the_rate_is_one_that_a_core_can_reach(oper: str, mode: str) -> None:
    options = f"--memory-oper={oper} --memory-access-mode={mode} --memory-block-size=256K --memory-total-size=0"
    result = ours("memory", *options.split(), "--time=1", "run")
    found = re.search(r"\((.*) MiB/sec\)", result.stdout)
    assert found
    assert 0 < float(found[1]) < MOST_MIB_PER_S
