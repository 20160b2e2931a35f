"""What can go wrong with the fileio test: one clear line, status 1, nothing counted that was not done."""

from __future__ import annotations

import errno
import os
import re
import signal
import sys
from pathlib import Path

import pytest

from tests.support import no_io_uring
from tests.support.compat import compat
from tests.support.fileio import IO_MODES, MIB, fatal, on_small_disk, operations, run, sizes
from tests.support.proc import Result, Run
from tests.support.reference import ours, reference

FILES = ("--file-num=2", "--file-total-size=64K", "--file-block-size=4096")
FULL = r"errno = 28 \(No space left on device\)"


@pytest.fixture
def disk(tmp_path: Path) -> Path:
    """Where a small disk can be mounted."""
    mount_point = tmp_path / "disk"
    mount_point.mkdir()
    return mount_point


def only_line(result: Result, pattern: str) -> None:
    """The result is a failure that is told by one line."""
    (line,) = fatal(result)
    assert re.fullmatch(f"FATAL: {pattern}", line), line
    assert (result.stderr, result.status) == ("", 1)


# -- a full disk


@compat("fileio-errors")
@pytest.mark.parametrize("flags", ["", "--file-extra-flags=direct", "--validate"])
def test_disk_fills_up_during_prepare(disk: Path, flags: str) -> None:
    prepared, left = on_small_disk(
        disk,
        "64M",
        f"sysbench fileio --file-num=3 --file-total-size=96M {flags} prepare",
        "stat --format %s test_file.0 test_file.1",
    )
    only_line(prepared, rf"Failed to write file! file: test_file\.2 {FULL}")
    assert "bytes written" not in prepared.stdout
    assert left.stdout.split() == [str(32 * MIB)] * 2


@compat("fileio-full-map")
@pytest.mark.parametrize("threads", [1, 6])
@pytest.mark.parametrize("io_mode", IO_MODES)
def test_disk_fills_up_during_a_run(disk: Path, io_mode: str, threads: int) -> None:
    options = f"--file-num=3 --file-total-size=96M --file-io-mode={io_mode} --threads={threads}"
    # Random writes meet the end of the disk in files that are holes.
    results = on_small_disk(
        disk,
        "64M",
        f"sysbench fileio {options} --file-test-mode=seqwr --file-latency-detail run",
        "rm test_file.*; truncate --size 32M test_file.0 test_file.1 test_file.2",
        f"sysbench fileio {options} --file-test-mode=rndwr --file-latency-detail run",
    )
    for result in (results[0], results[2]):
        if io_mode == "mmap":
            only_line(
                result,
                r"Failed to access file! file: test_file\.\d pos: \d+: "
                r"the disk is full or broken, or the file has become shorter \(SIGBUS\)",
            )
            continue
        only_line(result, rf"Failed to write file! file: test_file\.\d pos: \d+ {FULL}")
    if io_mode != "mmap":
        # In order, what has been written is what has fitted.
        writes = re.search(r"^    write: +(\d+) ", results[0].stdout, re.MULTILINE)
        assert writes
        assert int(writes[1]) * 16384 <= 64 * MIB


def test_disk_fills_up_in_a_synchronous_run_without_half_a_request(disk: Path) -> None:
    (result,) = on_small_disk(
        disk,
        "1M",
        "sysbench fileio --file-num=1 --file-total-size=2M --file-block-size=100000 --file-test-mode=seqwr "
        "--file-fsync-freq=0 --file-latency-detail run",
    )
    only_line(result, rf"Failed to write file! file: test_file\.0 pos: 1000000 {FULL}")
    assert re.search(r"^    write: +10 ", result.stdout, re.MULTILINE)


# -- a disk that cannot be written

READ_ONLY = r"errno = 30 \(Read-only file system\)"


@compat("fileio-read-only")
def test_read_only_disk(disk: Path) -> None:
    files = "--file-num=2 --file-total-size=64K"
    results = on_small_disk(
        disk,
        "1M",
        f"sysbench fileio {files} prepare && mount -o remount,ro .",
        f"sysbench fileio {files} --file-num=3 prepare",
        f"sysbench fileio {files} --file-test-mode=seqwr run",
        f"sysbench fileio {files} --file-test-mode=rndrw run",
        f"sysbench fileio {files} cleanup",
        # What only reads needs no more than that.
        f"sysbench fileio {files} --file-test-mode=rndrd --events=9 --file-latency-detail run",
        f"sysbench fileio {files} --file-test-mode=seqrd --file-io-mode=mmap --events=9 --file-latency-detail run",
    )
    made, prepared, created, opened, removed, read, mapped = results
    assert made.status == 0
    only_line(prepared, rf"Cannot open file 'test_file\.0' {READ_ONLY}")
    only_line(created, rf"Cannot create file 'test_file\.0' {READ_ONLY}")
    only_line(opened, rf"Cannot open file 'test_file\.0' {READ_ONLY}")
    only_line(removed, rf"Cannot remove file 'test_file\.0' {READ_ONLY}")
    assert operations(read).reads == operations(mapped).reads == 9


# -- files that are not as they should be


def test_missing_file_and_wrong_size_as_the_reference_says_it(tmp_path: Path) -> None:
    for number, size in (("3", "96K"), ("2", "1M")):
        results = []
        for program in (ours, reference):
            assert program("fileio", *FILES, "prepare", cwd=tmp_path).status == 0
            arguments = (
                *FILES,
                f"--file-num={number}",
                f"--file-total-size={size}",
                "--file-test-mode=rndrd",
            )
            results.append(program("fileio", *arguments, "run", cwd=tmp_path))
        assert fatal(results[0]) == fatal(results[1])
        assert len(fatal(results[0])) == 2
        assert results[0].status == 1
        assert "Initializing worker threads" not in results[0].stdout


def test_directory_in_place_of_a_file(tmp_path: Path) -> None:
    (tmp_path / "test_file.1").mkdir()
    for arguments in (("prepare",), ("--file-test-mode=rndrd", "run"), ("--file-test-mode=rndwr", "run")):
        only_line(
            run(tmp_path, *FILES, *arguments),
            r"Cannot open file 'test_file\.1' errno = 21 \(Is a directory\)",
        )


def test_too_many_files(tmp_path: Path) -> None:
    arguments = ("--file-num=50", "--file-total-size=50K", "--file-block-size=1K")
    assert run(tmp_path, *arguments, "prepare").status == 0
    mine = (sys.executable, "-m", "sysbench_py", "fileio", *arguments, "--file-test-mode=rndrd", "run")
    with Run("sh", "-c", 'ulimit -n 30; "$@"', "sh", *mine, cwd=tmp_path) as started:
        only_line(started.result(), r"Cannot open file 'test_file\.\d+' errno = 24 \(Too many open files\)")


@pytest.mark.parametrize("io_mode", IO_MODES)
def test_file_becomes_shorter_during_a_run(tmp_path: Path, io_mode: str) -> None:
    assert run(tmp_path, *FILES, "prepare").status == 0
    arguments = (*FILES, "--file-test-mode=rndrd", f"--file-io-mode={io_mode}", "--time=60", "--threads=3")
    with ours.start("fileio", *arguments, "run", cwd=tmp_path) as started:
        started.wait_for("Threads started!")
        os.truncate(tmp_path / "test_file.1", 6000)
        result = started.result()
    if io_mode == "mmap":
        only_line(result, r"Failed to access file! file: test_file\.1 pos: \d+: the disk .* \(SIGBUS\)")
        return
    only_line(result, r"Failed to read file! file: test_file\.1 pos: \d+: only (0|1904) of 4096 bytes are there")


def test_direct_requests_that_the_disk_does_not_take(tmp_path: Path) -> None:
    arguments = ("--file-num=1", "--file-total-size=10000", "--file-block-size=1000")
    assert run(tmp_path, *arguments, "prepare").status == 0
    for io_mode in IO_MODES:
        if io_mode == "mmap":
            continue
        only_line(
            run(
                tmp_path,
                *arguments,
                "--file-extra-flags=direct",
                f"--file-io-mode={io_mode}",
                "--file-test-mode=seqrewr",
                "run",
            ),
            r"Failed to write file! file: test_file\.0 pos: \d+ errno = 22 \(Invalid argument\): "
            r"for --file-extra-flags=direct, .* must be multiples of the sector size of the disk",
        )


# -- options that cannot be fulfilled


@compat("fileio-nonsense")
@pytest.mark.parametrize(
    ("options", "line"),
    [
        ("--file-num=-1", "Invalid value for file-num: -1 (must be >= 1)"),
        (
            "--file-num=3 --file-total-size=2",
            "Invalid value for file-total-size: 2 (less than a byte for each of the 3 files of --file-num)",
        ),
        (
            "--file-block-size=2G",
            "Invalid value for file-block-size: 2147483648. (must be from 1 to 2147483647)",
        ),
        ("--file-io-mode=foo", "unknown I/O mode: foo (use sync, async, mmap, uring)"),
        (
            "--file-extra-flags=direct,foo",
            "Invalid value for file-extra-flags: foo (use sync, dsync, direct)",
        ),
        ("--file-fsync-mode=", "Invalid fsync mode: . (use fsync, fdatasync)"),
        ("--file-rw-ratio=nan", "Invalid value for --file-rw-ratio: nan. (must be >= 0)"),
        (
            "--validate --file-block-size=12",
            "Invalid value for file-block-size: 12. (must be >= 13 with --validate)",
        ),
        (
            "--validate --file-block-size=5000",
            "Invalid value for file-block-size: 5000. (with --validate it must divide the size of a file, 32768 bytes)",
        ),
        (
            "--file-io-mode=async --file-async-backlog=60000 --threads=100",
            "The kernel gives no queue for --file-io-mode=async: errno = 11 "
            "(Resource temporarily unavailable): lower --threads or --file-async-backlog, "
            "or raise /proc/sys/fs/aio-max-nr",
        ),
        (
            "--file-block-size=1G --file-merged-requests=1000000000 --file-total-size=1000000T",
            "Failed to allocate buffers: 1 threads have up to 1 requests of 549755813888000000 bytes each",
        ),
    ],
)
def test_options_that_cannot_be_fulfilled(tmp_path: Path, options: str, line: str) -> None:
    result = run(tmp_path, *FILES, "--file-test-mode=rndrd", *options.split(), "run")
    assert fatal(result) == [f"FATAL: {line}"]
    assert (result.stderr, result.status) == ("", 1)


@pytest.mark.parametrize(
    ("number", "hint"),
    [
        (errno.EPERM, "/proc/sys/kernel/io_uring_disabled or a seccomp profile forbids io_uring"),
        (errno.ENOSYS, "io_uring needs Linux 5.6 or later"),
    ],
)
def test_kernel_refuses_io_uring(tmp_path: Path, number: int, hint: str) -> None:
    assert run(tmp_path, *FILES, "prepare").status == 0
    launcher = (sys.executable, no_io_uring.__file__, str(number), sys.executable, "-m", "sysbench_py")
    arguments = ("fileio", *FILES, "--file-io-mode=uring", "--file-test-mode=rndrd", "--events=10", "run")
    with Run(*launcher, *arguments, cwd=tmp_path) as started:
        result = started.result()
    reason = f"errno = {number} ({os.strerror(number)}): {hint}"
    assert fatal(result) == [f"FATAL: The kernel gives no queue for --file-io-mode=uring: {reason}"]
    assert (result.stderr, result.status) == ("", 1)
    # And without the filter: it works, or it is refused for the kernel's own reason.
    own = no_io_uring.io_uring_errno()
    plain = ours(*arguments, cwd=tmp_path)
    assert plain.status == (1 if own else 0)
    assert len(fatal(plain)) == plain.status
    assert f"errno = {own} " in plain.stdout or not own


# -- interruptions


def test_interrupted_prepare_says_what_it_leaves(tmp_path: Path) -> None:
    arguments = ("--file-num=2", "--file-total-size=1G", "--file-extra-flags=sync", "--file-block-size=4K")
    with ours.start("fileio", *arguments, "prepare", cwd=tmp_path) as started:
        started.wait_for("Creating file test_file.0")
        started.process.send_signal(signal.SIGINT)
        result = started.result()
    assert result.status == 130
    (line,) = fatal(result)
    assert line.startswith("FATAL: interrupted by SIGINT during 'prepare'")
    assert set(sizes(tmp_path)) <= {"test_file.0", "test_file.1"}
    assert run(tmp_path, *arguments, "cleanup").status == 0
    assert sizes(tmp_path) == {}


def test_more_files_than_a_list_can_hold(tmp_path: Path) -> None:
    """A run ends at the first file that is not there, a prepare at the first that cannot be made."""
    files = ("--file-num=2147483647", "--file-total-size=4G")
    result = ours("fileio", *files, "--file-test-mode=rndrd", "run", cwd=tmp_path)
    assert "FATAL: Cannot open file 'test_file.0'" in result.stdout
    assert result.status == 1
    (tmp_path / "test_file.3").mkdir()
    result = ours("fileio", *files, "prepare", cwd=tmp_path)
    assert "Creating file test_file.2\n" in result.stdout
    assert "FATAL: Cannot open file 'test_file.3' errno = 21 (Is a directory)" in result.stdout
