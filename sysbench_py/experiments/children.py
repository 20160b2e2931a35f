"""Runs as processes of their own, one after the other, and the signals that end them."""

from __future__ import annotations

import signal
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

from sysbench_py.api import CommandFailed
from sysbench_py.own_process import own_command
from sysbench_py.system import END_SIGNALS, SAME_SIGNAL_S

# How long a process that is told to end has for its last report.
GRACE_S = 10


class Interrupted(Exception):
    """A signal has come. As a text, its name."""

    def __init__(self, number: int) -> None:
        super().__init__(signal.Signals(number).name)
        self.exit_status = 128 + number


@contextmanager
def interruptible() -> Iterator[None]:
    """Signals that would end this process raise Interrupted in the main thread, those that come together once."""
    last_s = -SAME_SIGNAL_S

    def interrupt(number: int, _frame: FrameType | None) -> None:
        nonlocal last_s
        if time.monotonic() - last_s > SAME_SIGNAL_S:
            last_s = time.monotonic()
            raise Interrupted(number)

    before = {each: signal.getsignal(each) for each in END_SIGNALS}
    for each, handler in before.items():
        if handler is not signal.SIG_IGN:
            signal.signal(each, interrupt)
    try:
        yield
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)


@dataclass(frozen=True)
class TestLine:
    """A command line of a test, without the commands; `title` is what messages call it."""

    test: str
    options: tuple[str, ...]
    title: str = ""

    def run(self, file: Path) -> None:
        """Run the test; `file` gets its result, whole, if it ends well.

        Raises CommandFailed, and Interrupted after the run has been ended.
        """
        part = file.with_name(f"{file.name}.part")
        try:
            self.command("run", f"--output=json:{part}")
            part.replace(file)
        finally:
            part.unlink(missing_ok=True)

    def command(self, name: str, *options: str) -> None:
        """Do one command of the test. Raises as `run`."""
        status, stdout, stderr = _process([self.test, *self.options, *options, name])
        if status:
            raise CommandFailed(name, status, stdout, stderr)


def with_warmup(options: Sequence[str]) -> tuple[str, ...]:
    """The options with a warm-up, unless they have one: a tenth of the time limit, from 1 s to 10 s."""
    from sysbench_py.command_line import parse

    parsed = parse(["sysbench", *options]).options
    time_limit_s = parsed.get("time", int)
    if parsed.typed("warmup-time") or time_limit_s <= 0:
        return tuple(options)
    return (*options, f"--warmup-time={min(max(time_limit_s // 10, 1), 10)}")


def _process(arguments: Sequence[str]) -> tuple[int, str, str]:
    """Exit status, standard output, standard error."""
    process = subprocess.Popen(
        own_command(arguments),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        errors="surrogateescape",
        # Ctrl-C in the terminal is for this process, which ends the other one in order.
        start_new_session=True,
    )
    try:
        stdout, stderr = process.communicate()
    except BaseException:
        process.terminate()
        try:
            process.communicate(timeout=GRACE_S)
        except (subprocess.TimeoutExpired, Interrupted):
            process.kill()
            process.wait()
        raise
    return process.returncode, stdout, stderr
