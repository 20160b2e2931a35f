"""The registry of database drivers: one row and one module each.

A driver's module has `OPTIONS`, and imports its client library only when it connects.
"""

from __future__ import annotations

import importlib
from types import ModuleType
from typing import NamedTuple

from sysbench_py.errors import UsageError
from sysbench_py.options import Option, OptionSet
from sysbench_py.suggest import one_of


class Driver(NamedTuple):
    """A database driver; `module` is the name of its module in this package, `needs` what it cannot do without.

    The module has `OPTIONS`, `setup(options)`, and `installed()`, which tells what the driver would use here, with
    versions, and raises what keeps it from being usable.
    """

    name: str
    description: str
    module: str
    needs: str

    def load(self) -> ModuleType:
        """The driver's module, imported at the first call."""
        return importlib.import_module(f"{__name__}.{self.module}")

    @property
    def options(self) -> tuple[Option, ...]:
        """The rows of the driver's options, in the order of the help."""
        rows: tuple[Option, ...] = self.load().OPTIONS
        return rows


DRIVERS = (
    Driver("mysql", "MySQL driver", "mysql", "PyMySQL, which logs in"),
    Driver("pgsql", "PostgreSQL driver", "pgsql", "psycopg2 and the libpq that it uses"),
    Driver("sqlite", "SQLite driver", "sqlite", "the SQLite library of Python or of the system"),
    Driver(
        "dbapi",
        "Driver for any database with a Python DB-API 2.0 module",
        "dbapi",
        "the database's own module, named by --dbapi-module",
    ),
    Driver("null", "Null driver: sends nothing", "null", "nothing"),
)


# What people call them besides.
ALSO_CALLED = {"mariadb": "mysql", "postgres": "pgsql", "postgresql": "pgsql", "sqlite3": "sqlite"}


def find_driver(name: str) -> Driver:
    """The driver called `name`. Raises UsageError if there is none, or if `name` is empty."""
    if not name:
        raise UsageError.fatal("Multiple DB drivers are available. Use --db-driver=name to specify which one to use")
    for driver in DRIVERS:
        if driver.name == name:
            return driver
    meant = ALSO_CALLED.get(name.lower())
    advice = f"did you mean '{meant}'?" if meant else one_of(name, [driver.name for driver in DRIVERS])
    raise UsageError.fatal(f"invalid database driver name: '{name}'", about="db_driver", advice=advice)


def server_count(options: OptionSet, driver: str) -> int:
    """How many servers the connections of a driver go through in turn."""
    if driver != "mysql":
        return 1
    sockets, hosts, ports = (len(options.get(f"mysql-{name}", tuple)) for name in ("socket", "host", "port"))
    return max(sockets or hosts * ports, 1)
