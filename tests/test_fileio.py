"""The fileio test beside the reference: the same messages, reports, requests and files."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from zlib import crc32

import pytest

from sysbench_py.builtin.fileio_options import OPTIONS
from tests.support.compat import compat
from tests.support.fileio import IO_MODES, MODES, masked
from tests.support.proc import Result
from tests.support.reference import Program, ours, reference

FILES = "--file-num=4 --file-total-size=1M --file-block-size=4096"
PREPARE = f"{FILES} prepare"
# What our messages say in addition: what would be right.
ADVICE = re.compile(r" \((must be|use|write) .*\)$", re.MULTILINE)


def both(tmp_path: Path, *commands: str) -> list[tuple[Result, Result]]:
    """(Ours, the reference's) results of the commands, in a directory each. They leave the same files."""
    results = []
    for program in (ours, reference):
        directory = tmp_path / ("ours" if program is ours else "reference")
        directory.mkdir()
        results.append([program("fileio", *command.split(), cwd=directory) for command in commands])
    assert listing(tmp_path / "ours") == listing(tmp_path / "reference")
    return list(zip(*results, strict=True))


def listing(directory: Path) -> dict[str, tuple[int, int, int]]:
    """Mode, size and checksum of each file."""
    return {
        path.name: (path.stat().st_mode, path.stat().st_size, crc32(path.read_bytes())) for path in directory.iterdir()
    }


def assert_alike(mine: Result, theirs: Result) -> None:
    mine, theirs = masked(mine), masked(theirs)
    assert mine.stdout.splitlines() == theirs.stdout.splitlines()
    assert mine == theirs


RUNS = {
    **{
        f"{mode}, {io_mode}": f"--file-test-mode={mode} --file-io-mode={io_mode}"
        for mode in MODES
        for io_mode in ("sync", "async", "mmap")
    },
    "merged": "--file-test-mode=seqrewr --file-merged-requests=3",
    "merged in random order": "--file-test-mode=rndrw --file-merged-requests=3",
    "fsync after writes": "--file-test-mode=rndwr --file-fsync-all",
    "fsync after writes, mmap": "--file-test-mode=rndwr --file-fsync-all --file-io-mode=mmap",
    "no fsync": "--file-test-mode=rndrw --file-fsync-freq=0 --file-fsync-end=off",
    "no fsync at the end": "--file-test-mode=rndwr --file-fsync-end=off",
    "fdatasync": "--file-test-mode=rndrw --file-fsync-mode=fdatasync --file-fsync-freq=10",
    "ratio": "--file-test-mode=rndrw --file-rw-ratio=4",
    "no ratio": "--file-test-mode=rndrw --file-rw-ratio=0",
    "direct": "--file-test-mode=rndrw --file-extra-flags=direct",
    "sync": "--file-test-mode=seqrewr --file-extra-flags=sync",
    "dsync": "--file-test-mode=rndwr --file-extra-flags=dsync",
    "large blocks": "--file-test-mode=rndrw --file-block-size=1M",
    "empty names": "--file-test-mode=rndrd --file-io-mode= --file-extra-flags=",
    "several threads": "--file-test-mode=rndrw --threads=4",
    "no percentile": "--file-test-mode=rndrd --percentile=0",
    "validation": "--file-test-mode=rndrw --validate",
    "more files": "--file-test-mode=rndrd --file-num=5 --file-total-size=1280K",
    "larger files": "--file-test-mode=rndrd --file-total-size=2M",
    "bad mode": "--file-test-mode=foo",
    "no mode": "",
}


@pytest.mark.parametrize("options", RUNS.values(), ids=RUNS.keys())
def test_runs(tmp_path: Path, options: str) -> None:
    # Enough events for seqwr to fill all files.
    run = f"{FILES} --events=400 --rand-seed=5 {options} run"
    prepare = f"{PREPARE} --validate" if "--validate" in options else PREPARE
    for mine, theirs in both(tmp_path, prepare, run):
        mine = replace(mine, stdout=without_own_rows(ADVICE.sub("", mine.stdout)))
        assert_alike(mine, replace(theirs, stdout=without_own_rows(theirs.stdout)))


def without_own_rows(text: str) -> str:
    """The list of options without those that only we have, spaced and worded alike."""
    text = re.sub(r"^  --file-latency-detail.*\n", "", text, flags=re.MULTILINE)
    return re.sub(r"(?<=\S) {2,}", " ", text.replace("{sync,async,mmap,uring}", "{sync,async,mmap}"))


PREPARATIONS = {
    "again": (PREPARE, PREPARE),
    "longer": (PREPARE, f"{FILES} --file-total-size=3M prepare"),
    "shorter": (PREPARE, f"{FILES} --file-total-size=512K prepare"),
    "no whole blocks": ("--file-num=2 --file-total-size=100000 --file-block-size=4K prepare",),
    "smaller than a block": ("--file-num=2 --file-total-size=1000 prepare",),
    "flags": (
        f"{PREPARE} --file-extra-flags=direct",
        f"{FILES} --file-extra-flags=sync --file-total-size=2M prepare",
    ),
    "other flags": (f"{PREPARE} --file-extra-flags=dsync",),
    "validation": (f"{PREPARE} --validate", f"{FILES} --file-total-size=1280K --validate prepare"),
    "mode": (f"{PREPARE} --file-test-mode=foo --file-io-mode=async --file-async-backlog=0",),
    "cleanup": (PREPARE, f"{FILES} --file-num=3 cleanup", f"{FILES} cleanup", f"{FILES} cleanup"),
}


@pytest.mark.parametrize("commands", PREPARATIONS.values(), ids=PREPARATIONS.keys())
def test_prepare_and_cleanup(tmp_path: Path, commands: tuple[str, ...]) -> None:
    for mine, theirs in both(tmp_path, *commands):
        assert_alike(mine, theirs)
        assert mine.status == 0


BAD_OPTIONS = (
    "--file-num=0 --file-total-size=0",
    "--file-total-size=0 --file-test-mode=foo",
    "--file-test-mode=foo --file-io-mode=bar",
    "--file-io-mode=bar --file-merged-requests=-1",
    "--file-merged-requests=-1 --file-block-size=0",
    "--file-block-size=0 --file-extra-flags=foo",
    "--file-extra-flags=foo --file-fsync-freq=-1",
    "--file-fsync-freq=-1 --file-fsync-mode=foo",
    "--file-fsync-mode=foo --file-rw-ratio=-1",
    "--file-rw-ratio=-1 --file-io-mode=async --file-async-backlog=0",
    "--file-io-mode=async --file-async-backlog=0",
    "--file-fsync-all=foo",
    "--file-nothing=1",
)


@compat("advice")
@pytest.mark.parametrize("command", ["prepare", "run", "cleanup"])
@pytest.mark.parametrize("options", BAD_OPTIONS)
def test_bad_options(tmp_path: Path, options: str, command: str) -> None:
    # A test mode is wrong, and a queue needed, in a run only.
    ((mine, theirs),) = both(tmp_path, f"{FILES} --file-test-mode=rndrd {options} {command}")
    assert_alike(replace(mine, stdout=ADVICE.sub("", mine.stdout), stderr=ADVICE.sub("", mine.stderr)), theirs)


@compat("own-options")
def test_help(tmp_path: Path) -> None:
    ((mine, theirs),) = both(tmp_path, "help")
    mine, theirs = masked(mine), masked(theirs)
    assert without_own_rows(mine.stdout).splitlines() == without_own_rows(theirs.stdout).splitlines()
    assert mine.stdout.count("  --file-") == theirs.stdout.count("  --file-") + 1 == len(OPTIONS)


SEQUENCES = {
    "rndrd": "--file-test-mode=rndrd",
    "rndwr": "--file-test-mode=rndwr",
    "rndrw": "--file-test-mode=rndrw",
    "ratio": "--file-test-mode=rndrw --file-rw-ratio=3.3 --file-fsync-freq=7",
    "no percentile": "--file-test-mode=rndrw --percentile=0",
    "parts of blocks": "--file-test-mode=rndrw --file-block-size=3000",
    "fsync after writes": "--file-test-mode=rndrw --file-fsync-all",
    "validation": "--file-test-mode=rndwr --validate",
    "mmap": "--file-test-mode=rndrw --file-io-mode=mmap",
    "in order": "--file-test-mode=seqrd",
    "in order, merged": "--file-test-mode=seqrewr --file-merged-requests=5 --file-fsync-freq=3",
}


@pytest.mark.parametrize("options", SEQUENCES.values(), ids=SEQUENCES.keys())
def test_same_requests(tmp_path: Path, options: str) -> None:
    run = f"{FILES} {options} --events=300 --rand-seed=2024 --debug run"
    _, (mine, theirs) = both(tmp_path, PREPARE, run)
    assert mine.stdout.count("DEBUG: Executing request, operation: ") > 290
    assert_alike(mine, theirs)


# Neither is due at the time limit or together with the other: then chance decides what the reference prints.
@pytest.mark.parametrize("reports", ["--report-interval=2 --time=3", "--report-checkpoints=1 --time=2"])
def test_reports_during_a_run(tmp_path: Path, reports: str) -> None:
    run = f"{FILES} --file-test-mode=rndrw --rate=50 --rand-seed=1 {reports} run"
    _, (mine, theirs) = both(tmp_path, PREPARE, run)
    shapes = [
        [re.sub(r"[\d.]+", "#", line) for line in masked(result).stdout.splitlines()] for result in (mine, theirs)
    ]
    assert shapes[0] == shapes[1]
    assert len(re.findall(r"^\[ [12]s \] ", mine.stdout, re.MULTILINE)) == 1
    if "interval" in reports:
        line = r"^\[ 2s \] reads: \d+\.\d\d MiB/s writes: .* latency \(ms,95%\): \d+\.\d{3}$"
        assert re.search(line, mine.stdout, re.MULTILINE)


@pytest.mark.parametrize("io_mode", IO_MODES)
@pytest.mark.parametrize("maker", [ours, reference], ids=["ours", "reference"])
def test_files_of_the_one_are_usable_by_the_other(tmp_path: Path, maker: Program, io_mode: str) -> None:
    options = f"{FILES} --validate --events=400 --file-fsync-freq=0".split()
    user = reference if maker is ours else ours
    steps = (
        (maker, "prepare", "seqrd"),
        (user, "run", "seqrd"),
        (maker, "run", "rndwr"),
        (user, "run", "rndrw"),
        (maker, "run", "seqwr"),
        (user, "run", "rndrd"),
    )
    for program, command, mode in steps:
        program_io_mode = io_mode if program is ours else "sync"
        arguments = (f"--file-test-mode={mode}", f"--file-io-mode={program_io_mode}", command)
        result = program("fileio", *options, *arguments, cwd=tmp_path)
        assert result.status == 0, result
