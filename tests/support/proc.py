"""Programs that a test starts: found or failed for, and run with a hard time limit."""

import os
import re
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

import pytest

# Debian keeps servers in directories that are not on every user's PATH.
SERVER_DIRECTORIES = ("usr/sbin", "usr/lib/postgresql/*/bin")


def find_program(name: str, package: str) -> str:
    """The path of the newest program `name` (or `name`, if that is a path); the test fails, naming the Debian
    `package`, where there is none."""
    path = os.environ.get("PATH", os.defpath)
    for pattern in SERVER_DIRECTORIES:
        for directory in sorted(Path("/").glob(pattern), key=_version):
            path = f"{directory}{os.pathsep}{path}"
    found = shutil.which(name, path=path)
    if found is None:
        pytest.fail(f"{name} is not installed: apt-get install {package}", pytrace=False)
    return found


def _version(path: Path) -> list[int]:
    return [int(digits) for digits in re.findall(r"\d+", str(path))]


def poll(condition: Callable[[], bool], timeout_s: float) -> bool:
    """Whether `condition` became true within `timeout_s` seconds."""
    deadline = time.monotonic() + timeout_s
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


def wait_until(condition: Callable[[], bool], what: str, timeout_s: float = 60) -> None:
    """Returns as soon as `condition` is true; the test fails with `what` when it never becomes so."""
    if not poll(condition, timeout_s):
        pytest.fail(f"waited {timeout_s:g} s for {what}")


@dataclass(frozen=True)
class Result:
    """What a finished program printed, and its exit status (minus the signal's number if one ended it)."""

    stdout: str
    stderr: str
    status: int


class Run:
    """A program that runs while the test does something else; a context manager that kills what still runs.

    `env` is added to the environment; a variable set to None is taken out. `stdin` is the whole input.
    """

    def __init__(
        self,
        *command: str,
        cwd: Path | None = None,
        env: Mapping[str, str | None] | None = None,
        stdin: str = "",
    ) -> None:
        self._command = command
        environment = {
            name: value for name, value in {**os.environ, **(env or {})}.items() if value is not None
        }
        with ExitStack() as files, tempfile.TemporaryFile() as source:
            # Files instead of pipes: a program that prints a lot never waits for a test that reads late.
            self._stdout = files.enter_context(tempfile.TemporaryFile())
            self._stderr = files.enter_context(tempfile.TemporaryFile())
            source.write(stdin.encode())
            source.seek(0)
            self.process = subprocess.Popen(
                command,
                cwd=cwd,
                env=environment,
                stdin=source,
                stdout=self._stdout,
                stderr=self._stderr,
                start_new_session=True,
            )
            self._files = files.pop_all()

    def __enter__(self) -> "Run":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._kill()
        self._files.close()

    @property
    def stdout(self) -> str:
        """What it has printed so far."""
        return _content(self._stdout.fileno())

    @property
    def stderr(self) -> str:
        """What it has printed so far on standard error."""
        return _content(self._stderr.fileno())

    def wait_for(self, text: str, timeout_s: float = 60) -> None:
        """Returns as soon as `text` has been printed; fails if the program or the time ends before."""
        poll(lambda: text in self.stdout or self.process.poll() is not None, timeout_s)
        if text not in self.stdout:
            pytest.fail(f"never printed {text!r} (status {self.process.poll()}):\n{self.stdout}{self.stderr}")

    def result(self, timeout_s: float = 120) -> Result:
        """Waits for the end. A program that runs longer than `timeout_s` is killed, and the test fails."""
        try:
            status = self.process.wait(timeout_s)
        except subprocess.TimeoutExpired:
            self._kill()
            pytest.fail(
                f"killed after {timeout_s:g} s: {' '.join(self._command)}\n{self.stdout}{self.stderr}"
            )
        return Result(self.stdout, self.stderr, status)

    def _kill(self) -> None:
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()


def _content(descriptor: int) -> str:
    # The child writes at the shared file offset, so it must stay where it is.
    return os.pread(descriptor, os.fstat(descriptor).st_size, 0).decode(errors="surrogateescape")
