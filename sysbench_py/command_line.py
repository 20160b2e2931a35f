"""The grammar of the command line: `sysbench [options]... [testname] [command]...`

Options are parsed in two passes: the general one knows what belongs to no test, and the pass of the test
knows the options of the test too, once they can be known.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from sysbench_py.config_file import Setting, read_config_file
from sysbench_py.drivers import DRIVERS
from sysbench_py.errors import UsageError
from sysbench_py.old_options import OLD_OPTIONS, option_of_today
from sysbench_py.option_rows import DB_OPTIONS, GENERAL_OPTIONS, LATENCY_OPTIONS, LOG_OPTIONS, RAND_OPTIONS
from sysbench_py.options import Kind, Option, OptionSet, option_key
from sysbench_py.suggest import DASHES, did_you_mean, option_meant

# What a test can be asked for besides commands of its own.
COMMANDS = ("prepare", "run", "cleanup", "help")

_TEST_DEPRECATED = (
    "WARNING: the --test option is deprecated. "
    "You can pass a script name or path on the command line without any options."
)
_SINGLE_DASH = {"-h": "--help", "-v": "--version", "-V": "--version"}


class CommandLine(NamedTuple):
    """A command line after the general pass.

    `argv` is everything as typed, the program first. `leftovers` are the settings that the general pass
    did not know or did not allow, in order. `warnings` are lines for stderr. `spaced` has the options that
    were typed without a value, each with the word that follows it. `test_option` says that --test= gave the
    name of the test.
    """

    argv: tuple[str, ...]
    testname: str | None
    commands: tuple[str, ...]
    options: OptionSet
    leftovers: tuple[Setting, ...]
    warnings: tuple[str, ...]
    spaced: tuple[tuple[str, str], ...]
    test_option: bool

    def advice(self, about: str) -> str:
        """What would be right, if the wrong option or word `about` comes from a common slip; else empty."""
        for name, word in self.spaced:
            if about in (option_key(name), word) and self._takes(name, word):
                return f"write --{name}={word}"
        if about == self.testname and about in COMMANDS:
            return f"write 'sysbench {next(iter(self.commands), 'TESTNAME')} {about}'"
        words = (self.testname or "", *self.commands)
        if about and about[0] in DASHES and about in words:
            return f"write {_SINGLE_DASH.get(about) or self._with_two_dashes(words, about)}"
        return ""

    def _with_two_dashes(self, words: Sequence[str], typed: str) -> str:
        """An option that begins with one dash, or with one that an editor has put there; perhaps its value follows."""
        name, equals, value = typed.lstrip(DASHES).partition("=")
        if name not in self.options:
            return "options as --name or --name=value"
        follows = [word for word in words[words.index(typed) + 1 :][:1] if self._takes(name, word)]
        return f"--{name}={value}" if equals else f"--{'='.join((name, *follows))}"

    def _takes(self, name: str, word: str) -> bool:
        """Whether `word` may have been meant as the value of the option."""
        # What a script has accepted without declaring it has no help text.
        if name in self.options and self.options.row(name).help:
            kind = self.options.row(name).kind
            if kind not in (Kind.INT, Kind.SIZE, Kind.DOUBLE):
                return kind is not Kind.BOOL and word not in COMMANDS
        return word[:1].isdigit()


def parse(argv: Sequence[str]) -> CommandLine:
    """Split the command line (program name first) and do the general pass.

    Raises UsageError for a config file that cannot be read.
    """
    testname: str | None = None
    commands: list[str] = []
    settings: list[Setting] = []
    warnings: list[str] = []
    spaced: list[tuple[str, str]] = []
    test_option = False
    bare: str | None = None
    for argument in argv[1:]:
        if not argument.startswith("--"):
            if testname is None:
                testname = argument
            else:
                commands.append(argument)
            if bare:
                spaced.append((bare, argument))
            bare = None
            continue
        name, equals, text = argument[2:].partition("=")
        bare = None if equals else name
        if name == "test" and equals:
            warnings.append(_TEST_DEPRECATED)
            testname, test_option = text or testname, True
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
            *(OLD_OPTIONS if test_option else ()),
        ]
    )
    leftovers = tuple(_apply(options, settings))
    return CommandLine(
        tuple(argv), testname, tuple(commands), options, leftovers, tuple(warnings), tuple(spaced), test_option
    )


def know_more(cmdline: CommandLine, rows: Iterable[Option]) -> None:
    """Register `rows` and apply what the command line says of them; other leftover settings wait for the test's."""
    cmdline.options.register(rows)
    for setting in cmdline.leftovers:
        cmdline.options.set(setting.name, setting.text, setting.items, setting.place)


def apply_test_options(cmdline: CommandLine, rows: Iterable[Option], *, accept_unknown: bool) -> None:
    """The pass of the test: register its `rows` in `cmdline.options` and apply the leftover settings.

    With `accept_unknown`, a setting of an unknown option makes it a STRING option.
    Raises UsageError for a setting that is still not known or not allowed.
    """
    options = cmdline.options
    options.register(rows)
    for setting in _apply(options, cmdline.leftovers):
        if not accept_unknown or setting.name in options:
            raise _invalid(setting, cmdline)
        if setting.name:
            options.register([Option(setting.name, Kind.STRING, None, "")])
            options.set(setting.name, setting.text)


def check_switches(cmdline: CommandLine) -> None:
    """Where no pass of the test follows: raises UsageError for a value that a general option does not allow."""
    for setting in cmdline.leftovers:
        if setting.name in cmdline.options:
            raise _invalid(setting, cmdline)


def check_commands(cmdline: CommandLine, known: Sequence[str], implemented: Iterable[str], title: str) -> None:
    """See, before the first command begins, that the test has them all.

    `known` are the commands that the test may have, `implemented` those that it has. Raises UsageError.
    """
    for number, command in enumerate(cmdline.commands):
        if command not in known:
            trouble = "Unrecognized command line argument" if number else "Unknown command"
            raise UsageError(f"{trouble}: {command}", about=command, advice=did_you_mean(command, known))
        if command not in implemented:
            raise UsageError(f"'{title}' test does not implement the '{command}' command.", about=command)


def _invalid(setting: Setting, cmdline: CommandLine) -> UsageError:
    options = cmdline.options
    if setting.name not in options:
        advice = option_of_today(option_key(setting.name), cmdline.testname or "")
        advice = advice or option_meant(setting.name, options.names())
    else:
        advice = options.refusal(setting.name)
    place = f"{setting.place}: " if setting.place else ""
    return UsageError(f"{place}invalid option: {setting.typed}", about=option_key(setting.name), advice=advice)


def _apply(options: OptionSet, settings: Iterable[Setting]) -> Iterator[Setting]:
    """Set the options, those of config files included, and yield the settings that `options` rejects."""
    for setting in settings:
        if not options.set(setting.name, setting.text, setting.items, setting.place):
            yield setting
        elif setting.text and options.row(setting.name).kind is Kind.FILE:
            if setting.place:
                raise UsageError(f"{setting.place}: a config file cannot name another one")
            yield from _apply(options, read_config_file(setting.text))
