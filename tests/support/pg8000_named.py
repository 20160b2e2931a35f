"""pg8000 in the paramstyle named, which it has too."""

from pg8000 import dbapi
from pg8000.dbapi import Error, InterfaceError, OperationalError, apilevel, connect, threadsafety

__all__ = ["Error", "InterfaceError", "OperationalError", "apilevel", "connect", "paramstyle", "threadsafety"]

paramstyle = dbapi.paramstyle = "named"
