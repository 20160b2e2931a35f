"""What the tests of fileio have in common."""

from __future__ import annotations

import re
import shlex
import sys
from dataclasses import dataclass, replace
from pathlib import Path

from tests.support.no_io_uring import io_uring_errno
from tests.support.proc import Result, Run, find_program
from tests.support.reference import ours

MODES = ("seqwr", "seqrewr", "seqrd", "rndrd", "rndwr", "rndrw")
# Where the kernel refuses io_uring, test_fileio_faults.py alone tests that mode: that it says so.
IO_MODES = ("sync", "async", "mmap") if io_uring_errno() else ("sync", "async", "mmap", "uring")
MIB = 2**20

_BANNER = re.compile(r"\Asysbench 1\.0\.20.* \(using .*\)\n\n")
# Not the settings: their sizes have units, and the ratio its name.
_MEASURED = re.compile(r"(?<!IO test:) *(?<!IO test: )\d+\.\d\d+(?!\d|[KMGT]iB)")


def masked(result: Result) -> Result:
    """A result without the banner's version and without measured numbers."""
    return replace(result, stdout=_MEASURED.sub(" #", _BANNER.sub("BANNER\n\n", result.stdout)))


def fatal(result: Result) -> list[str]:
    """The fatal and warning lines of a result."""
    return [line for line in result.stdout.splitlines() if line.startswith(("FATAL: ", "WARNING: "))]


@dataclass(frozen=True)
class Operations:
    """How often each was done, by the block of --file-latency-detail, and the number of events."""

    reads: int
    writes: int
    fsyncs: int
    events: int


def operations(result: Result) -> Operations:
    """What a run with --file-latency-detail counted. Fails unless it went well."""
    assert result.status == 0, result
    counts = dict(re.findall(r"^    (read|write|fsync): +(\d+) ", result.stdout, re.MULTILINE))
    events = re.search(r"total number of events: +(\d+)", result.stdout)
    assert events, result.stdout
    return Operations(int(counts["read"]), int(counts["write"]), int(counts["fsync"]), int(events[1]))


def run(directory: Path, *arguments: str) -> Result:
    """Our `fileio` with these arguments, in `directory`."""
    return ours("fileio", *arguments, cwd=directory)


def sizes(directory: Path) -> dict[str, int]:
    """The files of the test and their sizes."""
    return {path.name: path.stat().st_size for path in directory.glob("test_file.*")}


def on_small_disk(mount_point: Path, size: str, *commands: str) -> list[Result]:
    """The results of shell commands, one after the other, in `mount_point`, a disk of `size` bytes in memory.

    `sysbench` is ours. The disk is there for these commands only, in name spaces of their own."""
    mine = shlex.join([sys.executable, "-m", "sysbench_py"])
    lines = [f'sysbench() {{ {mine} "$@"; }}', f'mount -t tmpfs -o size={size} none . && cd "$PWD" || exit 9']
    for number, command in enumerate(commands):
        lines.append(f"({command}) >../{number}.out 2>../{number}.err; echo $? >../{number}.status")
    program = find_program("unshare", "util-linux")
    with Run(program, "--user", "--map-root-user", "--mount", "sh", "-c", "\n".join(lines), cwd=mount_point) as done:
        shell = done.result()
    assert shell.status == 0, shell
    parent = mount_point.parent
    return [
        Result(
            (parent / f"{number}.out").read_text(),
            (parent / f"{number}.err").read_text(),
            int((parent / f"{number}.status").read_text()),
        )
        for number in range(len(commands))
    ]
