"""cpu, memory, threads and mutex: what they print, held against sysbench 1.0.20, and what they do."""

from __future__ import annotations

import re
import signal

import pytest

from sysbench_py import core
from tests.support.proc import Result
from tests.support.reference import ours, reference, report, reports

NUMBER = re.compile(r" *\d+(\.\d+)?")
HISTOGRAM_ROW = re.compile(r"(\n *\d+\.\d{3} \|\** +\d+)+")
BANNER = re.compile(r"^sysbench 1\.0\.20.*\n", re.MULTILINE)
# Our errors may say in brackets what would be right.
ADVICE = re.compile(r" \([a-z].*\)$", re.MULTILINE)

# What `%8.2f` or `%4.2f` made, where the right-aligned blanks are part of it.
PADDED = (
    (re.compile(r"events per second: (.*)"), "%8.2f"),
    (re.compile(r"Total operations: \d+ \((.*) per second\)"), "%8.2f"),
    (re.compile(r"\n(.*) MiB transferred"), "%4.2f"),
    (re.compile(r"MiB transferred \((.*) MiB/sec\)"), "%4.2f"),
    (re.compile(r"\[ \d+s \] (.*) MiB/sec"), "%4.2f"),
)


def shape(output: str) -> str:
    """`output` with its measured numbers replaced: all that are printed after the start of the workers."""
    head, started, rest = BANNER.sub("", output).partition("Threads started!\n")
    if not started:
        return ADVICE.sub("", NUMBER.sub(" N", head))
    lines = NUMBER.sub(" N", HISTOGRAM_ROW.sub("\nROWS", rest)).splitlines(keepends=True)
    # How often the reference reports in a run of two seconds, once or twice, is chance.
    timed = dict.fromkeys(line for line in lines if line.startswith("[ Ns ]"))
    return "".join((head, started, *timed, *(line for line in lines if line not in timed)))


def assert_alike(*arguments: str) -> Result:
    """Runs both programs; returns the result of ours."""
    theirs, mine = reference(*arguments), ours(*arguments)
    assert shape(mine.stdout) == shape(theirs.stdout)
    assert ADVICE.sub("", mine.stderr) == theirs.stderr
    assert mine.status == theirs.status
    for output in (theirs.stdout, mine.stdout):
        for pattern, template in PADDED:
            for number in pattern.findall(output):
                assert template % float(number) == number
    return mine


@pytest.mark.parametrize(
    "arguments",
    [
        "cpu --events=5",
        "cpu --events=5 --threads=3 --cpu-max-prime=100",
        "cpu --events=3 --cpu-max-prime=1",
        "cpu --events=5 --percentile=0 --rand-seed=7 --validate",
        "cpu --events=5 --histogram",
        "cpu --time=1 --threads=2",
        "cpu --time=3 --report-interval=2",
        "cpu --time=3 --report-interval=2 --rate=20",
        "cpu --time=2 --report-checkpoints=1 --cpu-max-prime=20000",
        "cpu --threads=2 --events=20 --rate=100 --histogram",
        "threads --events=5",
        "threads --events=5 --threads=3 --thread-yields=10 --thread-locks=2",
        "threads --events=5 --thread-yields=0",
        "threads --time=3 --report-interval=2 --threads=2",
        "threads --time=2 --report-checkpoints=1 --histogram",
        "threads --time=3 --rate=20 --report-interval=2 --thread-yields=10",
        "mutex --mutex-locks=10",
        "mutex --mutex-locks=10 --threads=3 --mutex-num=1 --mutex-loops=0",
        "mutex --mutex-locks=10 --threads=3 --events=1",
        "mutex --mutex-locks=10 --threads=3 --events=10 --time=0",
        "mutex --mutex-locks=10 --threads=2 --rate=10 --histogram",
        "memory --memory-total-size=1M",
        "memory --memory-total-size=0 --time=1",
        "memory --memory-total-size=1M --events=3 --threads=2",
        "memory --memory-total-size=1M --memory-oper=read --memory-scope=local --threads=2",
        "memory --memory-total-size=1M --memory-oper=none --memory-access-mode=rnd",
        "memory --memory-total-size=1M --memory-oper=read --memory-access-mode=rnd",
        "memory --memory-total-size=1M --memory-access-mode=rnd --memory-block-size=8",
        "memory --memory-total-size=5M --memory-block-size=1M --histogram",
        "memory --memory-total-size=0 --time=3 --report-interval=2 --memory-block-size=64K",
        "memory --memory-total-size=0 --time=3 --report-interval=2 --memory-oper=none",
        "memory --memory-total-size=0 --time=2 --report-checkpoints=1 --threads=2",
        "memory --memory-total-size=0 --time=3 --rate=20 --report-interval=2",
        "memory --memory-total-size=16K --rate=100 --threads=2",
    ],
)
def test_a_run_prints_what_the_reference_prints(arguments: str) -> None:
    assert assert_alike(*arguments.split(), "--verbosity=4", "run").status == 0


@pytest.mark.parametrize("test", ["cpu", "threads", "mutex --mutex-locks=10", "memory --memory-total-size=1M"])
@pytest.mark.parametrize("option", ["--debug", "--verbosity=3", "--verbosity=2", "--verbosity=0"])
def test_more_and_less_is_printed_as_by_the_reference(test: str, option: str) -> None:
    assert assert_alike(*test.split(), "--events=3", option, "run").status == 0


@pytest.mark.parametrize("test", ["cpu", "threads", "mutex", "memory"])
@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["help"],
        ["prepare"],
        ["cleanup"],
        ["nonsense"],
        ["--nonsense=1", "run"],
        ["--verbosity=0", "help"],
    ],
)
def test_a_command_is_answered_as_by_the_reference(test: str, arguments: list[str]) -> None:
    assert_alike(test, *arguments)


@pytest.mark.parametrize(
    "arguments",
    [
        "cpu --cpu-max-prime=0",
        "cpu --cpu-max-prime=-1",
        "cpu --cpu-max-prime=abc",
        "cpu --cpu-max-prime=99999999999",
        "threads --thread-yields=1x",
        "threads --thread-locks=abc",
        "mutex --mutex-num=1.5",
        "mutex --mutex-locks=1K",
        "mutex --mutex-loops=abc",
        "memory --memory-block-size=0",
        "memory --memory-block-size=4",
        "memory --memory-block-size=12",
        "memory --memory-block-size=1000",
        "memory --memory-block-size=-8",
        "memory --memory-block-size=abc",
        "memory --memory-block-size=1.5K",
        "memory --memory-block-size=3 --memory-scope=x",
        "memory --memory-scope=x --memory-oper=x",
        "memory --memory-scope=LOCAL",
        "memory --memory-oper=x --memory-access-mode=x",
        "memory --memory-access-mode=x",
        "memory --memory-hugetlb=x",
    ],
)
def test_a_wrong_value_is_refused_as_by_the_reference(arguments: str) -> None:
    assert assert_alike(*arguments.split(), "run").status == 1


@pytest.mark.parametrize("scope", ["global", "local"])
@pytest.mark.parametrize("hugetlb", ["on", "off"])
def test_memory_that_is_not_there_is_reported_as_by_the_reference(scope: str, hugetlb: str) -> None:
    options = f"--memory-block-size=64T --memory-total-size=0 --memory-scope={scope} --memory-hugetlb={hugetlb}"
    assert assert_alike("memory", *options.split(), "run").status == 1


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ("threads --thread-yields=-1", "Invalid value for thread-yields: -1 (use at least 0)"),
        ("threads --thread-locks=0", "Invalid value for thread-locks: 0 (use at least 1)"),
        ("threads --thread-locks=-1", "Invalid value for thread-locks: -1 (use at least 1)"),
        ("mutex --mutex-num=0", "Invalid value for mutex-num: 0 (use at least 1)"),
        ("mutex --mutex-num=-1", "Invalid value for mutex-num: -1 (use at least 1)"),
        ("mutex --mutex-locks=0", "Invalid value for mutex-locks: 0 (use at least 1)"),
        ("mutex --mutex-loops=-1", "Invalid value for mutex-loops: -1 (use at least 0)"),
        ("memory --memory-scope=", "Invalid value for memory-scope:  (use global, local)"),
        ("memory --memory-oper", "Invalid value for memory-oper:  (use read, write, none)"),
        (
            "memory --memory-block-size=1X",
            "Invalid value for memory-block-size: 1X (use K, M, G, T or no unit instead of 'X', as in 64K)",
        ),
        (
            "memory --memory-block-size",
            "Invalid value for memory-block-size:  (use a power of two, at least 8)",
        ),
        ("memory --memory-total-size=99999999999T", "'99999999999T'"),
        (
            "memory --memory-block-size=2G --memory-total-size=20G --threads=16",
            "Invalid value for memory-total-size: 20G (with --threads=16 and blocks of 2G there is nothing "
            "to do: use at least 32G, or 0 for no limit)",
        ),
        ("memory --memory-total-size=1023", "Invalid value for memory-total-size: 1023 (with --threads=1"),
    ],
)
def test_what_makes_the_reference_hang_crash_or_do_nothing_is_refused(arguments: str, named: str) -> None:
    result = ours(*arguments.split(), "run")
    assert result.status == 1
    # After the banner and its empty line, that line and no other.
    assert (result.stdout + result.stderr).count("\n") == 3
    assert named in result.stdout + result.stderr


@pytest.mark.parametrize(
    ("arguments", "events"),
    [
        ("--test=cpu --cpu-max-prime=20000 --max-requests=10 run", 10),
        ("cpu --threads=40 --events=400 --cpu-max-prime=20000 run", 400),
        ("--test=threads --num-threads=512 --thread-yields=100 --thread-locks=2 --max-requests=600 run", 600),
        (
            "--test=mutex --num-threads=1500 --max-requests=2000 --mutex-num=10240 --mutex-locks=100"
            " --mutex-loops=15 run",
            1500,
        ),
        (
            "--test=memory --num-threads=64 --memory-block-size=8192 --memory-total-size=4G run",
            4 * 2**30 // 8192,
        ),
    ],
)
def test_command_lines_as_people_type_them(arguments: str, events: int) -> None:
    result = assert_alike(*arguments.split())
    assert result.status == 0
    assert report(result.stdout)["events"] == events


def test_memory_divides_the_total_among_blocks_and_threads() -> None:
    # 1000 KiB in blocks of 64 KiB for 4 threads: 15 blocks, 3 for each.
    arguments = "memory --memory-block-size=64K --memory-total-size=1000K --threads=4 run"
    result = assert_alike(*arguments.split())
    assert "Total operations: 12 (" in result.stdout
    assert "\n0.75 MiB transferred (" in result.stdout


@pytest.mark.parametrize(
    ("arguments", "events"),
    [
        ("memory --memory-block-size=1M --memory-total-size=10M", 10),
        ("mutex --mutex-locks=10", 2),
        ("cpu --events=10", 10),
    ],
)
def test_a_warm_up_uses_nothing_up(arguments: str, events: int) -> None:
    # Without a time limit, the run ends only when everything is done.
    result = ours(*arguments.split(), "--threads=2", "--time=0", "--warmup-time=1", "run")
    assert result.status == 0
    # Events that are in work when the warm-up ends, one a thread, are counted beside those that are asked for.
    assert events <= report(result.stdout)["events"] <= events + 2


@pytest.mark.parametrize(
    "arguments",
    [
        "cpu --time=0 --threads=2",
        "threads --time=0 --threads=2",
        "memory --memory-total-size=0 --time=0 --threads=2",
        "mutex --mutex-locks=1000 --mutex-loops=1000 --rate=1 --time=0 --threads=5",
    ],
)
def test_an_interrupted_run_reports_what_was_done(arguments: str) -> None:
    with ours.start(*arguments.split(), "run") as run:
        run.wait_for("Threads started!")
        run.process.send_signal(signal.SIGINT)
        result = run.result()
    assert result.status == 130
    assert "Traceback" not in result.stdout + result.stderr
    assert len(reports(result.stdout)) == 1


@pytest.mark.parametrize("limit", [0, 1, 3, 4, 5, 10, 100, 10000])
def test_the_work_of_a_cpu_event_is_to_find_the_primes(limit: int) -> None:
    primes = [n for n in range(3, limit) if all(n % divisor for divisor in range(2, int(n**0.5) + 1))]
    assert core.bench_cpu_primes(limit) == len(primes)
