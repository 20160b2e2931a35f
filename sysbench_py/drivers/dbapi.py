"""Any database that has a Python module of the DB-API 2.0 (PEP 249)."""

from __future__ import annotations

import os
from collections.abc import Callable
from threading import Lock
from typing import TYPE_CHECKING

from sysbench_py import core
from sysbench_py.drivers.ignored import ignored_errors
from sysbench_py.drivers.seen import note
from sysbench_py.errors import UsageError
from sysbench_py.log import NOTICE, log
from sysbench_py.options import Kind, Option, OptionSet
from sysbench_py.passwords import password_file_option, typed_password

if TYPE_CHECKING:
    from sysbench_py.drivers.dbapi_connect import Arguments
    from sysbench_py.drivers.dbapi_dialects import Dialect
    from sysbench_py.drivers.dbapi_print import PrintSession
    from sysbench_py.drivers.dbapi_session import Session

PASSWORD_VARIABLE = "SYSBENCH_DBAPI_PASSWORD"

OPTIONS = (
    Option("dbapi-module", Kind.STRING, None, "Python module of the database, a DB-API 2.0 one: pymysql, duckdb ..."),
    Option(
        "dbapi-connect",
        Kind.STRING,
        None,
        "arguments of the module's connect(): JSON, or key=value,key=value, or @FILE with either",
    ),
    Option(
        "dbapi-password",
        Kind.STRING,
        "",
        f"argument 'password' of connect(), which the variable {PASSWORD_VARIABLE} may hold too",
    ),
    password_file_option("dbapi", "database"),
    Option(
        "dbapi-dialect",
        Kind.STRING,
        "auto",
        "SQL dialect that the script is to use, auto for that of the module "
        "{auto, mysql, pgsql, sqlite, oracle, mssql, duckdb}",
        choices=("auto", "mysql", "pgsql", "sqlite", "oracle", "mssql", "duckdb"),
    ),
    Option(
        "dbapi-ignore-errors",
        Kind.LIST,
        None,
        'list of errors to ignore: exception classes, numbers, SQLSTATEs, or "all"; '
        "by default deadlocks, serialization failures and what else the dialect's servers want tried again",
    ),
    Option("dbapi-only-print", Kind.BOOL, "off", "print every statement and send none; needs no server and no module"),
)


def setup(options: OptionSet) -> None:
    """Hand the driver to the core; the module is imported if there is one.

    Raises UsageError for a bad value of an option.
    """
    name = options.get("dbapi-module", str)
    only_print = options.get("dbapi-only-print", bool)
    dialect_name = options.get("dbapi-dialect", str)
    if not name and not only_print:
        raise UsageError.fatal("the driver dbapi needs --dbapi-module (a Python module such as pymysql or duckdb)")
    dialect = _dialect(dialect_name, name)
    connect = _printer(dialect) if only_print else _connector(options, name, dialect)
    core.driver_setup(
        "dbapi",
        connect=connect,
        dialect=dialect.name,
        emulate=only_print or options.get("db-ps-mode", str) == "disable",
    )
    bulk = dialect.bulk
    core.bulk_setup("dbapi", bulk.before.encode(), bulk.after.encode(), bulk.between.encode(), bulk.most_rows)


def _dialect(typed: str, module: str) -> Dialect:
    from sysbench_py.drivers.dbapi_dialects import DIALECTS, dialect_of
    from sysbench_py.drivers.dbapi_module import load_module

    if typed != "auto":
        return DIALECTS[typed]
    if not module:
        raise UsageError.fatal(f"--dbapi-only-print=on needs --dbapi-dialect ({', '.join(DIALECTS)})")
    dialect = dialect_of(module)
    if dialect is None:
        load_module(module)  # a name that is mistyped needs no dialect
        raise UsageError.fatal(
            f"nothing is known of the dialect of '{module}': say which with --dbapi-dialect ({', '.join(DIALECTS)})"
        )
    return dialect


def _printer(dialect: Dialect) -> Callable[[int], PrintSession]:
    from sysbench_py.drivers.dbapi_print import PrintSession

    return lambda _slot: PrintSession(dialect, core.log_raw)


def _connector(options: OptionSet, name: str, dialect: Dialect) -> Callable[[int], Session]:
    from sysbench_py.drivers.dbapi_module import load_module

    if options.get("multiplex", int):
        raise UsageError.fatal("--multiplex is for the drivers mysql and pgsql: dbapi waits inside of Python")
    arguments = _arguments(options)
    ignored = _ignored(options, dialect)
    module = load_module(name)
    threads = options.get("threads", int)
    alone = threads <= (max(options.get("processes", int), 1) if options.get("workers", str) == "process" else 1)
    if module.threadsafety < 1 and not alone:
        raise UsageError.fatal(
            f"--dbapi-module: '{name}' is not thread-safe (threadsafety {module.threadsafety}), and --threads={threads}"
            f" (use --threads=1, or --workers=process --processes={threads})"
        )
    announce = _announcer(dialect, shown=options.get("verbosity", int) >= NOTICE)
    lock = Lock()
    kept: list[object] = []

    def connect(slot: int) -> Session:
        from sysbench_py.drivers.dbapi_errors import facts
        from sysbench_py.drivers.dbapi_session import Session

        try:
            if dialect.in_process:
                # Else a thread that opens the database meets one that is closing it.
                with lock:
                    kept[:] = kept or [module.connect(*arguments)]
            session = Session(module, module.connect(*arguments), dialect, ignored)
        except Exception as error:
            about = facts(error)
            lines = (f"{name}: cannot connect: {about.message}",)
            # 08001: the client was unable to establish the connection.
            raise core.ConnectError(about.number, about.sqlstate or "08001", about.message, lines) from None
        note("dbapi", f"{name} {module.version}".strip(), "")
        if slot == 0:  # of all connections, of which a process that shares the work may have another one
            announce(session)
        return session

    return connect


def _arguments(options: OptionSet) -> Arguments:
    from sysbench_py.drivers.dbapi_connect import parse_connect

    arguments = parse_connect(options.get("dbapi-connect", str))
    password = typed_password(options, "dbapi")
    if password is None:
        password = os.environ.get(PASSWORD_VARIABLE)
    if password is not None:
        arguments.named["password"] = password
    return arguments


def _ignored(options: OptionSet, dialect: Dialect) -> frozenset[str]:
    from sysbench_py.drivers.dbapi_errors import ENTRY

    advice = "use exception classes, numbers, SQLSTATEs such as 40001, or all"
    entries = ignored_errors(options, "dbapi-ignore-errors", ENTRY, advice)
    return frozenset(entries if options.typed("dbapi-ignore-errors") else dialect.ignored)


def _announcer(dialect: Dialect, shown: bool) -> Callable[[Session], None]:
    """A function that tells, once, what a query costs here; nothing is measured if that is not `shown`."""
    told = not shown

    def announce(session: Session) -> None:
        nonlocal told
        if told:
            return
        told = True
        from sysbench_py.drivers.dbapi_cost import cost_per_query_us

        slower = f"dbapi: {session.name} in Python, with the interpreter lock: '{dialect.probe}'"
        try:
            cost_us = cost_per_query_us(lambda: session.execute(dialect.probe))
        except Exception as error:
            log(NOTICE, f"{slower} fails ({type(error).__name__}), so that its cost is unknown")
            return
        log(NOTICE, f"{slower} costs this client {cost_us:.3g} us of CPU time here and now")

    return announce


def installed() -> str:
    """The modules of known dialects that are here, with versions. Raises ImportError if there is none."""
    from sysbench_py.drivers.dbapi_module import installed_modules

    found = installed_modules()
    if not found:
        raise ImportError("no module of a known dialect is installed")
    return ", ".join(found)
