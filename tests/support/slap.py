"""The slap test, mysqlslap-py and mariadb-slap: run, and made comparable."""

from __future__ import annotations

import re
import sys
from itertools import groupby

from tests.support.mariadb import MariaDB
from tests.support.proc import find_program
from tests.support.reference import Program

reference_slap = Program(lambda: [find_program("mariadb-slap", "mariadb-client"), "--no-defaults"])
our_slap = Program(lambda: [sys.executable, "-m", "sysbench_py.mysqlslap", "--no-defaults"])
# With option files.
our_slap_as_typed = Program(lambda: [sys.executable, "-m", "sysbench_py.mysqlslap"])

USER, PASSWORD = "slapper", "123"
SCHEMA = "mysqlslap"
DROP = f"DROP SCHEMA IF EXISTS `{SCHEMA}`;"
_STRING = re.compile(r"'[^']*'")
_NUMBER = re.compile(r"(?<=[(,])\d+(?=[,)])|(?<= = )\d+")
_SECONDS = re.compile(r"\d+\.\d{3}")


def add_user(server: MariaDB) -> None:
    """Makes the account that may make schemas, and takes away the schema that a test may have left."""
    server.sql(f"CREATE USER IF NOT EXISTS '{USER}'@'localhost' IDENTIFIED BY '{PASSWORD}'")
    server.sql(f"GRANT ALL ON *.* TO '{USER}'@'localhost'")
    server.sql(f"DROP SCHEMA IF EXISTS {SCHEMA}")


def login(server: MariaDB) -> list[str]:
    """Arguments of mysqlslap-py and mariadb-slap for that account."""
    return [f"-S{server.socket}", f"-u{USER}", f"-p{PASSWORD}"]


def driver(server: MariaDB) -> list[str]:
    """Options of the slap test for it."""
    return [f"--mysql-socket={server.socket}", f"--mysql-user={USER}", f"--mysql-password={PASSWORD}"]


def masked(output: str) -> list[str]:
    """The statements of --only-print without the values that are random ones."""
    return [_NUMBER.sub("N", _STRING.sub("'S'", line)) for line in output.splitlines()]


def without_first_drop(statements: list[str]) -> list[str]:
    """What mariadb-slap prints, without the DROP that comes, with each engine, before it has made anything."""
    return [
        statement
        for number, statement in enumerate(statements)
        if statement != DROP or not (number == 0 or statements[number - 1] == DROP)
    ]


def in_any_order(statements: list[str]) -> list[str]:
    """Without the order of what stands between statements about schemas and tables.

    The clients of mariadb-slap print at the same time: whose statement comes first is chance."""
    ordered = groupby(statements, lambda statement: statement.startswith(("CREATE ", "DROP ", "use ")))
    return [statement for of_schema, part in ordered for statement in (part if of_schema else sorted(part))]


def shape(report: str) -> str:
    """A report without its seconds."""
    return _SECONDS.sub("S", report)
