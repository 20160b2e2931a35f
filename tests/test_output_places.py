"""Where outputs go: opened all or none, written whole, and what happens when a place fails."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import stat
import sys
import threading
from pathlib import Path

import pytest

from sysbench_py.errors import UsageError
from sysbench_py.sinks.json_document import read, render
from sysbench_py.sinks.outputs import Outputs, requests
from tests.support.proc import Result, Run
from tests.support.reference import ours
from tests.support.results import result as a_result

QUICK = ("cpu", "--events=20", "--time=0")
COMMAND_LINE_ERROR = re.compile(r"FATAL: [^\n]+\n")


def refused(tmp_path: Path, *arguments: str) -> str:
    """The one line with which a command line ends before anything is run, leaving nothing behind."""
    before = sorted(path.name for path in tmp_path.iterdir())
    result = ours(*arguments, "run", cwd=tmp_path)
    assert (result.status, result.stderr) == (1, "")
    assert COMMAND_LINE_ERROR.fullmatch(result.stdout), result.stdout
    assert sorted(path.name for path in tmp_path.iterdir()) == before
    return result.stdout.removeprefix("FATAL: ").rstrip("\n")


@pytest.mark.parametrize(
    ("outputs", "message"),
    [
        (("xml",), "Invalid value for --output: 'xml' (use json, jsonl, csv, hdr, prometheus or html)"),
        (("json,csv",), "Invalid value for --output: 'json,csv' (use json, jsonl, csv, hdr, prometheus or html)"),
        (("json:",), "Invalid value for --output: 'json:' (the name of the file is empty)"),
        (("csv:a", "json:none/b"), "--output=json:none/b: No such file or directory"),
        (("csv:a", "jsonl:none/b"), "--output=jsonl:none/b: No such file or directory"),
        (("csv:a", "html:."), "--output=html:.: Is a directory"),
        (("jsonl:.",), "--output=jsonl:.: Is a directory"),
        (("hdr:a", "html:file/b"), "--output=html:file/b: Not a directory"),
        (("csv:a", "json:a"), "--output=csv:a and --output=json:a exclude each other"),
        (("csv:a", "json:./a"), "--output=csv:a and --output=json:./a exclude each other"),
        (("csv:file", "json:link"), "--output=csv:file and --output=json:link exclude each other"),
        (("csv:-", "json:-"), "--output=csv:- and --output=json:- exclude each other"),
        (("prometheus:0",), "--output=prometheus:0: 0 is no port (use 1 to 65535)"),
        (("prometheus:70000",), "--output=prometheus:70000: 70000 is no port (use 1 to 65535)"),
        (("prometheus:-1",), "--output=prometheus:-1: -1 is no port (use 1 to 65535)"),
        (("prometheus:h:123456",), "--output=prometheus:h:123456: 123456 is no port (use 1 to 65535)"),
    ],
    ids=lambda value: ",".join(value) if isinstance(value, tuple) else "",
)
def test_outputs_that_cannot_be_opened_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, outputs: tuple[str, ...], message: str
) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "link").symlink_to("file")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError) as error:
        Outputs(requests(outputs, stem="default"))
    assert error.value.line == f"FATAL: {message}"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "link"]


def test_a_refused_output_ends_the_command_before_anything_is_run(tmp_path: Path) -> None:
    message = refused(tmp_path, *QUICK, "--output=csv:a.csv", "--output=json:none/a.json")
    assert message == "--output=json:none/a.json: No such file or directory"


def test_a_used_port_is_refused(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        place = f"127.0.0.1:{server.getsockname()[1]}"
        message = refused(tmp_path, *QUICK, "--output=json:a.json", f"--output=prometheus:{place}")
    assert message == f"--output=prometheus:{place}: Address already in use"


def test_a_full_disk_is_refused(tmp_path: Path) -> None:
    """/dev/full takes no byte; a growing output has a head, which is written before the load."""
    assert refused(tmp_path, *QUICK, "--verbosity=0", "--output=csv:/dev/full").startswith(
        "--output=csv:/dev/full: No space left on device"
    )


def test_a_file_larger_than_the_limit_is_refused_before_the_load(tmp_path: Path) -> None:
    """What is found out when files are opened: there is no room for a block."""
    limited = 'ulimit -f 1; exec "$@"'
    result = shell(tmp_path, limited, *QUICK, "--output=json:a.json", "run")
    assert (result.status, result.stdout) == (1, "FATAL: --output=json:a.json: File too large\n")
    assert list(tmp_path.iterdir()) == []


def shell(tmp_path: Path, script: str, *arguments: str) -> Result:
    command = (sys.executable, "-m", "sysbench_py", *arguments)
    environment = {"PYTHONPATH": str(Path(__file__).parent.parent)}
    with Run("sh", "-c", script, "sh", *command, cwd=tmp_path, env=environment) as run:
        return run.result()


@pytest.mark.parametrize(("form", "package"), [("html", "jinja2"), ("prometheus", "prometheus_client")])
def test_a_missing_package_is_told_with_the_way_to_install_it(tmp_path: Path, form: str, package: str) -> None:
    """A module of that name that cannot be imported stands before the real one."""
    modules = tmp_path / "modules"
    modules.mkdir()
    (modules / f"{package}.py").write_text(f"raise ModuleNotFoundError('no', name='{package}')\n")
    path = f"{modules}{os.pathsep}{Path(__file__).parent.parent}"
    result = ours(*QUICK, "--output=json:a.json", f"--output={form}:a", "run", cwd=tmp_path, env={"PYTHONPATH": path})
    line = f"FATAL: --output={form} needs the Python package {package}: pip install 'sysbench-py[report]'\n"
    assert result == Result(line, "", 1)
    assert not (tmp_path / "a.json").exists()


def test_outputs_belong_to_one_run(tmp_path: Path) -> None:
    message = refused(tmp_path, *QUICK, "--output=json:a.json", "run")
    assert message == "--output takes the results of one run, and the command line has 2"


def test_outputs_of_commands_without_a_run_are_checked_and_not_made(tmp_path: Path) -> None:
    script = tmp_path / "script.lua"
    script.write_text("function prepare() print('> prepared') end function event() end")
    result = ours("script.lua", "--output=json:none/a.json", "prepare", cwd=tmp_path)
    assert (result.status, "> prepared\n" in result.stdout) == (0, True)
    assert ours("script.lua", "--output=xml", "prepare", cwd=tmp_path).status == 1
    result = ours("--output=json:-", "-", "run", cwd=tmp_path, stdin="print('> body')")
    assert (result.status, "> body\n" in result.stdout) == (0, True)


def test_a_wrong_command_line_leaves_files_as_they_are(tmp_path: Path) -> None:
    for name in ("a.csv", "a.json"):
        (tmp_path / name).write_text("before")
    outputs = ("--output=csv:a.csv", "--output=json:a.json", "--output=jsonl:new.jsonl")
    assert ours("cpu", "--nonsense", *outputs, "run", cwd=tmp_path).status == 1
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"a.csv": "before", "a.json": "before"}


def test_files_are_replaced_and_links_stay(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("before\n" * 1000)
    (tmp_path / "a.json").write_text("before\n" * 1000)
    (tmp_path / "link.json").symlink_to("a.json")
    assert ours(*QUICK, "--output=csv:a.csv", "--output=json:link.json", "run", cwd=tmp_path).status == 0
    assert (tmp_path / "link.json").is_symlink()
    assert read((tmp_path / "a.json").read_bytes()).total.counters.events == 20
    assert "before" not in (tmp_path / "a.csv").read_text()
    mode = stat.S_IMODE((tmp_path / "a.json").stat().st_mode)
    assert mode == 0o666 & ~os.umask(os.umask(0o022))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.csv", "a.json", "link.json"]


def test_a_device_stays_a_device(tmp_path: Path) -> None:
    assert ours(*QUICK, "--output=json:/dev/null", "run", cwd=tmp_path).status == 0
    assert stat.S_ISCHR(Path("/dev/null").stat().st_mode)


@pytest.mark.parametrize("form", ["json", "csv"])
def test_an_output_can_have_standard_output_for_itself(tmp_path: Path, form: str) -> None:
    result = ours(*QUICK, f"--output={form}:-", f"--output={form}:file", "run", cwd=tmp_path)
    text = (tmp_path / "file").read_text()
    assert (result.status, result.stdout) == (0, text)
    assert "total number of events:              20\n" in result.stderr


def test_files_without_a_name_are_called_after_the_test_and_the_time(tmp_path: Path) -> None:
    (tmp_path / "my test.lua").write_text("function event() end")
    result = ours("./my test.lua", "--events=2", "--output=json", "--output=hdr", "run", cwd=tmp_path)
    names = sorted(path.name for path in tmp_path.glob("sysbench-*"))
    assert [re.sub(r"\d{8}-\d{6}", "T", name) for name in names] == [
        "sysbench-my_test-T.hlog",
        "sysbench-my_test-T.json",
    ]
    assert sorted(result.stderr.splitlines()) == [f"result: {name}" for name in names]
    assert result.status == 0


def test_what_fails_later_takes_no_other_output_with_it(tmp_path: Path) -> None:
    """A reader that goes away, and a folder that is removed while the run lasts."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    (tmp_path / "gone").mkdir()

    def read_one_line() -> None:
        with pipe.open() as stream:
            stream.readline()
        (tmp_path / "gone").rmdir()

    reader = threading.Thread(target=read_one_line)
    reader.start()
    outputs = ("jsonl:pipe", "html:gone/a.html", "json:a.json", "csv:a.csv")
    result = ours("cpu", "--time=3", *(f"--output={each}" for each in outputs), "run", cwd=tmp_path)
    reader.join()
    assert result.status == 1
    assert "FATAL: --output=jsonl:pipe: Broken pipe: this output is lost\n" in result.stdout
    assert "FATAL: --output=html:gone/a.html: No such file or directory: this output is lost\n" in result.stdout
    saved = read((tmp_path / "a.json").read_bytes())
    assert len((tmp_path / "a.csv").read_text().splitlines()) == len(saved.intervals) + 1
    assert saved.total.counters.events == sum(each.counters.events for each in saved.intervals)


def test_an_interrupted_prepare_leaves_no_file(tmp_path: Path) -> None:
    (tmp_path / "slow.lua").write_text(
        "ffi.cdef('int usleep(unsigned);') function event() end "
        "function prepare() print('> begun') for i = 1, 600 do ffi.C.usleep(100000) end end"
    )
    outputs = ("--output=csv:a.csv", "--output=json:a.json")
    with ours.start("slow.lua", *outputs, "prepare", "run", cwd=tmp_path) as started:
        started.wait_for("> begun")
        started.process.send_signal(signal.SIGINT)
        assert started.result().status == 130
    assert [path.name for path in tmp_path.iterdir()] == ["slow.lua"]


def test_an_interrupted_run_has_its_results(tmp_path: Path) -> None:
    with ours.start("cpu", "--time=60", "--output=json:a.json", "run", cwd=tmp_path) as started:
        started.wait_for("Threads started!")
        started.process.send_signal(signal.SIGINT)
        assert started.result().status == 130
    saved = read((tmp_path / "a.json").read_bytes())
    assert saved.exit_status == 130
    assert saved.total.counters.events == sum(each.counters.events for each in saved.intervals)


def test_a_run_that_is_cut_off_has_its_results(tmp_path: Path) -> None:
    (tmp_path / "hangs.lua").write_text("ffi.cdef('int usleep(unsigned);') function event() ffi.C.usleep(9000000) end")
    options = ("--time=1", "--forced-shutdown=0", "--output=json:a.json", "--output=csv:a.csv")
    assert ours("hangs.lua", *options, "run", cwd=tmp_path).status == 2
    saved = read((tmp_path / "a.json").read_bytes())
    assert (saved.exit_status, saved.total.counters.events) == (2, 0)
    assert len((tmp_path / "a.csv").read_text().splitlines()) == len(saved.intervals) + 1


@pytest.mark.parametrize("word", ["report", "report.lua"])
def test_a_script_called_report_is_still_run(tmp_path: Path, word: str) -> None:
    (tmp_path / word).write_text("function event() end print('> mine')")
    result = ours("report", "--events=1", "run", cwd=tmp_path)
    assert (result.status, "> mine\n" in result.stdout) == (0, True)
    (tmp_path / word).rename(tmp_path / "other.lua")
    assert "> mine\n" in ours("./other.lua", "--events=1", "run", cwd=tmp_path).stdout


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (None, "Cannot read 'a.json': No such file or directory"),
        ("{}", "'a.json' is no result that --output=json has written: no result of a run: schema_version is missing"),
    ],
)
def test_a_file_that_is_no_result_is_told_in_a_line(tmp_path: Path, text: str | None, message: str) -> None:
    if text is not None:
        (tmp_path / "a.json").write_text(text)
    assert ours("report", "a.json", cwd=tmp_path) == Result("", f"FATAL: {message}\n", 1)


def test_a_redrawn_result_needs_a_place_that_can_be_written(tmp_path: Path) -> None:
    assert ours(*QUICK, "--output=json:a.json", "run", cwd=tmp_path).status == 0
    result = ours("report", "a.json", "--output=csv:none/a", cwd=tmp_path)
    assert result == Result("", "FATAL: --output=csv:none/a: No such file or directory\n", 1)
    assert json.loads((tmp_path / "a.json").read_text())["exit_status"] == 0


@pytest.mark.parametrize("place", ["9123", "127.0.0.1:9123", "-1"])
def test_a_saved_result_is_not_served(tmp_path: Path, place: str) -> None:
    assert ours(*QUICK, "--output=json:a.json", "run", cwd=tmp_path).status == 0
    result = ours("report", "a.json", f"--output=prometheus:{place}", cwd=tmp_path)
    reason = "a saved result is not served at a port, but written to a file (--output=prometheus:FILE)"
    if place == "-1":
        reason = "-1 is no port (use 1 to 65535)"
    assert result == Result("", f"FATAL: --output=prometheus:{place}: {reason}\n", 1)
    assert [path.name for path in tmp_path.iterdir()] == ["a.json"]


@pytest.mark.parametrize("form", ["json", "jsonl", "csv", "hdr", "html"])
def test_a_redrawn_result_is_whole_or_not_there(tmp_path: Path, form: str) -> None:
    """The disk is full behind the block that is written at first to see whether there is room."""
    (tmp_path / "a.json").write_text(render(a_result([100.0] * 200, [1.0] * 200)))
    command = ("report", "a.json", f"--output={form}:out")
    result = shell(tmp_path, 'ulimit -f 9; exec "$@"', *command)
    assert result == Result("", f"FATAL: --output={form}:out: File too large\n", 1)
    assert [path.name for path in tmp_path.iterdir()] == ["a.json"]


def test_a_file_that_grows_ends_with_a_whole_row(tmp_path: Path) -> None:
    result = shell(tmp_path, 'ulimit -f 9; exec "$@"', "cpu", "--time=6", "--output=jsonl:a.jsonl", "run")
    assert result.status == 1
    assert "FATAL: --output=jsonl:a.jsonl: File too large: this output is lost\n" in result.stdout
    text = (tmp_path / "a.jsonl").read_text()
    assert len(text) < 9 * 512
    assert [json.loads(line)["threads_running"] for line in text.splitlines()]


def test_a_long_name_is_a_name(tmp_path: Path) -> None:
    name = "ü" * 127
    for form in ("json", "csv"):
        assert ours(*QUICK, f"--output={form}:{name}", "run", cwd=tmp_path).status == 0
        assert [path.name for path in tmp_path.iterdir()] == [name]


def test_a_line_is_appended_whole_or_not_at_all(tmp_path: Path) -> None:
    """As slap does for --csv."""
    file = tmp_path / "a.csv"
    code = (
        "import sys; from sysbench_py.sinks.files import append\n"
        "append('a.csv', 'x' * 300)\n"
        "try: append('a.csv', 'y' * 300)\n"
        "except OSError as error: print(error.strerror)\n"
    )
    environment = {"PYTHONPATH": str(Path(__file__).parent.parent)}
    command = ("sh", "-c", 'ulimit -f 1; exec "$@"', "sh", sys.executable, "-c", code)
    with Run(*command, cwd=tmp_path, env=environment) as run:
        assert run.result() == Result("File too large\n", "", 0)
    assert file.read_text() == "x" * 300
