"""What the fileio test can be asked for: its options, and the settings that they make."""

from __future__ import annotations

from dataclasses import dataclass

from sysbench_py.errors import UsageError
from sysbench_py.options import Kind, Option, OptionSet, format_option_list, option_key
from sysbench_py.plan import Plan
from sysbench_py.suggest import one_of

OPTIONS = (
    Option("file-num", Kind.INT, "128", "number of files to create"),
    Option("file-block-size", Kind.SIZE, "16384", "block size to use in all IO operations", suffix="=N"),
    Option("file-total-size", Kind.SIZE, "2G", "total size of files to create"),
    Option("file-test-mode", Kind.STRING, None, "test mode {seqwr, seqrewr, seqrd, rndrd, rndwr, rndrw}"),
    Option("file-io-mode", Kind.STRING, "sync", "file operations mode {sync,async,mmap,uring}"),
    Option("file-async-backlog", Kind.INT, "128", "number of asynchronous operatons to queue per thread"),
    Option(
        "file-extra-flags",
        Kind.LIST,
        "",
        "list of additional flags to use to open files {sync,dsync,direct}",
    ),
    Option(
        "file-fsync-freq",
        Kind.INT,
        "100",
        "do fsync() after this number of requests (0 - don't use fsync())",
    ),
    Option("file-fsync-all", Kind.BOOL, "off", "do fsync() after each write operation"),
    Option("file-fsync-end", Kind.BOOL, "on", "do fsync() at the end of test"),
    Option(
        "file-fsync-mode",
        Kind.STRING,
        "fsync",
        "which method to use for synchronization {fsync, fdatasync}",
    ),
    Option(
        "file-merged-requests",
        Kind.INT,
        "0",
        "merge at most this number of IO requests if possible (0 - don't merge)",
    ),
    Option("file-rw-ratio", Kind.DOUBLE, "1.5", "reads/writes ratio for combined test"),
    Option("file-latency-detail", Kind.BOOL, "off", "report the latency of reads, writes and fsyncs apart"),
)

# A block holds at least one byte besides what it is checked with.
MIN_CHECKED_BLOCK_BYTES = 13
MAX_BLOCK_BYTES = 2**31 - 1


@dataclass(frozen=True)
class Mode:
    """What `--file-test-mode` asks for. `creates`: the run itself makes the files anew."""

    description: str
    random: bool = False
    reads: bool = False
    writes: bool = False
    creates: bool = False


MODES = {
    "seqwr": Mode("sequential write (creation)", writes=True, creates=True),
    "seqrewr": Mode("sequential rewrite", writes=True),
    "seqrd": Mode("sequential read", reads=True),
    "rndrd": Mode("random read", random=True, reads=True),
    "rndwr": Mode("random write", random=True, writes=True),
    "rndrw": Mode("random r/w", random=True, reads=True, writes=True),
}
# What the mode lines call them.
IO_MODES = {"sync": "synchronous", "async": "asynchronous", "mmap": "fast mmaped", "uring": "io_uring"}
QUEUED_IO_MODES = ("async", "uring")
EXTRA_FLAGS = ("sync", "dsync", "direct")
FSYNC_MODES = ("fsync", "fdatasync")


@dataclass(frozen=True, kw_only=True)
class Settings:
    """The options, checked.

    `unused_bytes` is what the total size leaves over when it is divided by the number of files.
    `fsync_every` counts requests, 0 for never.
    """

    mode: Mode
    io_mode: str
    files: int
    file_bytes: int
    unused_bytes: int
    block_bytes: int
    merged_requests: int
    backlog: int
    extra_flags: tuple[str, ...]
    fsync_every: int
    fsync_all: bool
    fsync_end: bool
    fsync_mode: str
    read_write_ratio: float
    validate: bool
    latency_detail: bool
    progress: bool

    @property
    def total_bytes(self) -> int:
        """The size of all files together."""
        return self.files * self.file_bytes

    @property
    def request_bytes(self) -> int:
        """The size of a sequential request."""
        return self.block_bytes * max(self.merged_requests, 1)


def read_settings(options: OptionSet, plan: Plan, *, running: bool) -> Settings:
    """Check the options, in the order in which sysbench 1.0.20 does; some count for a run only.

    Raises UsageError for the first that is wrong.
    """
    files = _at_least(1, options, "file-num", "Invalid value for file-num: {}")
    total_bytes = _at_least(1, options, "file-total-size", "Invalid value for file-total-size: {}")
    if total_bytes < files:
        raise UsageError.fatal(
            f"Invalid value for file-total-size: {total_bytes}",
            about="file_total_size",
            advice=f"less than a byte for each of the {files} files of --file-num",
        )
    mode = _mode(options) if running else Mode("")
    io_mode = options.get("file-io-mode", str) or "sync"
    if io_mode not in IO_MODES:
        raise _unknown("file-io-mode", f"unknown I/O mode: {io_mode}", io_mode, tuple(IO_MODES))
    merged_requests = _at_least(0, options, "file-merged-requests", "Invalid value for file-merged-requests: {}.")
    block_bytes = _block_bytes(options)
    extra_flags = options.get("file-extra-flags", tuple)
    for flag in extra_flags:
        if flag not in EXTRA_FLAGS:
            raise _unknown("file-extra-flags", f"Invalid value for file-extra-flags: {flag}", flag, EXTRA_FLAGS)
    fsync_every = _at_least(0, options, "file-fsync-freq", "Invalid value for file-fsync-freq: {}.")
    fsync_all = options.get("file-fsync-all", bool)
    fsync_mode = options.get("file-fsync-mode", str)
    if fsync_mode not in FSYNC_MODES:
        raise _unknown("file-fsync-mode", f"Invalid fsync mode: {fsync_mode}.", fsync_mode, FSYNC_MODES)
    read_write_ratio = options.get("file-rw-ratio", float)
    if not read_write_ratio >= 0:
        raise UsageError.fatal(
            f"Invalid value for --file-rw-ratio: {read_write_ratio:f}.",
            about="file_rw_ratio",
            advice="must be >= 0",
        )
    backlog = options.get("file-async-backlog", int)
    if running and io_mode in QUEUED_IO_MODES:
        _at_least(1, options, "file-async-backlog", "Invalid value of file-async-backlog: {}")
    settings = Settings(
        mode=mode,
        io_mode=io_mode,
        files=files,
        file_bytes=total_bytes // files,
        unused_bytes=total_bytes % files,
        block_bytes=block_bytes,
        merged_requests=merged_requests,
        backlog=backlog,
        extra_flags=extra_flags,
        fsync_every=0 if fsync_all else fsync_every,
        fsync_all=fsync_all,
        fsync_end=options.get("file-fsync-end", bool) and not fsync_all,
        fsync_mode=fsync_mode,
        read_write_ratio=read_write_ratio,
        validate=plan.validate,
        latency_detail=options.get("file-latency-detail", bool),
        progress=plan.progress,
    )
    if settings.validate:
        _check_validation(settings, running=running)
    return settings


def _at_least(minimum: int, options: OptionSet, name: str, message: str) -> int:
    value = options.get(name, int)
    if value < minimum:
        raise UsageError.fatal(message.format(value), about=option_key(name), advice=f"must be >= {minimum}")
    return value


def _unknown(name: str, message: str, typed: str, known: tuple[str, ...]) -> UsageError:
    return UsageError.fatal(message, about=option_key(name), advice=one_of(typed, known))


def _mode(options: OptionSet) -> Mode:
    name = options.get("file-test-mode", str)
    if not name:
        # With the list of options, as sysbench does.
        help_text = format_option_list(OPTIONS).rstrip("\n")
        raise UsageError.fatal(f"Missing required argument: --file-test-mode\n\nfileio options:\n{help_text}\n")
    if name not in MODES:
        raise _unknown("file-test-mode", f"Invalid IO operations mode: {name}.", name, tuple(MODES))
    return MODES[name]


def _block_bytes(options: OptionSet) -> int:
    block_bytes = options.get("file-block-size", int)
    if not 1 <= block_bytes <= MAX_BLOCK_BYTES:
        raise UsageError.fatal(
            f"Invalid value for file-block-size: {block_bytes}.",
            about="file_block_size",
            advice=f"must be from 1 to {MAX_BLOCK_BYTES}",
        )
    return block_bytes


def _check_validation(settings: Settings, *, running: bool) -> None:
    """A block that is validated must be written and read as a whole."""
    if settings.block_bytes < MIN_CHECKED_BLOCK_BYTES:
        raise UsageError.fatal(
            f"Invalid value for file-block-size: {settings.block_bytes}.",
            about="file_block_size",
            advice=f"must be >= {MIN_CHECKED_BLOCK_BYTES} with --validate",
        )
    if running and settings.file_bytes % settings.block_bytes:
        raise UsageError.fatal(
            f"Invalid value for file-block-size: {settings.block_bytes}.",
            about="file_block_size",
            advice=f"with --validate it must divide the size of a file, {settings.file_bytes} bytes",
        )
