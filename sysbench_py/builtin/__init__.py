"""The registry of built-in tests: one row and one module each.

A test's module has `OPTIONS`, its rows, and `create(options, plan)`, which makes its `BuiltinTest`."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import NamedTuple, Protocol

from sysbench_py.errors import ExitStatus
from sysbench_py.options import Option
from sysbench_py.plan import Plan
from sysbench_py.workload import Workload


class Runs(Protocol):
    """What the `run` command of a test is made of."""

    @property
    def recorded(self) -> bool:
        """Whether --output asks for the result, which is that of one run."""

    def whole(self, workload: Workload) -> ExitStatus:
        """The command is one run."""

    def part(self, workload: Workload, plan: Plan) -> ExitStatus:
        """One of several runs, with a plan of its own; it begins without a banner."""

    def between(self) -> ExitStatus:
        """Asked before every small thing that is done between runs, as a signal does not end it then: OK to go on,
        or, after a message, the status to end with."""


class BuiltinTest(Protocol):
    """A built-in test; `commands` are those besides run and help, for example fileio's prepare."""

    @property
    def commands(self) -> Mapping[str, Callable[[], ExitStatus]]: ...

    def conduct(self, runs: Runs) -> ExitStatus:
        """The `run` command."""


class Builtin(NamedTuple):
    """A built-in test; `module` is the name of its module in this package."""

    name: str
    description: str
    module: str

    def load(self) -> ModuleType:
        """The test's module, imported at the first call."""
        return importlib.import_module(f"{__name__}.{self.module}")

    @property
    def options(self) -> tuple[Option, ...]:
        """The rows of the test's options, in the order of the help."""
        rows: tuple[Option, ...] = self.load().OPTIONS
        return rows


BUILTIN_TESTS = {
    test.name: test
    for test in (
        Builtin("fileio", "File I/O test", "fileio"),
        Builtin("cpu", "CPU performance test", "cpu"),
        Builtin("memory", "Memory functions speed test", "memory"),
        Builtin("threads", "Threads subsystem performance test", "threads"),
        Builtin("mutex", "Mutex performance test", "mutex"),
        Builtin("slap", "SQL of one's own from many clients, as mysqlslap does", "slap"),
    )
}
