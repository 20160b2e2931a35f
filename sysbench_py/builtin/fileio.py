"""The fileio test: sequential and random reads and writes of files that `prepare` has made."""

from __future__ import annotations

import errno
import os
import signal
from collections.abc import Iterator, Sequence

from sysbench_py import core
from sysbench_py.builtin.base import SimpleTest
from sysbench_py.builtin.fileio_files import MIB, FileSet, failed, format_size
from sysbench_py.builtin.fileio_options import (
    IO_MODES,
    OPTIONS,
    QUEUED_IO_MODES,
    read_settings,
)
from sysbench_py.errors import ExitStatus
from sysbench_py.log import FATAL, NOTICE, log
from sysbench_py.options import OptionSet
from sysbench_py.plan import Plan
from sysbench_py.stats.model import (
    NO_PERCENTILE,
    NS_PER_MS,
    IntervalStats,
    OperationStats,
    PeriodStats,
    TotalStats,
)
from sysbench_py.system import END_SIGNALS

__all__ = ["OPTIONS", "create"]

# What can be done where the kernel gives no queue, by the error that it gives instead.
_QUEUE_HINTS = {
    ("async", errno.EAGAIN): "lower --threads or --file-async-backlog, or raise /proc/sys/fs/aio-max-nr",
    ("uring", errno.EINVAL): "--file-async-backlog must be <= 32768",
    ("uring", errno.ENOMEM): "raise the limit of locked memory (ulimit -l)",
    ("uring", errno.EPERM): "/proc/sys/kernel/io_uring_disabled or a seccomp profile forbids io_uring",
    ("uring", errno.ENOSYS): "io_uring needs Linux 5.6 or later",
}


class FileioTest(SimpleTest):
    """An event is a request (a block, or several joined ones) or an fsync of one file."""

    def __init__(self, options: OptionSet, plan: Plan) -> None:
        self._options = options
        self._plan = plan
        self.commands = {"prepare": self._prepare, "cleanup": self._cleanup}

    def _prepare(self) -> ExitStatus:
        files = FileSet(read_settings(self._options, self._plan, running=False))
        return ExitStatus.OK if files.create() else ExitStatus.ERROR

    def _cleanup(self) -> ExitStatus:
        files = FileSet(read_settings(self._options, self._plan, running=False))
        return ExitStatus.OK if files.remove() else ExitStatus.ERROR

    # -- run

    def begin(self) -> bool:
        self._settings = settings = read_settings(self._options, self._plan, running=True)
        self._files = FileSet(settings)
        try:
            self._test = core.FileTest(
                settings.io_mode,
                threads=self._plan.threads,
                files=settings.files,
                file_bytes=settings.file_bytes,
                block_bytes=settings.block_bytes,
                request_bytes=settings.request_bytes,
                random=settings.mode.random,
                reads=settings.mode.reads,
                writes=settings.mode.writes,
                read_write_ratio=settings.read_write_ratio,
                fsync_every=settings.fsync_every,
                fsync_all=settings.fsync_all,
                fsync_end=settings.fsync_end,
                data_only=settings.fsync_mode == "fdatasync",
                validate=settings.validate,
                trace=self._plan.debug,
                direct="direct" in settings.extra_flags,
                depth=settings.backlog,
            )
        except MemoryError:
            requests = settings.backlog if settings.io_mode in QUEUED_IO_MODES else 1
            log(
                FATAL,
                f"Failed to allocate buffers: {self._plan.threads} threads have up to {requests} requests of "
                f"{min(settings.request_bytes, settings.file_bytes)} bytes each",
            )
            return False
        except OSError as error:
            return self._no_queue(error)
        return True

    def _no_queue(self, error: OSError) -> bool:
        mode, number = self._settings.io_mode, error.errno or 0
        hint = _QUEUE_HINTS.get((mode, number), "use --file-io-mode=sync")
        log(
            FATAL,
            f"The kernel gives no queue for --file-io-mode={mode}: errno = {number} ({os.strerror(number)}): {hint}",
        )
        return False

    def mode_messages(self) -> Sequence[tuple[int, str]]:
        return [(NOTICE, line) for line in self._mode_lines()]

    def _mode_lines(self) -> Iterator[str]:
        settings = self._settings
        yield self._files.flags_message
        yield f"{settings.files} files, {format_size(settings.file_bytes)} each"
        yield f"{format_size(settings.total_bytes)} total file size"
        yield from self._files.remainder_messages
        yield f"Block size {format_size(settings.block_bytes)}"
        if settings.merged_requests:
            yield f"Merging requests up to {format_size(settings.request_bytes)} for sequential IO."
        if settings.mode.random:
            yield f"Number of IO requests: {self._plan.events_limit}"
            yield f"Read/Write ratio for combined random IO test: {settings.read_write_ratio:2.2f}"
        if settings.fsync_every:
            yield f"Periodic FSYNC enabled, calling fsync() each {settings.fsync_every} requests."
        if settings.fsync_end:
            yield "Calling fsync() at the end of test, Enabled."
        if settings.fsync_all:
            yield "Calling fsync() after each write operation."
        yield f"Using {IO_MODES[settings.io_mode]} I/O mode"
        if settings.validate:
            yield "Using checksums validation."
        yield f"Doing {settings.mode.description} test"

    def open(self) -> bool:
        if not self._files.open():
            return False
        try:
            self._test.open(self._files.descriptors)
        except OSError as error:
            return failed(f"Cannot map file '{error.filename}' into memory", error)
        return True

    def run_worker(self, thread_id: int) -> bool:
        # Linux may give a signal to a thread that uses io_uring, while the main thread waits for it.
        signal.pthread_sigmask(signal.SIG_BLOCK, END_SIGNALS)
        return core.bench_fileio_worker(thread_id, self._test)

    def end(self) -> bool:
        ok = True
        if self._settings.mode.creates and not core.run_failed():
            ok = self._files.complete(self._test.files_passed())
        self._files.close()
        return ok

    # -- reports

    def interval_messages(self, stats: IntervalStats) -> Sequence[str]:
        read_mib, written_mib = _mib(stats)
        latency = " ".join(
            f"latency (ms,{percentile}%): {percentile.latency_ns / NS_PER_MS:4.3f}"
            for percentile in stats.latency.percentiles or (NO_PERCENTILE,)
        )
        return (
            f"reads: {read_mib:4.2f} MiB/s writes: {written_mib:4.2f} MiB/s "
            f"fsyncs: {stats.per_second(stats.counters.other):4.2f}/s {latency}",
        )

    def report_block(self, stats: TotalStats) -> Sequence[str]:
        counters = stats.counters
        read_mib, written_mib = _mib(stats)
        report = (
            "\nFile operations:\n"
            f"    reads/s:                      {stats.per_second(counters.reads):4.2f}\n"
            f"    writes/s:                     {stats.per_second(counters.writes):4.2f}\n"
            f"    fsyncs/s:                     {stats.per_second(counters.other):4.2f}\n"
            "\n"
            "Throughput:\n"
            f"    read, MiB/s:                  {read_mib:4.2f}\n"
            f"    written, MiB/s:               {written_mib:4.2f}"
        )
        return (report, *_latency_messages(stats)) if self._settings.latency_detail else (report,)

    def old_report_block(self, stats: TotalStats) -> Sequence[str]:
        # Requests are reads and writes; an fsync was none.
        reads, writes, other = stats.counters.reads, stats.counters.writes, stats.counters.other
        read, written = stats.counters.bytes_read, stats.counters.bytes_written
        report = (
            f"Operations performed:  {reads} Read, {writes} Write, {other} Other = {reads + writes + other} Total\n"
            f"Read {_old_size(read)}  Written {_old_size(written)}  Total transferred {_old_size(read + written)}"
            f"  ({_old_size(stats.per_second(read + written))}/sec)\n"
            f"{stats.per_second(reads + writes):8.2f} Requests/sec executed"
        )
        return (report, *_latency_messages(stats)) if self._settings.latency_detail else (report,)


def _old_size(size_bytes: float) -> str:
    """Five digits and a unit, `93.75Mb`."""
    for unit in ("b", "Kb", "Mb", "Gb"):
        if size_bytes < 1024:
            return f"{size_bytes:.5g}{unit}"
        size_bytes /= 1024
    return f"{size_bytes:.5g}Tb"


def _mib(stats: PeriodStats) -> tuple[float, float]:
    """What was read and written, in MiB/s."""
    counters = stats.counters
    return stats.per_second(counters.bytes_read / MIB), stats.per_second(counters.bytes_written / MIB)


def _latency_messages(stats: TotalStats) -> Iterator[str]:
    yield "\nLatency by operation (ms):"
    percentiles = "".join(f"{f'{percentile}th pct':>12}" for percentile in stats.latency.percentiles)
    yield f"{'':<12}{'count':>12}{'min':>12}{'avg':>12}{'max':>12}{percentiles}{'sum':>16}"
    for operation in stats.operations:
        yield _latency_row(operation)


def _latency_row(operation: OperationStats) -> str:
    latency = operation.latency
    values_ns = [latency.min_ns, latency.avg_ns, latency.max_ns]
    values_ns += [percentile.latency_ns for percentile in latency.percentiles]
    columns = "".join(f"{value_ns / NS_PER_MS:12.3f}" for value_ns in values_ns)
    sum_ms = latency.sum_ns / NS_PER_MS
    return f"    {operation.name + ':':<8}{operation.count:12d}{columns}{sum_ms:16.2f}"


def create(options: OptionSet, plan: Plan) -> FileioTest:
    """The test as the options ask for it."""
    return FileioTest(options, plan)
