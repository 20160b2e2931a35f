"""The command line of a test inside that of a tool: taken apart and checked before anything is run."""

from __future__ import annotations

import re
from collections.abc import Container, Sequence
from dataclasses import dataclass
from pathlib import Path

from sysbench_py.errors import UsageError
from sysbench_py.experiments.values import looks_swept, values_of
from sysbench_py.options import Kind, Option, OptionSet, option_key
from sysbench_py.passwords import without_passwords
from sysbench_py.suggest import option_meant

_NUMBERS = (Kind.INT, Kind.SIZE, Kind.DOUBLE)
_SEVERAL = re.compile(r",|\.\.")


@dataclass(frozen=True)
class Words:
    """A command line by kinds of words; commands come before `run` or after it."""

    test: str
    options: tuple[str, ...]
    before: tuple[str, ...]
    after: tuple[str, ...]


def split(tool: str, words: Sequence[str]) -> Words:
    """Raises UsageError for a line that lacks something or has what a tool must choose itself."""
    options = tuple(word for word in words if word.startswith("-"))
    names = [word for word in words if not word.startswith("-")]
    if not names:
        raise UsageError(f"{tool} needs a test: sysbench {tool} TEST --options... run")
    test, commands = names[0], names[1:]
    if commands.count("run") != 1:
        found = f"'{' '.join(commands)}'" if commands else "no command"
        raise UsageError(f"{tool} needs the command run, once, and has {found}: write for example prepare run cleanup")
    for option in options:
        if option_key(option.partition("=")[0]) == "__output":
            raise UsageError(f"{tool} keeps all results in a folder of its own: leave out {option}")
    place = commands.index("run")
    return Words(test, options, tuple(commands[:place]), tuple(commands[place + 1 :]))


def tests_of(test: str) -> tuple[str, ...]:
    """Several tests, separated by commas, unless that is the name of a script."""
    return (test,) if Path(test).is_file() else tuple(dict.fromkeys(filter(None, test.split(","))))


def name_of(option: str) -> str:
    """Of `--name=value`, as typed."""
    return option[2:].partition("=")[0]


def value_of(option: str) -> str:
    """Of `--name=value`; empty without one."""
    return option.partition("=")[2]


def may_be_swept(option: str) -> bool:
    """Whether its value may be meant as several, if the option is a text or a list."""
    return bool(_SEVERAL.search(value_of(option)))


def secrets_of(options: Sequence[str]) -> tuple[str, ...]:
    """Those that hold something that is not to be written to a file."""
    return tuple(option for option in options if without_passwords(option) != option)


class Checker:
    """Knows the options of a test, whose body has been run for that."""

    def __init__(
        self,
        test: str,
        options: Sequence[str],
        commands: Sequence[str],
        own: Sequence[str] = (),
        several: Container[str] = (),
    ) -> None:
        """`own` are the names of the tool's options, which may have been meant by unknown ones; `several` the keys of
        options that have several values for certain.

        Raises UsageError for a test that there is not, or that lacks one of the commands.
        """
        from sysbench_py.command_line import parse
        from sysbench_py.inspection import inspect

        self._test = test
        self._own = own
        cmdline = parse(["sysbench", test, *(first_value(option, several) for option in options), "run"])
        self._rows, known = inspect(cmdline)
        self._options = OptionSet([*(cmdline.options.row(name) for name in cmdline.options.names()), *self._rows])
        for command in commands:
            if command not in known:
                raise UsageError(f"'{test}' has no command '{command}' (it has {', '.join(known)})", about=command)

    def row(self, name: str) -> Option | None:
        """The option of that name; None if a script without declared options may know it."""
        return self._options.row(name) if name in self._options else None

    def check(self, options: Sequence[str]) -> None:
        """Raises UsageError for options that a run would not take."""
        from sysbench_py.command_line import apply_test_options, parse
        from sysbench_py.validate import make_plan

        cmdline = parse(["sysbench", self._test, *options])
        # A script without declared options takes any.
        try:
            apply_test_options(cmdline, self._rows, accept_unknown=not self._rows)
        except UsageError as error:
            error.advice = error.advice or option_meant(error.about, self._own)
            raise
        make_plan(cmdline.options, lambda _: None)
        cmdline.options.exported()

    def is_swept(self, option: str) -> bool:
        """Whether it has several values where one is meant; lists and texts may have commas of their own."""
        row, text = self.row(name_of(option)), value_of(option)
        if row is None:
            return looks_swept(text)
        # Some sizes are texts, to be shown as they were typed.
        number = row.kind in _NUMBERS or (row.kind is Kind.STRING and row.suffix == "=SIZE")
        return (number and bool(_SEVERAL.search(text))) or (row.kind is Kind.BOOL and "," in text)

    def values(self, option: str) -> tuple[str, ...]:
        """The values of a swept option. Raises UsageError."""
        return values_of(name_of(option), value_of(option))


def first_value(option: str, several: Container[str]) -> str:
    """The option with the first of its values, if it may have several: enough to load a script with."""
    from sysbench_py.command_line import parse

    name = name_of(option)
    if option_key(name) in several:
        return f"--{name}={values_of(name, value_of(option))[0]}"
    known = parse(["sysbench"]).options
    first = _SEVERAL.split(value_of(option))[0]
    kept = name in known and known.row(name).kind not in (*_NUMBERS, Kind.BOOL)
    return f"--{name}={first}" if first and not kept else option
