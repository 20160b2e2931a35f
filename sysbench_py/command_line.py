"""The grammar of the command line: `sysbench [options]... [testname] [command]...`

Options are parsed in two passes: the general one knows what belongs to no test, and the pass of the test
knows the options of the test too, once they can be known.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from sysbench_py.config_file import Setting, read_config_file
from sysbench_py.drivers import DRIVERS
from sysbench_py.errors import UsageError
from sysbench_py.option_rows import DB_OPTIONS, GENERAL_OPTIONS, LATENCY_OPTIONS, LOG_OPTIONS, RAND_OPTIONS
from sysbench_py.options import Kind, Option, OptionSet

_TEST_DEPRECATED = (
    "WARNING: the --test option is deprecated. "
    "You can pass a script name or path on the command line without any options."
)


@dataclass(frozen=True)
class CommandLine:
    """A command line after the general pass.

    `argv` is everything as typed, the program first. `leftovers` are the settings that the general pass
    did not know or did not allow, in order. `warnings` are lines for stderr.
    """

    argv: tuple[str, ...]
    testname: str | None
    commands: tuple[str, ...]
    options: OptionSet
    leftovers: tuple[Setting, ...]
    warnings: tuple[str, ...]


def parse(argv: Sequence[str]) -> CommandLine:
    """Split the command line (program name first) and do the general pass.

    Raises UsageError for a config file that cannot be read.
    """
    testname: str | None = None
    commands: list[str] = []
    settings: list[Setting] = []
    warnings: list[str] = []
    for argument in argv[1:]:
        name, equals, text = argument[2:].partition("=")
        if not argument.startswith("--"):
            if testname is None:
                testname = argument
            else:
                commands.append(argument)
            continue
        if name == "test" and equals:
            warnings.append(_TEST_DEPRECATED)
            if text:
                testname = text
                continue
        settings.append(Setting(name, text if equals else None, argument))
    options = OptionSet(
        [
            *GENERAL_OPTIONS,
            *RAND_OPTIONS,
            *LOG_OPTIONS,
            *LATENCY_OPTIONS,
            *DB_OPTIONS,
            *(row for driver in DRIVERS for row in driver.options),
        ]
    )
    leftovers = tuple(_apply(options, settings))
    return CommandLine(tuple(argv), testname, tuple(commands), options, leftovers, tuple(warnings))


def apply_test_options(cmdline: CommandLine, rows: Iterable[Option], *, accept_unknown: bool) -> None:
    """The pass of the test: register its `rows` in `cmdline.options` and apply the leftover settings.

    With `accept_unknown`, a setting of an unknown option makes it a STRING option.
    Raises UsageError for a setting that is still not known or not allowed, and for a bad value.
    """
    options = cmdline.options
    options.register(rows)
    for setting in _apply(options, cmdline.leftovers):
        if not accept_unknown or not setting.name or setting.name in options:
            place = f"{setting.place}: " if setting.place else ""
            raise UsageError(f"{place}invalid option: {setting.typed}")
        options.register([Option(setting.name, Kind.STRING, None, "")])
        options.set(setting.name, setting.text)
    options.check()


def _apply(options: OptionSet, settings: Iterable[Setting]) -> Iterator[Setting]:
    """Set the options, those of config files included, and yield the settings that `options` rejects."""
    for setting in settings:
        if not options.set(setting.name, setting.text, setting.items, setting.place):
            yield setting
        elif setting.text and options.row(setting.name).kind is Kind.FILE:
            if setting.place:
                raise UsageError(f"{setting.place}: a config file cannot name another one")
            yield from _apply(options, read_config_file(setting.text))
