"""From mysqlslap's command line and option files to a command line of the slap test."""

from __future__ import annotations

import getpass
import re
from collections.abc import Iterator, Sequence

from sysbench_py.builtin.slap.schema import DEFAULT_NAME
from sysbench_py.errors import UsageError
from sysbench_py.mysqlslap.option_files import Line, files_of
from sysbench_py.mysqlslap.words import SLAP_WORDS, Given, help_text, named, read_arguments
from sysbench_py.version import __version__

# Verbosity of the log: warnings; then with each --verbose the details of the report, what is done, the statements.
QUIET, MOST = 2, 5
_FACTORS = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30}
_ON = ("1", "on", "true")


class Answer(Exception):
    """The command line asks for this text and nothing else."""


def translate(arguments: Sequence[str]) -> list[str]:
    """The arguments of `sysbench` that do the same. Asks for a password if there shall be one.

    Raises UsageError, and Answer for --help and its like."""
    files = files_of(arguments)
    lines = files.lines()
    if files.print_only:
        shown = " ".join(_as_argument(line) for line in lines)
        raise Answer(f"mysqlslap-py would have been started with the following arguments:\n{shown}\n")
    given = [*_from_files(lines), *read_arguments(files.rest)]
    names = {each.word.name for each in given}
    if "help" in names:
        raise Answer(help_text())
    if "version" in names:
        raise Answer(f"mysqlslap-py  Ver {__version__}\n")
    slap = dict(_slap_options(given))
    slap.setdefault("create-schema", DEFAULT_NAME)
    verbosity = min(QUIET + sum(each.word.name == "verbose" and _is_on(each) for each in given), MOST)
    options = {**slap, **_connection(given), "db-driver": "mysql", "verbosity": str(verbosity), "progress": "off"}
    return ["slap", *(f"--{name}={value}" for name, value in options.items()), "run"]


def _as_argument(line: Line) -> str:
    if line.value is None:
        return f"--{line.name}"
    return f"--{line.name}={'*****' if 'password' in line.name else line.value}"


def _from_files(lines: Sequence[Line]) -> Iterator[Given]:
    for line in lines:
        try:
            yield named(line.name, line.value, line.place)
        except UsageError:
            # Other programs know more options of groups that are theirs too.
            if not line.shared and not line.name.startswith("loose"):
                raise


def _is_on(given: Given) -> bool:
    return given.value is None or given.value.lower() in _ON


def _slap_options(given: Sequence[Given]) -> Iterator[tuple[str, str]]:
    for each in given:
        word = each.word
        if word not in SLAP_WORDS:
            continue
        if word.number:
            yield word.name, str(_number(each))
        elif each.value is None:
            yield word.name, "-" if word.name == "csv" else "on"
        else:
            yield word.name, each.value


def _number(given: Given) -> int:
    match = re.fullmatch(r"(\d+)([KMG]?)", (given.value or "").upper())
    if match is None:
        at = f"{given.place}: " if given.place else ""
        raise UsageError(f"{at}Invalid value for --{given.word.name}: '{given.value}'", advice="use a number")
    return int(match[1]) * _FACTORS[match[2]]


def _connection(given: Sequence[Given]) -> dict[str, str]:
    """The options of the mysql driver."""
    values = {each.word.name: each.value for each in given}
    options = {"mysql-user": values.get("user") or getpass.getuser()}
    host, socket = values.get("host") or "localhost", values.get("socket")
    protocol = (values.get("protocol") or "").lower()
    if protocol not in ("", "tcp", "socket"):
        raise UsageError(f"Invalid value for --protocol: '{protocol}'", advice="use tcp or socket")
    # The local socket stands for localhost only, even if an option file names one for all.
    if host == "localhost" and protocol == "tcp":
        host = "127.0.0.1"
    options["mysql-host"] = host
    if socket and host == "localhost":
        options["mysql-socket"] = socket
    if "port" in values:
        options["mysql-port"] = str(_number(next(each for each in reversed(given) if each.word.name == "port")))
    if "password" in values:
        password = values["password"]
        options["mysql-password"] = getpass.getpass("Enter password: ") if password is None else password
    if any(each.word.name == "compress" and _is_on(each) for each in given):
        options["mysql-compression"] = "on"
    return options | _tls(given, values)


def _tls(given: Sequence[Given], values: dict[str, str | None]) -> dict[str, str]:
    """TLS only where it is asked for: here it has a price."""
    files = {
        f"mysql-{name}": values[name] or ""
        for name in ("ssl-ca", "ssl-cert", "ssl-key", "ssl-cipher")
        if name in values
    }
    switches = {each.word.name: _is_on(each) for each in given}
    mode = (values.get("ssl-mode") or "").lower()
    if not mode and switches.get("ssl-verify-server-cert"):
        mode = "verify_identity"
    if not mode and (switches.get("ssl") or (files and switches.get("ssl", True))):
        mode = "required"
    return {**files, "mysql-ssl": mode} if mode else {}
