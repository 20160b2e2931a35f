"""The `sysbench` command: from the command line to the exit status."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, TextIO

from sysbench_py.command_line import CommandLine, parse
from sysbench_py.errors import ExitStatus, UsageError
from sysbench_py.validate import make_plan
from sysbench_py.version import VERSION_STRING

if TYPE_CHECKING:
    from sysbench_py.interrupts import Interrupts
    from sysbench_py.plan import Plan


def _print(text: str, stream: TextIO) -> None:
    stream.buffer.write(text.encode(errors="surrogateescape"))
    stream.flush()


def run(argv: Sequence[str]) -> ExitStatus:
    """Do what the command line (program name first) asks for."""
    try:
        cmdline = parse(argv)
        for warning in cmdline.warnings:
            _print(f"{warning}\n", sys.stderr)
        if cmdline.options.get("help", bool):
            from sysbench_py.help import help_text

            _print(help_text(), sys.stdout)
            return ExitStatus.OK
        if cmdline.options.get("version", bool):
            _print(f"{VERSION_STRING}\n", sys.stdout)
            return ExitStatus.OK
        return _run_test(cmdline)
    except UsageError as error:
        _print(f"{error.line}\n", sys.stderr if error.stream == "stderr" else sys.stdout)
        return ExitStatus.ERROR


def _run_test(cmdline: CommandLine) -> ExitStatus:
    plan = make_plan(cmdline.options, lambda line: _print(f"{line}\n", sys.stdout))
    # Only now: help, version and mistakes in general options need neither LuaJIT nor the core.
    from sysbench_py import core
    from sysbench_py.builtin import BUILTIN_TESTS
    from sysbench_py.interrupts import Interrupts
    from sysbench_py.log import NOTICE, log
    from sysbench_py.script import luajit_version
    from sysbench_py.system import raise_open_files_limit

    raise_open_files_limit()
    core.log_setup(plan.verbosity)
    log(NOTICE, f"{VERSION_STRING} (using bundled {luajit_version()})\n")
    interrupts = Interrupts()
    if cmdline.testname in BUILTIN_TESTS:
        from sysbench_py.builtin_commands import BuiltinCommands

        test = BuiltinCommands(cmdline.testname, cmdline, plan, interrupts)
        status = interrupts.watch(lambda: test.execute(cmdline.commands))
    else:
        status = _run_script(cmdline, plan, interrupts)
    if core.output_failed() and status is ExitStatus.OK:
        _print("the results could not be written to standard output\n", sys.stderr)
        return ExitStatus.ERROR
    return status


def _run_script(cmdline: CommandLine, plan: Plan, interrupts: Interrupts) -> ExitStatus:
    from sysbench_py.script_commands import ScriptCommands
    from sysbench_py.log import NOTICE, log
    from sysbench_py.script import Script

    if cmdline.testname not in (None, "-"):
        commands = ScriptCommands(Script(cmdline.testname, cmdline.argv), cmdline, plan, interrupts)
        return interrupts.watch(lambda: commands.execute(cmdline.commands))
    if sys.stdin.isatty():
        log(NOTICE, "Reading the script from the standard input:\n")
    script = Script(None, cmdline.argv, text=sys.stdin.buffer.read())
    # A script that is piped in has no commands: any that is typed is ignored, as in the original.
    return interrupts.watch(lambda: ScriptCommands(script, cmdline, plan, interrupts).execute(()))


def main() -> None:
    """Console script `sysbench`."""
    sys.exit(run(sys.argv))
