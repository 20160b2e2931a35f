"""Running tests from Python. Every run is a process of its own: it can neither disturb its caller nor end it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import subprocess

    from sysbench_py.stats.result import RunResult


class CommandFailed(Exception):
    """A command ended with an error and without a result. `status` is its exit status, `output` all it printed.

    As a text, its first fatal line, and what it advised last.
    """

    def __init__(self, command: str, status: int, stdout: str, stderr: str) -> None:
        self.status = status
        self.output = stdout + stderr
        lines = [line for line in self.output.splitlines() if line.strip()]
        named = next((line for line in lines if line.startswith("FATAL: ")), lines[-1] if lines else "no message")
        advice = "".join(stderr.splitlines()[-1:])
        if advice == named or advice.startswith("WARNING: "):
            advice = ""
        super().__init__(f"{command}: exit status {status}: {named}{advice and f' ({advice})'}")


@dataclass(frozen=True, kw_only=True)
class Plan:
    """A test (a built-in one, a workload, the path of a script) and its options, by their names in `sysbench.opt`.

    `True` and `False` become on and off, sequences lists: `{"threads": 4, "percentile": [50, 99.9]}`.
    """

    test: str
    options: Mapping[str, object] = field(default_factory=dict)

    @property
    def arguments(self) -> list[str]:
        """What stands on the command line before the commands."""
        typed = [f"--{name.replace('_', '-')}={_text(value)}" for name, value in self.options.items()]
        return [self.test, *typed]


def prepare(plan: Plan) -> None:
    """Make what the test needs. Raises CommandFailed."""
    _command(plan, "prepare")


def cleanup(plan: Plan) -> None:
    """Remove what `prepare` made. Raises CommandFailed."""
    _command(plan, "cleanup")


def run(plan: Plan) -> RunResult:
    """Run the test and return everything that was measured.

    A run that ends early has a result too, with an `exit_status` that is not 0. Raises CommandFailed for one that
    has none.
    """
    import tempfile
    from pathlib import Path

    from sysbench_py.sinks.json_document import read

    with tempfile.TemporaryDirectory(prefix="sysbench-") as folder:
        file = Path(folder) / "result.json"
        process = _start(plan, "run", f"--output=json:{file}")
        if not file.exists():
            raise CommandFailed("run", process.returncode, process.stdout, process.stderr)
        return read(file.read_bytes())


def _command(plan: Plan, command: str) -> None:
    process = _start(plan, command)
    if process.returncode:
        raise CommandFailed(command, process.returncode, process.stdout, process.stderr)


def _start(plan: Plan, *arguments: str) -> subprocess.CompletedProcess[str]:
    import subprocess

    from sysbench_py.own_process import own_command

    return subprocess.run(
        own_command([*plan.arguments, *arguments]),
        check=False,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        errors="surrogateescape",
    )


def _text(value: object) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, Sequence) and not isinstance(value, str):
        return ",".join(map(str, value))
    return str(value)
