"""`sysbench tools complete`: what the scripts of `sysbench tools completion` ask when a user presses Tab."""

from __future__ import annotations

import re
import signal
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from sysbench_py.tool_names import TOOLS

if TYPE_CHECKING:
    from sysbench_py.command_line import CommandLine
    from sysbench_py.options import Option

# The body of a script is run to learn its options, but not for longer than this.
MOST_CPU_S = 2
MOST_S = 30
# Values that a help text lists, as in `operations mode {read, write, none}`.
_LISTED = re.compile(r"\{([\w-]+(?:, ?[\w-]+)+)\}")

Candidate = tuple[str, str]


def complete(words: list[str]) -> None:
    """Print how the last of the words can go on: a candidate, a tab and its description a line."""
    if not words:
        return
    signal.setitimer(signal.ITIMER_PROF, MOST_CPU_S)
    signal.setitimer(signal.ITIMER_REAL, MOST_S)
    for candidate, description in list(candidates(words[:-1], words[-1])):
        if candidate.startswith(words[-1]):
            print(f"{candidate}\t{description}")


def candidates(before: list[str], word: str) -> Iterator[Candidate]:
    """What may stand in place of `word` after the words `before`, with descriptions."""
    from sysbench_py.command_line import parse
    from sysbench_py.errors import UsageError

    if before[:1] == ["tools"]:
        yield from TOOLS.items()
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
    from sysbench_py.inspection import inspect

    general = [cmdline.options.row(name) for name in cmdline.options.names()]
    try:
        rows, commands = inspect(cmdline)
    except UsageError:
        return general, []
    return [*rows, *general], commands


def _as_typed(row: Option, word: str) -> str:
    """The option as it goes on from `word`: with dashes in its name, or with underscores if that has some."""
    from sysbench_py.options import Kind

    name = row.key if "_" in word else row.key.replace("_", "-")
    return f"--{name}" if row.kind is Kind.BOOL and not row.choices else f"--{name}="


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

    if row.kind is Kind.BOOL and not row.choices:
        return ("on", "off")
    if row.key == "db_driver":
        return [driver.name for driver in DRIVERS]
    if row.key == "rand_type":
        return DISTRIBUTIONS
    in_help = _LISTED.search(row.help)
    return row.choices or (in_help[1].replace(" ", "").split(",") if in_help else ())
