"""mysqlslap's options, and how its command line is read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum

from sysbench_py.builtin.slap.options import OPTIONS
from sysbench_py.errors import UsageError
from sysbench_py.options import Kind
from sysbench_py.suggest import option_meant


class Takes(Enum):
    """Whether an option has a value. One that may have none takes it only with `=`, or right behind a short name."""

    NOTHING = 0
    VALUE = 1
    MAYBE = 2


@dataclass(frozen=True)
class Word:
    """An option. `number` values may end with K, M or G."""

    name: str
    takes: Takes
    help: str
    short: str = ""
    number: bool = False


@dataclass(frozen=True)
class Given:
    """An option as it was given; `place` is the file and line, or empty. A switch that is off has the value `0`."""

    word: Word
    value: str | None
    place: str = ""


_SHORTS = {
    "auto-generate-sql": "a",
    "concurrency": "c",
    "delimiter": "F",
    "engine": "e",
    "iterations": "i",
    "number-char-cols": "x",
    "number-int-cols": "y",
    "query": "q",
    "silent": "s",
}
# Options of the slap test have the same names there.
SLAP_WORDS = tuple(
    Word(
        row.name,
        Takes.NOTHING if row.kind is Kind.BOOL else Takes.MAYBE if row.bare else Takes.VALUE,
        row.help,
        _SHORTS.get(row.name, ""),
        row.kind is Kind.INT,
    )
    for row in OPTIONS
)
_NO_EFFECT = "accepted, without effect here"
WORDS = (
    *SLAP_WORDS,
    Word("help", Takes.NOTHING, "print this help and exit", "?"),
    Word("version", Takes.NOTHING, "print the version and exit", "V"),
    Word("verbose", Takes.NOTHING, "say more: -v latencies and queries a second, -vv what is done, -vvv the SQL", "v"),
    Word("host", Takes.VALUE, "server to connect to; localhost is the local socket", "h"),
    Word("port", Takes.VALUE, "port of the server", "P", number=True),
    Word("socket", Takes.VALUE, "socket of the server", "S"),
    Word("protocol", Takes.VALUE, "how to connect: tcp or socket"),
    Word("user", Takes.VALUE, "user to log in as; the one of the system if none is given", "u"),
    Word("password", Takes.MAYBE, "the user's password; asked for if there is no value", "p"),
    Word("compress", Takes.NOTHING, "use compression", "C"),
    Word("ssl", Takes.NOTHING, "use TLS"),
    Word("ssl-mode", Takes.VALUE, "DISABLED, PREFERRED, REQUIRED, VERIFY_CA or VERIFY_IDENTITY"),
    Word("ssl-ca", Takes.VALUE, "file of the certificate authority"),
    Word("ssl-cert", Takes.VALUE, "file of the client's certificate"),
    Word("ssl-key", Takes.VALUE, "file of the client's key"),
    Word("ssl-cipher", Takes.VALUE, "ciphers to use"),
    Word("ssl-verify-server-cert", Takes.NOTHING, "check the server's certificate and its name"),
    Word("character-sets-dir", Takes.VALUE, _NO_EFFECT),
    Word("debug", Takes.MAYBE, _NO_EFFECT, "#"),
    Word("debug-check", Takes.NOTHING, _NO_EFFECT),
    Word("debug-info", Takes.NOTHING, _NO_EFFECT, "T"),
    Word("default-auth", Takes.VALUE, _NO_EFFECT),
    Word("plugin-dir", Takes.VALUE, _NO_EFFECT),
)
_FILE_WORDS = (
    Word("defaults-file", Takes.VALUE, "read this option file and no other (must be the first option)"),
    Word("defaults-extra-file", Takes.VALUE, "read this option file too (first option)"),
    Word("defaults-group-suffix", Takes.VALUE, "read groups with this ending too (first option)"),
    Word("no-defaults", Takes.NOTHING, "read no option files (first option)"),
    Word("print-defaults", Takes.NOTHING, "print what the option files say and exit (first option)"),
)


def read_arguments(arguments: Sequence[str]) -> Iterator[Given]:
    """The options of a command line. Raises UsageError for one that is unknown or has no value; words are ignored."""
    rest = list(arguments)
    while rest:
        argument = rest.pop(0)
        if argument == "--":
            return
        if argument.startswith("--"):
            name, equals, text = argument[2:].partition("=")
            given = named(name, text if equals else None)
            if given.word.takes is Takes.VALUE and given.value is None:
                given = Given(given.word, _next(argument, rest))
            yield given
        elif argument.startswith("-") and len(argument) > 1:
            yield from _short(argument, rest)


def _short(argument: str, rest: list[str]) -> Iterator[Given]:
    """Options of one letter; behind the first one with a value comes that."""
    for position, letter in enumerate(argument[1:], 2):
        word = next((word for word in WORDS if word.short == letter), None)
        if word is None:
            raise UsageError(f"unknown option '-{letter}'")
        text = argument[position:]
        if word.takes is Takes.NOTHING:
            yield Given(word, None)
            continue
        yield Given(word, text or (_next(f"-{letter}", rest) if word.takes is Takes.VALUE else None))
        return


def _next(typed: str, rest: list[str]) -> str:
    if not rest:
        raise UsageError(f"option '{typed}' requires an argument")
    return rest.pop(0)


def named(name: str, value: str | None, place: str = "") -> Given:
    """The option of that name, or the only one that begins so; `skip-NAME` and `disable-NAME` turn a switch off.

    Raises UsageError."""
    at = f"{place}: " if place else ""
    wanted = name.replace("_", "-").removeprefix("loose-").removeprefix("enable-")
    off = next((prefix for prefix in ("skip-", "disable-") if wanted.startswith(prefix)), "")
    word = _find(wanted.removeprefix(off))
    if word is None:
        advice = option_meant(wanted, [word.name for word in WORDS])
        if any(wanted == word.name for word in _FILE_WORDS):
            advice = "it must be the first option"
        raise UsageError(f"{at}unknown option '--{name}'", advice=advice)
    if word.takes is not Takes.NOTHING and (off or (value is not None and not value and word.number)):
        raise UsageError(f"{at}option '--{name}' cannot be used so")
    if off:
        return Given(word, "0", place)
    if (
        word.takes is Takes.NOTHING
        and value is not None
        and value.lower() not in ("0", "1", "on", "off", "true", "false")
    ):
        raise UsageError(f"{at}option '--{word.name}' takes no argument such as '{value}'", advice="use 0 or 1")
    return Given(word, value, place)


def _find(name: str) -> Word | None:
    exact = [word for word in WORDS if word.name == name]
    alike = exact or [word for word in WORDS if name and word.name.startswith(name)]
    return alike[0] if len(alike) == 1 else None


def help_text() -> str:
    """What --help prints."""
    lines = ["Usage: mysqlslap-py [OPTIONS]\n\nRun SQL from many clients and measure how long that takes.\n\n"]
    for word in (*WORDS, *_FILE_WORDS):
        value = {Takes.NOTHING: "", Takes.VALUE: f"={'N' if word.number else 'TEXT'}", Takes.MAYBE: "[=TEXT]"}[
            word.takes
        ]
        short = f"-{word.short}, " if word.short else "    "
        lines.append(f"  {short}--{word.name + value:<48} {word.help}\n")
    return "".join(lines)
