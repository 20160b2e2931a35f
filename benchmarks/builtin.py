"""The speed of the built-in tests, the reference against our own command, as a Markdown table.

python -m benchmarks.builtin [--pairs N] [--time S] [--quick] [--list] [WORD...]
"""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.command import main
from benchmarks.measure import EVENTS, FILE_OPERATIONS, MEMORY_RATE, Metric
from benchmarks.row import Row, against_reference


def _row(name: str, arguments: str, metric: Metric, before: str = "") -> Row:
    return against_reference(name, arguments, {metric: None}, before)


def _cpu_rows() -> Iterator[Row]:
    for threads in (1, 2):
        for primes in (10000, 20000):
            yield _row(
                f"cpu, primes below {primes}, {threads} thr.",
                f"cpu --cpu-max-prime={primes} --threads={threads}",
                EVENTS,
            )


def _memory_rows() -> Iterator[Row]:
    for oper in ("write", "read", "none"):
        for mode in ("seq", "rnd"):
            for size in ("1K", "1M"):
                for threads in (1, 2):
                    yield _row(
                        f"memory {oper}, {mode}, {size}, {threads} thr.",
                        f"memory --memory-oper={oper} --memory-access-mode={mode} --memory-block-size={size}"
                        f" --memory-total-size=0 --threads={threads}",
                        EVENTS if oper == "none" else MEMORY_RATE,
                    )


def _fileio_rows() -> Iterator[Row]:
    # Files that stay in the page cache, and no fsync: what is compared is the program, not the disk.
    files = "fileio --file-num=8 --file-total-size=64M"
    for mode in ("rndrd", "rndwr", "rndrw", "seqrd"):
        for size in ("4K", "16K"):
            for threads in (1, 2):
                yield _row(
                    f"fileio {mode}, {size}, {threads} thr.",
                    f"{files} --file-test-mode={mode} --file-block-size={size} --file-fsync-freq=0"
                    f" --file-fsync-end=off --threads={threads}",
                    FILE_OPERATIONS,
                    before=f"{{reference}} {files} prepare",
                )


ROWS = (
    *_cpu_rows(),
    *_memory_rows(),
    _row("threads, 1 thr.", "threads", EVENTS),
    _row("threads, 2 thr.", "threads --threads=2", EVENTS),
    _row("threads, 64 thr.", "threads --threads=64", EVENTS),
    # One event a thread: these runs end with their work.
    _row("mutex, 1 thr.", "mutex --mutex-locks=500000", EVENTS),
    _row("mutex, 2 thr.", "mutex --mutex-locks=500000 --threads=2", EVENTS),
    _row("mutex, 64 thr.", "mutex --mutex-locks=20000 --threads=64", EVENTS),
    *_fileio_rows(),
)


if __name__ == "__main__":
    main(ROWS, (__doc__ or "").split("\n")[0])
