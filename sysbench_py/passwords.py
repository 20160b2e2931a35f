"""Where a database driver takes its password from, and how it stays out of sight.

What is typed counts, be it an empty password: the option with the password, or the one with a file that
has it. Else what the database's own clients use: MYSQL_PWD; PGPASSWORD and the password file of libpq.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path

from sysbench_py.errors import UsageError
from sysbench_py.options import Kind, Option, OptionSet


def password_file_option(driver: str, server: str) -> Option:
    """The row of `--<driver>-password-file`; `server` is what the help calls the driver's servers."""
    return Option(f"{driver}-password-file", Kind.STRING, None, f"file with the {server} password in its first line")


def typed_password(options: OptionSet, driver: str) -> str | None:
    """The password that `--<driver>-password` or its file gives; None if neither was typed.

    Raises UsageError if both were, or if the file cannot be read.
    """
    name, file_name = f"{driver}-password", f"{driver}-password-file"
    path = options.get(file_name, str)
    if not path:
        return options.get(name, str) if options.typed(name) else None
    if options.typed(name):
        raise UsageError.fatal(f"--{name} and --{file_name} exclude each other", about=file_name)
    from sysbench_py.reading import read_text

    try:
        text = read_text(path)
    except OSError as error:
        raise UsageError.fatal(f"Cannot read --{file_name} '{path}': {error.strerror}") from None
    return text.partition("\n")[0].removesuffix("\r")


def libpq_password(options: OptionSet) -> dict[str, str]:
    """The connection parameters that make libpq use `typed_password`, or look for one if that is None."""
    password = typed_password(options, "pgsql")
    if password is None:
        return {}
    # An empty one would send libpq to the user's password file.
    return {"password": password} if password else {"password": "", "passfile": f"{os.devnull}/none"}


# --dbapi-connect may have a password among its arguments.
_SECRET = re.compile("password|passwd|secret|token|dbapi.connect", re.IGNORECASE)
# In a connection string: user:password@host, or password=...
_IN_TEXT = re.compile(r"(?<=:)[^:/@\s]+(?=@)|(?<=password=)('[^']*'|[^\s&;]+)", re.IGNORECASE)
# Three numbers before the @: steps of --rate.
_NO_SECRET = re.compile(r"(--rate=)?([0-9.]+:){2}[0-9.]+@[0-9.]+s?")
HIDDEN = "***"


def is_secret(name: str) -> bool:
    """Whether an option of that name holds something that is not to be shown. A file's name may be."""
    return bool(_SECRET.search(name)) and not name.endswith("file")


def without_passwords(text: str) -> str:
    """An argument of the command line, or the value of an option, that can be shown to others."""
    name, equals, _ = text.partition("=")
    if equals and name.startswith("--") and is_secret(name):
        return f"{name}={HIDDEN}"
    return text if _NO_SECRET.fullmatch(text) else _IN_TEXT.sub(HIDDEN, text)


def hide_passwords(argv: Sequence[str], short: str = "") -> None:
    """Overwrite what `--...password=` options and --dbapi-connect say in the memory that `ps` shows of this process.

    `short` is a short option, such as `-p`, with a password behind it.

    Python's own `argv` keeps them. Where there is no /proc nothing is done.
    """
    secrets = {}
    for argument in map(os.fsencode, argv[1:]):
        name, _, value = argument.partition(b"=")
        if value and name.startswith(b"--") and is_secret(name.decode("ascii", "replace")):
            secrets[argument] = len(name) + 1
        elif short and argument.startswith(short.encode()) and len(argument) > len(short):
            secrets[argument] = len(short)
    if not secrets:
        return
    try:
        stat = Path("/proc/self/stat").read_text(encoding="ascii", errors="replace")
        shown = Path("/proc/self/cmdline").read_bytes()
    except OSError:
        return
    # arg_start and arg_end, fields 48 and 49 of proc(5); the second field, in brackets, may have blanks.
    start, end = map(int, stat.rpartition(")")[2].split()[45:47])
    if end - start != len(shown):
        return
    import ctypes

    position = start
    for argument in shown.split(b"\0"):
        if argument in secrets:
            at = secrets[argument]
            ctypes.memset(position + at, ord("x"), len(argument) - at)
        position += len(argument) + 1
