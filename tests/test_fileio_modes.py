"""What the fileio test does in each mode, with our command alone: counts, sizes, validation, latencies."""

from __future__ import annotations

import re
import signal
import struct
import zlib
from pathlib import Path

import pytest

from sysbench_py import core
from sysbench_py.builtin.fileio_files import format_size
from sysbench_py.builtin.fileio_options import OPTIONS
from tests.support.compat import compat
from tests.support.fileio import IO_MODES, MODES, Operations, fatal, operations, run, sizes
from tests.support.reference import ours, reference

FILES = ("--file-num=4", "--file-total-size=256K", "--file-block-size=4096")
FILE_BYTES = 64 * 1024
READS = {"seqrd", "rndrd", "rndrw"}
WRITES = {"seqwr", "seqrewr", "rndwr", "rndrw"}


def expected(events: int, mode: str, files: int, fsync_every: int = 0, ratio: float = 1.5) -> Operations:
    """What so many events are, by the rules of the test, and the fsync of each file at the end."""
    reads = writes = fsyncs = 0
    dirty = False
    left = events
    while left:
        if fsync_every and dirty and (reads + writes) % fsync_every == 0:
            fsyncs += min(files, left)
            left -= min(files, left)
            dirty = False
            continue
        left -= 1
        if mode not in WRITES or (mode == "rndrw" and (reads + 1) / (writes + 1) < ratio):
            reads += 1
        else:
            writes += 1
            dirty = True
    return Operations(reads, writes, fsyncs + (files if mode in WRITES else 0), events)


@compat("fileio-ratio")
@pytest.mark.parametrize("io_mode", IO_MODES)
@pytest.mark.parametrize("mode", MODES)
def test_every_operation_is_counted_as_what_it_is(tmp_path: Path, mode: str, io_mode: str) -> None:
    assert run(tmp_path, *FILES, "--validate", "prepare").status == 0
    result = run(
        tmp_path,
        *FILES,
        f"--file-test-mode={mode}",
        f"--file-io-mode={io_mode}",
        "--file-async-backlog=7",
        "--file-fsync-freq=30",
        "--threads=3",
        "--events=500",
        "--validate",
        "--file-latency-detail",
        "run",
    )
    assert operations(result) == expected(500, mode, 4, fsync_every=30)
    assert fatal(result) == []
    assert set(sizes(tmp_path).values()) == {FILE_BYTES}
    assert run(tmp_path, *FILES, "--validate", "--file-test-mode=seqrd", "--events=64", "run").status == 0


@compat("fileio-last-fsync")
@pytest.mark.parametrize(("files", "threads"), [(1, 1), (1, 16), (7, 3), (20, 20), (3, 64), (100, 8)])
def test_fsync_with_any_number_of_files_and_threads(tmp_path: Path, files: int, threads: int) -> None:
    arguments = (f"--file-num={files}", f"--file-total-size={files * 16}K", "--file-block-size=1K")
    assert run(tmp_path, *arguments, "prepare").status == 0
    for mode in ("rndrw", "seqrewr"):
        result = run(
            tmp_path,
            *arguments,
            f"--file-test-mode={mode}",
            f"--threads={threads}",
            "--file-fsync-freq=9",
            "--events=1000",
            "--file-latency-detail",
            "run",
        )
        assert operations(result) == expected(1000, mode, files, fsync_every=9)


@compat("fileio-fsync-all")
@pytest.mark.parametrize("io_mode", IO_MODES)
def test_fsync_after_every_write(tmp_path: Path, io_mode: str) -> None:
    assert run(tmp_path, *FILES, "prepare").status == 0
    result = run(
        tmp_path,
        *FILES,
        "--file-test-mode=rndrw",
        f"--file-io-mode={io_mode}",
        "--file-fsync-all",
        "--events=100",
        "--file-latency-detail",
        "run",
    )
    # No round of fsync besides, not at the end either.
    assert operations(result) == Operations(reads=60, writes=40, fsyncs=40, events=100)


@compat("fileio-extra-flags")
def test_direct_synchronous_and_merged_requests(tmp_path: Path) -> None:
    flags = "--file-extra-flags=direct,dsync,sync"
    made = run(tmp_path, *FILES, flags, "--validate", "prepare")
    assert (made.status, "Extra file open flags: sync dsync directio\n" in made.stdout) == (0, True)
    for io_mode in IO_MODES:
        for mode in ("seqrewr", "seqrd", "rndrw"):
            result = run(
                tmp_path,
                *FILES,
                flags,
                "--validate",
                f"--file-test-mode={mode}",
                f"--file-io-mode={io_mode}",
                "--file-merged-requests=3",
                "--events=30",
                "--threads=3",
                "run",
            )
            assert (result.status, fatal(result)) == (0, [])
            assert "Merging requests up to 12KiB for sequential IO.\n" in result.stdout


# -- validation


def flip(path: Path, position: int) -> None:
    with path.open("r+b") as file:
        file.seek(position)
        byte = file.read(1)[0]
        file.seek(position)
        file.write(bytes([byte ^ 0x10]))


@pytest.mark.parametrize("io_mode", IO_MODES)
@pytest.mark.parametrize("mode", sorted(READS))
def test_validation_finds_a_flipped_byte(tmp_path: Path, mode: str, io_mode: str) -> None:
    files = ("--file-num=1", "--file-total-size=16K", "--file-block-size=4K", "--validate")
    assert run(tmp_path, *files, "prepare").status == 0
    path = tmp_path / "test_file.0"
    # In every block: one that is written before it is read is whole again.
    for offset in range(0, 16384, 4096):
        flip(path, offset + 100)
    blocks = path.read_bytes()
    result = run(tmp_path, *files, f"--file-test-mode={mode}", f"--file-io-mode={io_mode}", "run")
    assert result.status == 1
    checksum, values, where = fatal(result)
    match = re.fullmatch(r"FATAL: Checksum mismatch in block with offset: (\d+)", checksum)
    assert match
    offset = int(match[1])
    block = blocks[offset : offset + 4096]
    (stored,) = struct.unpack("<I", block[-12:-8])
    calculated = zlib.crc32(block[:-12])
    assert values == f"FATAL:     Calculated value: {calculated:#x}    Stored value: {stored:#x}"
    assert where == f"FATAL: Validation failed on file 0, block offset {offset}, exiting..."


@pytest.mark.parametrize("mode", ["seqwr", "seqrewr", "rndwr"])
def test_validation_finds_a_byte_that_flips_after_it_was_written(tmp_path: Path, mode: str) -> None:
    files = ("--file-num=1", "--file-total-size=8K", "--file-block-size=4K", "--validate", "--events=50")
    assert run(tmp_path, *files, "prepare").status == 0
    assert run(tmp_path, *files, f"--file-test-mode={mode}", "run").status == 0
    flip(tmp_path / "test_file.0", 4096 - 3)
    result = run(tmp_path, *files, "--file-test-mode=seqrd", "run")
    assert fatal(result) == [
        "FATAL: Offset mismatch in block:",
        f"FATAL:    Actual offset: 0    Stored offset: {0x10 << 5 * 8}",
        "FATAL: Validation failed on file 0, block offset 0, exiting...",
    ]


@compat("fileio-validation")
def test_more_threads_and_requests_than_blocks_to_validate(tmp_path: Path) -> None:
    files = ("--file-num=2", "--file-total-size=8K", "--file-block-size=4K", "--validate")
    assert run(tmp_path, *files, "prepare").status == 0
    for io_mode in IO_MODES:
        for mode in ("rndrw", "seqrewr"):
            result = run(
                tmp_path,
                *files,
                f"--file-test-mode={mode}",
                f"--file-io-mode={io_mode}",
                "--threads=9",
                "--events=300",
                "run",
            )
            assert (result.status, fatal(result)) == (0, [])


def test_blocks_have_their_checksum_and_offset_at_the_end() -> None:
    buffer = bytearray(5 * 100)
    core.rand_start_command()
    core.rng_enter(-1)
    core.file_blocks_fill(buffer, 100, 1_000_000)
    blocks = [bytes(buffer[start : start + 100]) for start in range(0, 500, 100)]
    assert len(set(blocks)) == 5
    for number, block in enumerate(blocks):
        assert struct.unpack("<IQ", block[88:]) == (zlib.crc32(block[:88]), 1_000_000 + number * 100)


@pytest.mark.parametrize("data", [b"", b"a", b"123456789", bytes(range(256)) * 9, b"\xff" * 1001])
def test_checksum_is_that_of_zlib(data: bytes) -> None:
    assert core.crc32_of(data) == zlib.crc32(data)


# -- sizes


@compat("fileio-remainder")
def test_remainder_of_the_total_size_is_announced(tmp_path: Path) -> None:
    line = "--file-total-size (1048576 bytes) cannot be divided by --file-num (3): 1048575 bytes are used\n"
    files = ("--file-num=3", "--file-total-size=1M")
    made = run(tmp_path, *files, "prepare")
    assert f"3 files, 341Kb each, 0Mb total\n{line}Creating files" in made.stdout
    result = run(tmp_path, *files, "--file-test-mode=rndrd", "--events=10", "run")
    assert f"1024KiB total file size\n{line}Block size" in result.stdout
    assert "cannot be divided" not in run(tmp_path, *FILES, "prepare").stdout


@compat("fileio-unfilled")
@pytest.mark.parametrize("io_mode", IO_MODES)
def test_files_that_a_run_has_not_filled_get_their_size(tmp_path: Path, io_mode: str) -> None:
    arguments = (*FILES, "--file-test-mode=seqwr", f"--file-io-mode={io_mode}", "--events=20")
    result = run(tmp_path, *arguments, "--file-fsync-freq=0", "run")
    assert (result.status, set(sizes(tmp_path).values())) == (0, {FILE_BYTES})
    assert result.stdout.endswith(
        "\n\nWARNING: The run ended before 3 of 4 files were written to their end; "
        "the rest of them is a hole: do 'cleanup' and 'prepare' before a test that reads them\n"
    )
    assert run(tmp_path, *FILES, "--file-test-mode=rndrd", "--events=20", "run").status == 0


@compat("fileio-extended")
def test_prepare_continues_a_file_at_a_block(tmp_path: Path) -> None:
    sizes_after = []
    for program in (ours, reference):
        (tmp_path / "test_file.0").write_bytes(b"x" * 5000)
        result = program(
            "fileio", "--file-num=1", "--file-total-size=12K", "--file-block-size=4K", "prepare", cwd=tmp_path
        )
        assert "Extending existing file test_file.0\n" in result.stdout
        sizes_after.append(sizes(tmp_path))
    assert sizes_after == [{"test_file.0": 3 * 4096}, {"test_file.0": 5000 + 2 * 4096}]
    assert (tmp_path / "test_file.0").read_bytes()[:5000] == b"x" * 5000


def test_documentation_lists_every_option() -> None:
    page = (Path(__file__).parent.parent / "docs" / "fileio.md").read_text()
    listed = re.findall(r"^\| `--(file-[a-z-]+)` \| (.*?) ?\|", page, re.MULTILINE)[-len(OPTIONS) :]
    assert listed == [(row.name, row.default or "") for row in OPTIONS]


def test_a_request_is_no_longer_than_a_file(tmp_path: Path) -> None:
    files = ("--file-num=2", "--file-total-size=3000", "--file-block-size=4K", "--file-latency-detail")
    assert run(tmp_path, *files, "prepare").status == 0
    for io_mode in IO_MODES:
        for mode in MODES:
            result = run(
                tmp_path,
                *files,
                f"--file-test-mode={mode}",
                f"--file-io-mode={io_mode}",
                "--events=20",
                "run",
            )
            assert operations(result).events == 20


@pytest.mark.parametrize(
    ("size_bytes", "text"),
    [(1, "1B"), (1023, "1023B"), (1500, "1.4648KiB"), (2**20 - 1, "1024KiB"), (2**20, "1MiB"),
     (1572864, "1.5MiB"), (3 * 2**30, "3GiB"), (5 * 2**40, "5TiB"), (2**52, "4096TiB")],
)  # fmt: skip
def test_sizes_have_five_digits(size_bytes: int, text: str) -> None:
    assert format_size(size_bytes) == text


# -- reports


def test_latencies_of_the_operations_add_up(tmp_path: Path) -> None:
    assert run(tmp_path, *FILES, "prepare").status == 0
    arguments = (*FILES, "--file-test-mode=rndrw", "--events=200", "--file-latency-detail")
    result = run(tmp_path, *arguments, "run")
    header = f"{'':<12}{'count':>12}{'min':>12}{'avg':>12}{'max':>12}{'95th pct':>12}{'sum':>16}"
    lines = result.stdout.splitlines()
    start = lines.index("Latency by operation (ms):")
    assert lines[start - 1] == lines[start + 5] == ""
    assert lines[start + 1] == header
    for name, line in zip(("read", "write", "fsync"), lines[start + 2 : start + 5], strict=True):
        label, count, minimum, average, maximum, percentile, total = line.split()
        assert (label, len(line)) == (f"{name}:", len(header))
        assert float(minimum) <= float(average) <= float(maximum)
        assert float(minimum) <= float(percentile) <= float(maximum)
        assert float(total) == pytest.approx(float(average) * int(count), rel=0.05, abs=0.2)
    assert "pct" not in run(tmp_path, *arguments, "--percentile=0", "run").stdout


def test_latencies_of_the_operations_begin_anew_at_a_checkpoint(tmp_path: Path) -> None:
    assert run(tmp_path, *FILES, "prepare").status == 0
    result = run(
        tmp_path,
        *FILES,
        "--file-test-mode=rndrd",
        "--rate=100",
        "--time=2",
        "--report-checkpoints=1",
        "--file-latency-detail",
        "run",
    )
    reads = [int(count) for count in re.findall(r"^    read: +(\d+) ", result.stdout, re.MULTILINE)]
    events = [int(count) for count in re.findall(r"number of events: +(\d+)", result.stdout)]
    assert len(reads) == len(events) == 2
    # A read may end between the two looks at its counters.
    assert all(abs(read - event) <= 1 for read, event in zip(reads, events, strict=True))


def test_interrupted_run_reports_what_was_done(tmp_path: Path) -> None:
    for io_mode in IO_MODES:
        arguments = (*FILES, "--file-test-mode=rndrw", f"--file-io-mode={io_mode}", "--threads=3", "--time=0")
        assert run(tmp_path, *FILES, "prepare").status == 0
        with ours.start("fileio", *arguments, "run", cwd=tmp_path) as started:
            started.wait_for("Threads started!")
            started.process.send_signal(signal.SIGINT)
            result = started.result()
        assert result.status == 130
        assert "\nFile operations:\n" in result.stdout


# -- command lines as people type them, with smaller sizes and times

TYPED = (
    (
        "fileio --file-num=5 --file-total-size=20M prepare",
        "--events=5000 --threads=16 fileio --file-num=5 --file-total-size=20M --file-test-mode=rndrw "
        "--file-fsync-freq=0 --file-block-size=16384 run",
    ),
    (
        "--test=fileio --file-num=16 --file-total-size=16M prepare",
        "--test=fileio --file-num=16 --file-total-size=16M --file-test-mode=rndrd --file-extra-flags=direct "
        "--file-fsync-freq=0 --file-block-size=16384 --max-time=1 run",
        "--test=fileio --file-num=16 --file-total-size=16M --file-test-mode=rndwr --file-extra-flags=direct "
        "--file-fsync-freq=0 --file-block-size=16384 --max-time=1 run",
        "--test=fileio --file-num=16 --file-total-size=16M cleanup",
    ),
)


@pytest.mark.parametrize("lines", TYPED)
def test_command_lines_as_typed(tmp_path: Path, lines: tuple[str, ...]) -> None:
    for line in lines:
        result = ours(*line.split(), cwd=tmp_path)
        assert (result.status, "FATAL" in result.stdout) == (0, False)
        if line.endswith("run"):
            assert re.search(r"^    (reads|writes)/s: +[1-9]", result.stdout, re.MULTILINE)
