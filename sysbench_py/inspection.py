"""What a test is, for those who ask without running it: `--help` and the completion."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sysbench_py.builtin_commands import BuiltinCommands
    from sysbench_py.command_line import CommandLine
    from sysbench_py.options import Option
    from sysbench_py.script_commands import ScriptCommands


def inspect(cmdline: CommandLine) -> tuple[list[Option], list[str]]:
    """The options and the commands of the test that the command line names. What its script prints is lost.

    Raises UsageError if there is no such test, or if its general options are wrong."""
    with _silence():
        return _test_of(cmdline).describe()


def _test_of(cmdline: CommandLine) -> BuiltinCommands | ScriptCommands:
    from sysbench_py.builtin import BUILTIN_TESTS
    from sysbench_py.builtin_commands import BuiltinCommands
    from sysbench_py.interrupts import Interrupts
    from sysbench_py.old_tests import script_of
    from sysbench_py.script_commands import ScriptCommands
    from sysbench_py.validate import make_plan

    name = cmdline.testname or "-"
    plan = make_plan(cmdline.options, lambda _: None)
    if name in BUILTIN_TESTS:
        return BuiltinCommands(name, cmdline, plan, Interrupts())
    return ScriptCommands(script_of(cmdline, plan.luajit_cmd), cmdline, plan, Interrupts())


@contextlib.contextmanager
def _silence() -> Iterator[None]:
    """Nothing that is printed meanwhile, by C or Lua either, reaches standard output."""
    kept = os.dup(1)
    with Path(os.devnull).open("wb") as nowhere:
        os.dup2(nowhere.fileno(), 1)
    try:
        yield
    finally:
        os.dup2(kept, 1)
        os.close(kept)
