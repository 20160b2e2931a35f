"""`sysbench tools complete`: what the scripts of `sysbench tools completion` ask when a user presses Tab."""

from __future__ import annotations

import contextlib
import os
import re
import signal
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from sysbench_py.builtin_commands import BuiltinCommands
    from sysbench_py.command_line import CommandLine
    from sysbench_py.options import Option
    from sysbench_py.script_commands import ScriptCommands

# The body of a script is run to learn its options, but not for longer than this.
MOST_CPU_S = 2
MOST_S = 30
# Values that a help text lists, as in `operations mode {read, write, none}`.
_LISTED = re.compile(r"\{([\w-]+(?:, ?[\w-]+)+)\}")

Candidate = tuple[str, str]


def complete(words: Annotated[list[str], typer.Argument()]) -> None:
    """Print how the last of the words can go on: a candidate, a tab and its description a line."""
    signal.setitimer(signal.ITIMER_PROF, MOST_CPU_S)
    signal.setitimer(signal.ITIMER_REAL, MOST_S)
    with _silence():
        found = list(candidates(words[:-1], words[-1]))
    for candidate, description in found:
        if candidate.startswith(words[-1]):
            typer.echo(f"{candidate}\t{description}")


def candidates(before: list[str], word: str) -> Iterator[Candidate]:
    """What may stand in place of `word` after the words `before`, with descriptions."""
    from sysbench_py.command_line import parse
    from sysbench_py.errors import UsageError

    if before[:1] == ["tools"]:
        yield from _tools()
        return
    try:
        cmdline = parse(["sysbench", *before])
    except UsageError:
        cmdline = parse(["sysbench", *(each for each in before if not each.startswith("--config-file"))])
    if cmdline.testname is None and not word.startswith("-"):
        yield from _tests(before, word)
        return
    rows, commands = _describe(cmdline)
    if not word.startswith("-"):
        yield from ((name, "command") for name in commands)
    elif "=" in word:
        yield from _values(rows, word.partition("=")[0])
    else:
        yield from ((_as_typed(row, word), row.help) for row in rows)


def _tools() -> Iterator[Candidate]:
    from sysbench_py.tools.app import app

    for command in app.registered_commands:
        if command.callback is not None and not command.hidden:
            yield command.callback.__name__, (command.callback.__doc__ or "").partition("\n")[0]


def _tests(before: list[str], word: str) -> Iterator[Candidate]:
    from sysbench_py.builtin import BUILTIN_TESTS
    from sysbench_py.catalogue import known_tests, scripts_beside

    for name in known_tests():
        yield name, BUILTIN_TESTS[name].description if name in BUILTIN_TESTS else "script"
    for name in scripts_beside(word):
        yield name, "script"
    if not before:
        yield "tools", "completion and other tools"


def _describe(cmdline: CommandLine) -> tuple[list[Option], list[str]]:
    """The options and the commands of the test, and the general options."""
    from sysbench_py.errors import UsageError

    general = [cmdline.options.row(name) for name in cmdline.options.names()]
    try:
        rows, commands = _test_of(cmdline).describe()
    except UsageError:
        return general, []
    return [*rows, *general], commands


def _test_of(cmdline: CommandLine) -> BuiltinCommands | ScriptCommands:
    from sysbench_py.builtin import BUILTIN_TESTS
    from sysbench_py.builtin_commands import BuiltinCommands
    from sysbench_py.interrupts import Interrupts
    from sysbench_py.script import Script
    from sysbench_py.script_commands import ScriptCommands
    from sysbench_py.validate import make_plan

    name = cmdline.testname or "-"
    plan = make_plan(cmdline.options, lambda _: None)
    if name in BUILTIN_TESTS:
        return BuiltinCommands(name, cmdline, plan, Interrupts())
    return ScriptCommands(Script(name, cmdline.argv, plan.luajit_cmd), cmdline, plan, Interrupts())


def _as_typed(row: Option, word: str) -> str:
    """The option as it goes on from `word`: with dashes in its name, or with underscores if that has some."""
    from sysbench_py.options import Kind

    name = row.key if "_" in word else row.key.replace("_", "-")
    return f"--{name}" if row.kind is Kind.BOOL else f"--{name}="


def _values(rows: list[Option], typed: str) -> Iterator[Candidate]:
    """The values that can be known of the option that was typed as `--name`."""
    from sysbench_py.options import option_key

    for row in rows:
        if row.key == option_key(typed[2:]):
            yield from ((f"{typed}={value}", row.help) for value in _known_values(row))
            return


def _known_values(row: Option) -> Sequence[str]:
    from sysbench_py.drivers import DRIVERS
    from sysbench_py.options import Kind
    from sysbench_py.validate import DISTRIBUTIONS

    if row.kind is Kind.BOOL:
        return ("on", "off")
    if row.key == "db_driver":
        return [driver.name for driver in DRIVERS]
    if row.key == "rand_type":
        return DISTRIBUTIONS
    in_help = _LISTED.search(row.help)
    return row.choices or (in_help[1].replace(" ", "").split(",") if in_help else ())


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
