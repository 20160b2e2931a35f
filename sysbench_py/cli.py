"""The `sysbench` command: from the command line to the exit status."""

from __future__ import annotations

import gc
import io
import os
import signal
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from sysbench_py.tool_names import COMMANDS_OF_THEIR_OWN, WORD
from sysbench_py.writing import OUTPUT_LOST, write_all

if TYPE_CHECKING:
    from sysbench_py.command_line import CommandLine
    from sysbench_py.errors import ExitStatus, UsageError
    from sysbench_py.interrupts import Interrupts
    from sysbench_py.plan import Plan
    from sysbench_py.recording import Recording
    from sysbench_py.sinks.outputs import Outputs

# What runs before a test needs neither LuaJIT nor the core nor the client libraries, so everything is
# imported where it is used: help, version and mistakes are answered at once.

STDIN, STDOUT, STDERR = range(3)
# So many more objects that can refer to others must be there before Python looks for garbage among the new ones.
GARBAGE_THRESHOLD = 100_000


def main() -> None:
    """Console script `sysbench`."""
    # Hardly anything that is made at the start is garbage. Looking for it, then and at the end, costs as much
    # as a fifth of the start; a long run still gets rid of what it leaves.
    gc.set_threshold(GARBAGE_THRESHOLD)
    status = run(sys.argv)
    gc.freeze()
    sys.exit(status)


def run(argv: Sequence[str]) -> int:
    """Do what the command line (program name first) asks for; returns the exit status."""
    end_as_others_do()
    from sysbench_py.passwords import hide_passwords

    hide_passwords(argv)
    word = argv[1] if len(argv) > 1 else ""
    # A script of that name is still run: as ./tools, or if it lies in the current directory.
    if word in (WORD, *COMMANDS_OF_THEIR_OWN) and not (Path(word).is_file() or Path(f"{word}.lua").is_file()):
        from sysbench_py.tools import run_tool

        return run_tool(argv[2:] if word == WORD else argv[1:])
    return _run_command_line(argv)


def end_as_others_do() -> None:
    """No tracebacks at Ctrl-C, a closed pipe or closed standard streams; until there is something to report."""
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    _hold_standard_descriptors()


def _hold_standard_descriptors() -> None:
    """Fill those that are closed: a database or a result that is opened later must not become one of them.

    Standard error may be closed on purpose; what is written to a closed standard output still fails.
    """
    for descriptor in (STDIN, STDOUT, STDERR):
        try:
            os.fstat(descriptor)
        except OSError:
            # The lowest free one is this one.
            os.open(os.devnull, os.O_WRONLY if descriptor == STDERR else os.O_RDONLY)
    # Python has none for one that was closed.
    sys.stderr = sys.stderr or open(STDERR, "w", closefd=False)  # noqa: SIM115 -- for as long as the process lives
    if isinstance(sys.stderr, io.TextIOWrapper):
        # Names of files are shown as they are.
        sys.stderr.reconfigure(errors="surrogateescape")


def _run_command_line(argv: Sequence[str]) -> ExitStatus:
    from sysbench_py.command_line import parse
    from sysbench_py.errors import ExitStatus, UsageError

    cmdline: CommandLine | None = None
    try:
        cmdline = parse(argv)
        for warning in cmdline.warnings:
            _print(f"{warning}\n", STDERR)
        answer = _early_answer(cmdline)
        if answer is None:
            return _run_test(cmdline)
    except UsageError as error:
        _explain(error, cmdline)
        return ExitStatus.ERROR
    except MemoryError as error:
        _print(f"FATAL: {str(error) or 'not enough memory'}: use fewer --threads\n", STDOUT)
        return ExitStatus.ERROR
    return ExitStatus.OK if all(_print(text, STDOUT) for text in answer) else ExitStatus.ERROR


def _early_answer(cmdline: CommandLine) -> Iterable[str] | None:
    """What --help, --version or --db-driver=help prints; None for a command line that asks for none of them."""
    if cmdline.options.get("help", bool):
        return _help(cmdline)
    if cmdline.options.get("version", bool):
        from sysbench_py.version import VERSION_STRING

        return (f"{VERSION_STRING}\n",)
    if cmdline.options.get("db-driver", str) == "help":
        from sysbench_py.help import driver_list

        return (driver_list(),)
    return None


def _help(cmdline: CommandLine) -> Iterator[str]:
    """The help, then the options of the test, if one is named that has some. A script may end the process."""
    from sysbench_py.errors import UsageError
    from sysbench_py.help import help_text, options_text
    from sysbench_py.inspection import inspect

    yield help_text()
    if cmdline.testname in (None, "-"):
        return
    try:
        rows, _ = inspect(cmdline)
    except UsageError:
        return
    if rows:
        yield options_text(Path(cmdline.testname).name, rows)


def _print(text: str, descriptor: int) -> bool:
    """Write without a buffer; False, after a message, if the text cannot be written."""
    try:
        write_all(descriptor, text.encode(errors="surrogateescape"))
    except BrokenPipeError:
        # Whoever read it has gone while SIGPIPE was ignored, as in a run: end as other programs do.
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
        signal.raise_signal(signal.SIGPIPE)
        return False
    except OSError as error:
        if descriptor != STDERR:
            _print(f"{OUTPUT_LOST}: {error.strerror}\n", STDERR)
        return False
    return True


def _read_all(descriptor: int) -> bytes:
    with open(descriptor, "rb", closefd=False) as stream:
        return stream.read()


def _explain(error: UsageError, cmdline: CommandLine | None) -> None:
    # A blank instead of the `=` explains more than what the missing value should be.
    if cmdline is not None and error.about and (not error.advice or error.about in cmdline.options):
        error.advice = cmdline.advice(error.about) or error.advice
    _print(f"{error.line}\n", STDERR if error.stream == "stderr" else STDOUT)


def _run_test(cmdline: CommandLine) -> ExitStatus:
    # First of all, as an output may take standard output for itself.
    outputs = _open_outputs(cmdline)
    if outputs is None:
        return _run_plan(cmdline, None)
    try:
        return _run_plan(cmdline, outputs)
    finally:
        outputs.close()


def _open_outputs(cmdline: CommandLine) -> Outputs | None:
    """What --output asks for, if there will be results."""
    texts = cmdline.options.get("output", tuple)
    if not texts:
        return None
    from sysbench_py.errors import UsageError
    from sysbench_py.sinks.outputs import Outputs, requests, stem_for

    wanted = requests(texts, stem_for(cmdline.testname or ""))
    # Of a script on standard input only the body is executed.
    runs = 0 if cmdline.testname in (None, "-") else cmdline.commands.count("run")
    if runs > 1:
        raise UsageError.fatal(f"--output takes the results of one run, and the command line has {runs}")
    return Outputs(wanted) if runs else None


def _run_plan(cmdline: CommandLine, outputs: Outputs | None) -> ExitStatus:
    from sysbench_py.validate import make_plan

    def warn(line: str) -> None:
        _print(f"{line}\n", STDOUT)

    _heed_old_ways(cmdline, warn)
    plan = make_plan(cmdline.options, warn)

    from sysbench_py import core
    from sysbench_py.errors import ExitStatus
    from sysbench_py.interrupts import Interrupts
    from sysbench_py.log import NOTICE, log
    from sysbench_py.script import luajit_version
    from sysbench_py.system import raise_open_files_limit
    from sysbench_py.version import VERSION_STRING

    # A server that closes a connection must not end the process; the core's log sees a closed pipe itself.
    signal.signal(signal.SIGPIPE, signal.SIG_IGN)
    raise_open_files_limit()
    core.log_setup(plan.verbosity)
    log(NOTICE, f"{VERSION_STRING} (using bundled {luajit_version()})\n")
    recording = None
    if outputs is not None:
        from sysbench_py.describe import describe
        from sysbench_py.recording import Recording

        recording = Recording(outputs, lambda: describe(cmdline, plan))
    status = _execute(cmdline, plan, Interrupts(), recording)
    core.log_end()
    core.json_end()
    if status is ExitStatus.SIGPIPE:
        return status
    if core.output_failed():
        _print(f"{OUTPUT_LOST}\n", STDERR)
    elif recording is None or not recording.failed:
        return status
    return ExitStatus.ERROR if status is ExitStatus.OK else status


def _heed_old_ways(cmdline: CommandLine, warn: Callable[[str], None]) -> None:
    """Let the general options mean what they did in the generation of the test."""
    from sysbench_py.builtin import BUILTIN_TESTS
    from sysbench_py.command_line import know_more
    from sysbench_py.old_options import BATCH_OPTIONS, take_batch, take_old_defaults, take_old_options
    from sysbench_py.old_tests import find_stand_in

    take_old_options(cmdline.options, warn)
    stand_in = find_stand_in(cmdline)
    if cmdline.test_option and (stand_in is not None or cmdline.testname in BUILTIN_TESTS):
        know_more(cmdline, BATCH_OPTIONS)
        take_batch(cmdline.options)
    if stand_in is None:
        return
    if stand_in.notice:
        _print(f"{stand_in.notice}\n", STDERR)
    # A name without --test= is typed as for 1.0, which had these scripts too.
    if cmdline.test_option and stand_in.old:
        take_old_defaults(cmdline.options, stand_in.generation)


def _execute(cmdline: CommandLine, plan: Plan, interrupts: Interrupts, recording: Recording | None) -> ExitStatus:
    """Do the commands of the test."""
    from sysbench_py.builtin import BUILTIN_TESTS

    name = cmdline.testname
    if name in BUILTIN_TESTS:
        from sysbench_py.builtin_commands import BuiltinCommands

        return interrupts.watch(BuiltinCommands(name, cmdline, plan, interrupts, recording).execute)

    from sysbench_py.log import NOTICE, log
    from sysbench_py.old_tests import script_of
    from sysbench_py.script import Script
    from sysbench_py.script_commands import ScriptCommands

    if name not in (None, "-"):
        script = script_of(cmdline, plan.luajit_cmd)
        return interrupts.watch(ScriptCommands(script, cmdline, plan, interrupts, recording).execute)
    if os.isatty(STDIN):
        log(NOTICE, "Reading the script from the standard input:\n")
        _print("(type a Lua script and Ctrl-D, or see 'sysbench --help' for tests and options)\n", STDERR)
    script = Script(None, cmdline.argv, plan.luajit_cmd, text=_read_all(STDIN))
    return interrupts.watch(ScriptCommands(script, cmdline, plan, interrupts).load_only)
