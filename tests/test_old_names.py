"""How the names of tests of older generations find ours, and that a file of that name comes first."""

import re
from pathlib import Path

import pytest

from sysbench_py.catalogue import known_tests
from tests.support.compat import compat
from tests.support.proc import Result
from tests.support.reference import ours, report

DATABASE = ("--db-driver=sqlite", "--sqlite-db=:memory:")
TINY = "--oltp-table-size=20"
OWN = "function event() end\nfunction help() print('own script') end\n"
DEPRECATED = "WARNING: the --test option is deprecated."


def notices(result: Result) -> list[str]:
    return [line for line in result.stderr.splitlines() if not line.startswith(DEPRECATED)]


def test_oltp_is_the_test_of_0_4(tmp_path: Path) -> None:
    result = ours("--test=oltp", *DATABASE, TINY, "--max-requests=3", "prepare", "run", cwd=tmp_path)
    assert "Creating table 'sbtest'..." in result.stdout
    assert notices(result) == []


@compat("old-scripts")
@pytest.mark.parametrize(
    ("test", "generation"),
    [
        ("--test=tests/db/oltp.lua", "0.5"),
        ("--test=/usr/share/doc/sysbench/tests/db/oltp.lua", "0.5"),
        ("--test=./oltp.lua", "0.5"),
        ("--test=oltp.lua", "0.5"),
        ("--test=/usr/local/share/tests/include/oltp_legacy/bulk_insert.lua", "0.5"),
        ("--test=tests/db/select_random_points.lua", "0.5"),
        ("--test=/opt/share/sysbench/select_random_points.lua", "1.0"),
        ("--test=tests/db/oltp_read_write.lua", "1.0"),
        ("/opt/share/sysbench/tests/include/oltp_legacy/oltp.lua", "0.5"),
        ("tests/db/select_random_ranges.lua", "0.5"),
        ("/opt/share/sysbench/bulk_insert.lua", "1.0"),
        ("/opt/share/sysbench/oltp_read_only.lua", "1.0"),
    ],
)
def test_path_that_does_not_exist(test: str, generation: str, tmp_path: Path) -> None:
    name = test.removeprefix("--test=")
    result = ours(test, "--mysql-dry-run", "--events=2", "prepare", "run", "cleanup", cwd=tmp_path)
    assert result.status == 0, result.stdout + result.stderr
    assert notices(result) == [f"{name} is not here: running our own {Path(name).name} of sysbench {generation}"]


@pytest.mark.parametrize("test", ["--test=nowhere.lua", "--test=tests/db/common.lua", "elsewhere/oltp.lua", "oltp"])
def test_names_that_find_nothing(test: str, tmp_path: Path) -> None:
    result = ours(test, *DATABASE, "run", cwd=tmp_path)
    assert result.status == 1
    name = test.removeprefix("--test=")
    assert f"FATAL: Cannot find benchmark '{name}': no such built-in test, file or module" in result.stdout
    if name == "oltp":
        assert "(today's is oltp_read_write; that of sysbench 0.4 is --test=oltp)" in result.stdout


@pytest.mark.parametrize(
    ("test", "said"),
    [
        ("--test=olpt", "did you mean 'oltp'?"),
        ("olpt", "today's is oltp_read_write; that of sysbench 0.4 is --test=oltp"),
        ("--test=tests/db/olpt.lua", "did you mean 'tests/db/oltp.lua'?"),
        ("/opt/share/sysbench/tests/include/oltp_legacy/slect.lua",
         "did you mean '/opt/share/sysbench/tests/include/oltp_legacy/select.lua'?"),
    ],
)  # fmt: skip
def test_mistyped_names_of_old_tests(test: str, said: str, tmp_path: Path) -> None:
    result = ours(test, *DATABASE, "run", cwd=tmp_path)
    assert result.status == 1
    assert f": no such built-in test, file or module ({said})\n" in result.stdout


@pytest.mark.parametrize(
    ("file", "test"),
    [
        ("oltp", "--test=oltp"),
        ("oltp.lua", "--test=oltp"),
        ("oltp.lua", "--test=oltp.lua"),
        ("tests/db/oltp.lua", "--test=tests/db/oltp.lua"),
        ("tests/db/oltp.lua", "tests/db/oltp.lua"),
    ],
)
def test_file_of_that_name_comes_first(file: str, test: str, tmp_path: Path) -> None:
    path = tmp_path / file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(OWN)
    result = ours(test, "help", cwd=tmp_path)
    assert result.stdout.endswith("own script\n")
    assert notices(result) == []
    # And the defaults are those of 1.0.
    timed = ours(test, "--max-time=1", "--max-requests=0", "run", cwd=tmp_path)
    assert report(timed.stdout)["total_time_s"] >= 1


@compat("old-options")
@pytest.mark.parametrize(
    "arguments",
    [
        "--test=cpu --num-threads=2 --cpu-max-prime=100 --max-requests=5",
        "--test=threads --init-rng=on --thread-yields=10 --max-requests=5",
        "--test=memory --memory-block-size=8K --memory-total-size=40K --seed-rng=3",
    ],
)
def test_options_of_0_4_for_built_in_tests(arguments: str) -> None:
    result = ours(*arguments.split(), "run")
    assert (report(result.stdout)["events"], result.status) == (5, 0)
    assert ("from seed (3)." in result.stdout) == ("--seed-rng" in arguments)


@pytest.mark.parametrize(
    ("options", "interval_s"),
    [("--batch --batch-delay=2", 2), ("--batch", 300), ("--batch --report-interval=7", 7), ("--batch-delay=2", None)],
)
def test_batch_is_a_report_interval(options: str, interval_s: int | None) -> None:
    shown = ours(*options.split(), "--test=cpu", "--cpu-max-prime=100", "--max-requests=5", "run").stdout
    line = f"Report intermediate results every {interval_s} second(s)"
    assert (line in shown.splitlines()) == (interval_s is not None)
    assert ("Report intermediate results" in shown) == (interval_s is not None)


def test_batch_is_free_for_scripts(tmp_path: Path) -> None:
    (tmp_path / "own.lua").write_text("function event() print(batch, batch_delay) end")
    shown = ours("--test=own.lua", "--batch=7", "--events=1", "--verbosity=0", "run", cwd=tmp_path)
    assert shown.stdout == "7\tnil\n"


@pytest.mark.parametrize(
    ("options", "line"),
    [
        ("--test=cpu --batch=maybe", "invalid option: --batch=maybe (use on or off)"),
        ("--test=cpu --batch --batch-delay=x", "Invalid value for the 'batch_delay' option: 'x' (use a whole number)"),
        ("cpu --batch", "invalid option: --batch"),
    ],
)
def test_batch_with_bad_input(options: str, line: str) -> None:
    result = ours(*options.split(), "run")
    assert (notices(result), result.status) == ([line], 1)


def test_fileio_as_it_was_published(tmp_path: Path) -> None:
    size = ("--test=fileio", "--num-threads=16", "--file-num=4", "--file-total-size=1M")
    run = ("--file-test-mode=rndrw", "--init-rng=on", "--max-time=300", "--max-requests=100")
    for command in (("prepare",), (*run, "run"), ("cleanup",)):
        result = ours(*size, *command, cwd=tmp_path)
        assert result.status == 0, result.stdout + result.stderr
        if "run" in command:
            assert report(result.stdout)["events"] == 100


def test_old_general_options_need_the_old_form() -> None:
    result = ours("cpu", "--init-rng=on", "run")
    advice = "leave it out: random numbers are seeded from the current time"
    assert (result.stderr, result.status) == (f"invalid option: --init-rng=on ({advice})\n", 1)


def test_help_and_a_missing_command() -> None:
    shown = ours("--test=oltp", "help")
    assert "\noltp options:\n" in shown.stdout
    assert "  --oltp-test-mode=STRING " in shown.stdout
    bare = ours("--test=oltp")
    assert "its commands are prepare, run, cleanup, help: type for example 'sysbench --test=oltp run'" in bare.stderr


def test_help_of_a_script_of_0_5(tmp_path: Path) -> None:
    shown = ours("--test=tests/db/select_random_ranges.lua", "--verbosity=0", "help", cwd=tmp_path).stdout
    assert "\n  --number-of-ranges=N [10]\n" in shown
    assert "\n  --oltp-auto-inc=on|off [on]\n" in shown


def test_completion_knows_the_options() -> None:
    offered = ours("tools", "complete", "--", "--test=oltp", "--oltp-nontrx-mode=").stdout
    assert [line.partition("\t")[0] for line in offered.splitlines()] == [
        f"--oltp-nontrx-mode={mode}" for mode in ("select", "update_key", "update_nokey", "insert", "delete")
    ]


def test_page_names_tests_and_options_of_today() -> None:
    page = (Path(__file__).parent.parent / "docs" / "from_old.md").read_text()
    rows = re.findall(r"^\| (?:0\.4|0\.5|both) \| .* \| (.*) \|$", page, re.MULTILINE)
    today = " ".join(re.findall(r"`([^`]+)`", " ".join(rows))).split()
    options = [word[2:].partition("=")[0] for word in today if word.startswith("--")]
    shown = ours("--help").stdout + ours("oltp_read_write", "help").stdout
    known = {name.replace("_", "-") for name in re.findall(r"^  --([\w-]+)", shown, re.MULTILINE)}
    assert len(options) > 10
    assert set(options) - known == set()
    tests = {word for word in today if re.fullmatch(r"[a-z_]{3,}", word)} - {"prepare"}
    assert len(tests) > 6
    assert tests - set(known_tests()) == set()
