"""Our options for the driver dbapi."""

import json
from pathlib import Path

from tests.support.server import DATABASE, USER, Server


def dbapi(server: Server, module: str) -> list[str]:
    """Those that reach a server through a module."""
    arguments = {"host": "127.0.0.1", "port": server.port, "user": USER, "database": DATABASE}
    return of_module(module, json.dumps(arguments))


def dbapi_file(module: str, directory: Path) -> list[str]:
    """Those for an embedded database in a new file."""
    return of_module(module, f"database={directory}/{module}.db")


def of_module(module: str, connect: str) -> list[str]:
    """Those for any module and the arguments of its connect()."""
    return ["--db-driver=dbapi", f"--dbapi-module={module}", f"--dbapi-connect={connect}"]
