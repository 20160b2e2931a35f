"""The registry of database drivers: one row and one module each.

A driver's module has `OPTIONS`, and imports its client library only when it connects.
"""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from types import ModuleType

from sysbench_py.errors import UsageError
from sysbench_py.options import Option
from sysbench_py.suggest import one_of


@dataclass(frozen=True)
class Driver:
    """A database driver; `module` is the name of its module in this package."""

    name: str
    description: str
    module: str

    def load(self) -> ModuleType:
        """The driver's module, imported at the first call."""
        return importlib.import_module(f"{__name__}.{self.module}")

    @property
    def options(self) -> tuple[Option, ...]:
        """The rows of the driver's options, in the order of the help."""
        rows: tuple[Option, ...] = self.load().OPTIONS
        return rows


DRIVERS = (
    Driver("mysql", "MySQL driver", "mysql"),
    Driver("pgsql", "PostgreSQL driver", "pgsql"),
    Driver("sqlite", "SQLite driver", "sqlite"),
    Driver("dbapi", "Driver for any database with a Python DB-API 2.0 module", "dbapi"),
    Driver("null", "Null driver: sends nothing", "null"),
)


def find_driver(name: str) -> Driver:
    """The driver called `name`. Raises UsageError if there is none, or if `name` is empty."""
    if not name:
        raise UsageError.fatal("Multiple DB drivers are available. Use --db-driver=name to specify which one to use")
    for driver in DRIVERS:
        if driver.name == name:
            return driver
    advice = one_of(name, [driver.name for driver in DRIVERS])
    raise UsageError.fatal(f"invalid database driver name: '{name}'", about="db_driver", advice=advice)
