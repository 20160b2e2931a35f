"""Finding a DB-API 2.0 module, and what it must have (PEP 249, "Module Interface")."""

from __future__ import annotations

import contextlib
import importlib
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from sysbench_py.drivers.dbapi_dialects import DIALECTS
from sysbench_py.errors import UsageError

PARAMSTYLES = ("qmark", "numeric", "named", "format", "pyformat")
_NEEDED = ("apilevel", "threadsafety", "paramstyle", "connect", "Error")


@dataclass(frozen=True)
class Module:
    """A DB-API 2.0 module as the driver uses it."""

    name: str
    module: ModuleType

    @property
    def paramstyle(self) -> str:
        style: str = self.module.paramstyle
        return style

    @property
    def threadsafety(self) -> int:
        level: int = self.module.threadsafety
        return level

    @property
    def version(self) -> str:
        """Empty if it has none."""
        # That of PyMySQL has in __version__ the one of mysqlclient that it stands for.
        version = getattr(self.module, "VERSION_STRING", None) or getattr(self.module, "__version__", "")
        return str(version).partition(" ")[0]

    def connect(self, positional: tuple[Any, ...], named: dict[str, Any]) -> Any:
        """A connection. Raises what the module raises."""
        return self.module.connect(*positional, **named)


def load_module(name: str) -> Module:
    """The module called `name`, imported. Raises UsageError if it cannot be, or is no DB-API 2.0 module."""
    try:
        module = importlib.import_module(name)
    except ModuleNotFoundError as error:
        wanted = f"'{name}'" if error.name in (name, name.partition(".")[0]) else f"'{name}': it needs '{error.name}'"
        raise UsageError.fatal(
            f"--dbapi-module: cannot import {wanted} (install it, or name another DB-API 2.0 module)"
        ) from None
    except Exception as error:
        raise UsageError.fatal(f"--dbapi-module: cannot import '{name}': {type(error).__name__}: {error}") from None
    missing = [each for each in _NEEDED if not hasattr(module, each)]
    if missing:
        raise UsageError.fatal(f"--dbapi-module: '{name}' is not a DB-API 2.0 module: it has no {', '.join(missing)}")
    if module.paramstyle not in PARAMSTYLES:
        raise UsageError.fatal(
            f"--dbapi-module: '{name}' has the paramstyle '{module.paramstyle}' (known are {', '.join(PARAMSTYLES)})"
        )
    return Module(name, module)


def installed_modules() -> list[str]:
    """The modules of known dialects that can be imported here, each with its version and paramstyle."""
    found = []
    for dialect in DIALECTS.values():
        for name in dialect.modules:
            with contextlib.suppress(UsageError):  # not installed, or not as a DB-API module
                module = load_module(name)
                found.append(f"{name} {module.version}".strip() + f" ({module.paramstyle})")
    return found
