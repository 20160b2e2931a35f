"""Standard output that cannot be written to (one line, exit status 1), or that nobody reads (silence)."""

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from sysbench_py.sinks.json_document import render
from sysbench_py.tool_names import TOOLS
from tests.support.compat import compat
from tests.support.results import result

# Everything that writes to standard output, each in its own way.
PRINTING = (
    *("--help", "--version", "--db-driver=help", "cpu help", "cpu --events=1 run", "cpu --help"),
    *("tools", "tools --help", "tools drivers", "tools completion bash", "tools complete -- cpu --t"),
    *(f"tools {name} --help" for name in TOOLS),
    *("report result.json", "report result.json --output=json:-", "compare result.json result.json"),
    "sweep cpu --threads=1,2 --events=20 --time=0 --pictures= run",
    "ab cpu --events=20 --time=0 --b=--threads=2 run",
)


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a result that can be compared."""
    folder = tmp_path_factory.mktemp("saved")
    (folder / "result.json").write_text(render(result([100.0] * 11, [1.0] * 11)))
    return folder


@compat("output-lost")
@pytest.mark.parametrize("place", ["/dev/full", "&-"])
@pytest.mark.parametrize("line", PRINTING)
def test_what_cannot_be_written_is_an_error(saved: Path, tmp_path: Path, line: str, place: str) -> None:
    """A full disk, and a standard output that is closed."""
    done = _with_output(f">{place}", line, saved, tmp_path)
    assert done.returncode == 1
    assert len(done.stderr.splitlines()) == 1, done.stderr
    reason = "No space left on device" if place == "/dev/full" else "Bad file descriptor"
    assert "the results could not be written to standard output" in done.stderr or reason in done.stderr


@pytest.mark.parametrize("line", PRINTING)
def test_it_ends_in_silence_when_nobody_reads(saved: Path, tmp_path: Path, line: str) -> None:
    done = _with_output("| true", line, saved, tmp_path)
    assert done.stderr == ""


def test_a_mistake_that_is_told_after_the_reader_has_gone() -> None:
    """The banner may still have been read; since then SIGPIPE is ignored."""
    reader, writer = os.pipe()
    os.close(reader)
    script = (
        "import signal; from sysbench_py import cli; signal.signal(signal.SIGPIPE, signal.SIG_IGN);"
        " cli._print('FATAL: ...', 1); print('never', file=cli.sys.stderr)"
    )
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parent.parent)}
    done = subprocess.run(
        [sys.executable, "-c", script], env=environment, stdout=writer, stderr=subprocess.PIPE, text=True, check=False
    )
    os.close(writer)
    assert (done.returncode, done.stderr) == (-signal.SIGPIPE, "")


@pytest.mark.parametrize("option", ["--help", "--version"])
@pytest.mark.parametrize(("place", "errors"), [(">/dev/full", 1), (">&-", 1), ("| true", 0)])
def test_mysqlslap_too(tmp_path: Path, option: str, place: str, errors: int) -> None:
    done = _with_output(place, option, tmp_path, tmp_path, "sysbench_py.mysqlslap")
    assert len(done.stderr.splitlines()) == errors, done.stderr


def _with_output(
    place: str, line: str, saved: Path, folder: Path, module: str = "sysbench_py"
) -> subprocess.CompletedProcess[str]:
    for file in saved.glob("*.json"):
        shutil.copy(file, folder)
    command = f"{sys.executable} -m {module} {line} {place}"
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parent.parent)}
    return subprocess.run(
        ["sh", "-c", command], cwd=folder, env=environment, stderr=subprocess.PIPE, text=True, check=False
    )
