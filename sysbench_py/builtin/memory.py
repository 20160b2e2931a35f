"""The memory test: how fast blocks of memory are read or written, word by word."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Sequence
from pathlib import Path

from sysbench_py import core
from sysbench_py.builtin.base import SimpleTest, invalid
from sysbench_py.log import FATAL, NOTICE, log
from sysbench_py.options import Kind, Option, OptionSet, parse_size, unit_advice
from sysbench_py.plan import Plan
from sysbench_py.stats.model import IntervalStats, PeriodStats, TotalStats
from sysbench_py.suggest import one_of

WORD_BYTES = 8
MIB = 2**20

OPTIONS = (
    # A text, because an invalid size is shown as it was typed.
    Option("memory-block-size", Kind.STRING, "1K", "size of memory block for test", suffix="=SIZE"),
    Option("memory-total-size", Kind.SIZE, "100G", "total size of data to transfer"),
    Option("memory-scope", Kind.STRING, "global", "memory access scope {global,local}"),
    Option("memory-hugetlb", Kind.BOOL, "off", "allocate memory from HugeTLB pool"),
    Option("memory-oper", Kind.STRING, "write", "type of memory operations {read, write, none}"),
    Option("memory-access-mode", Kind.STRING, "seq", "memory access mode {seq,rnd}"),
)
CHOICES = {
    "memory-scope": ("global", "local"),
    "memory-oper": ("read", "write", "none"),
    "memory-access-mode": ("seq", "rnd"),
}


class MemoryTest(SimpleTest):
    """An event goes over a whole block: the one of all workers, or that of its worker alone."""

    def __init__(self, options: OptionSet, plan: Plan) -> None:
        self._options = options
        self._threads = plan.threads
        self._total_bytes = options.get("memory-total-size", int)
        self._scope = options.get("memory-scope", str)
        self._oper = options.get("memory-oper", str)
        self._random = options.get("memory-access-mode", str) == "rnd"
        self._blocks: list[core.MemoryBlock] = []

    def begin(self) -> bool:
        self._block_bytes = _block_size_bytes(self._options)
        for name, choices in CHOICES.items():
            value = self._options.get(name, str)
            if value not in choices:
                raise invalid(name, value, one_of(value, choices))
        self._worker_events = self._total_bytes // self._block_bytes // self._threads
        if self._total_bytes and not self._worker_events:
            block, least = _size_text(self._block_bytes), _size_text(self._threads * self._block_bytes)
            raise invalid(
                "memory-total-size",
                _size_text(self._total_bytes),
                f"with --threads={self._threads} and blocks of {block} there is nothing to do: "
                f"use at least {least}, or 0 for no limit",
            )
        if self._scope == "global":
            return self._allocate("")
        return all(self._allocate(f" for thread #{thread_id}") for thread_id in range(self._threads))

    def _allocate(self, whose: str) -> bool:
        page_bytes = _huge_page_bytes() if self._options.get("memory-hugetlb", bool) else 0
        try:
            self._blocks.append(core.MemoryBlock(self._block_bytes, page_bytes))
        except OSError as error:
            advice = f"use a --memory-block-size below {self._block_bytes}"
            if page_bytes:
                log(
                    FATAL,
                    f"Failed to allocate {self._block_bytes} bytes from HugeTLB memory. "
                    f"errno = {error.errno} ({os.strerror(error.errno or 0)})",
                )
                pages = math.ceil(self._block_bytes / page_bytes)
                advice = f"free pages needed in the pool: {pages}, see /proc/sys/vm/nr_hugepages"
            log(FATAL, f"Failed to allocate buffer{whose}! ({advice})")
            return False
        return True

    def events_limit(self, plan: Plan) -> int:
        return 0

    def mode_messages(self) -> Sequence[tuple[int, str]]:
        lines = (
            "Running memory speed test with the following options:",
            f"  block size: {self._block_bytes // 1024}KiB",
            f"  total size: {self._total_bytes // MIB}MiB",
            f"  operation: {self._oper}",
            f"  scope: {self._scope}",
            "",
        )
        return [(NOTICE, line) for line in lines]

    def open(self) -> bool:
        if self._scope == "global":
            self._blocks[0].clear()
        return True

    def run_worker(self, thread_id: int) -> bool:
        block = self._blocks[0]
        if self._scope == "local":
            block = self._blocks[thread_id]
            block.clear()
        return core.bench_memory_worker(thread_id, block, self._oper, self._random, self._worker_events)

    def _mib(self, stats: PeriodStats) -> float:
        return stats.counters.events * self._block_bytes / MIB

    def interval_messages(self, stats: IntervalStats) -> Sequence[str]:
        return (f"{stats.per_second(self._mib(stats)):4.2f} MiB/sec",)

    def report_block(self, stats: TotalStats) -> Sequence[str]:
        events = stats.counters.events
        operations = f"Total operations: {events} ({stats.per_second(events):8.2f} per second)\n"
        if self._oper == "none":
            return (operations,)
        mib = self._mib(stats)
        return (operations, f"{mib:4.2f} MiB transferred ({stats.per_second(mib):4.2f} MiB/sec)\n")

    def old_report_block(self, stats: TotalStats) -> Sequence[str]:
        events = stats.counters.events
        operations = f"Operations performed: {events} ({stats.per_second(events):8.2f} ops/sec)\n"
        if self._oper == "none":
            return (operations,)
        mib = self._mib(stats)
        return (operations, f"{mib:4.2f} MB transferred ({stats.per_second(mib):4.2f} MB/sec)\n")


def _block_size_bytes(options: OptionSet) -> int:
    typed = options.get("memory-block-size", str)
    try:
        size_bytes = parse_size(typed)
    except ValueError:
        size_bytes = 0
    if size_bytes < WORD_BYTES or size_bytes & (size_bytes - 1):
        advice = unit_advice(typed) or f"use a power of two, at least {WORD_BYTES}"
        raise invalid("memory-block-size", typed, advice)
    return size_bytes


def _size_text(size_bytes: int) -> str:
    """As one would type it: 32G."""
    for unit in ("", "K", "M", "G"):
        if size_bytes % 1024:
            return f"{size_bytes}{unit}"
        size_bytes //= 1024
    return f"{size_bytes}T"


def _huge_page_bytes() -> int:
    """The size of the pages in the kernel's pool (proc_meminfo(5)); 2 MiB if the kernel has no such pool."""
    match = re.search(r"^Hugepagesize: +(\d+) kB$", Path("/proc/meminfo").read_text(), re.MULTILINE)
    return int(match[1]) * 1024 if match else 2 * MIB


def create(options: OptionSet, plan: Plan) -> MemoryTest:
    """The test as the options ask for it. Raises UsageError for a total size that is too long a number."""
    return MemoryTest(options, plan)
