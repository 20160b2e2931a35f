"""The MySQL and MariaDB driver."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from threading import Lock
from typing import TYPE_CHECKING

from sysbench_py import core
from sysbench_py.drivers.ignored import ignored_errors
from sysbench_py.drivers.mysql_account import Account, Endpoint
from sysbench_py.errors import UsageError
from sysbench_py.log import NOTICE, WARNING, log
from sysbench_py.options import Kind, Option, OptionSet
from sysbench_py.passwords import password_file_option, typed_password

if TYPE_CHECKING:
    from sysbench_py.drivers.mysql_login import Session
    from sysbench_py.drivers.mysql_tls import Tls

# What --mysql-ssl accepts: a switch in sysbench 1.0, a mode in later ones.
SSL_SWITCH = ("on", "true", "1", "off", "false", "0")
SSL_MODES = ("disabled", "preferred", "required", "verify_ca", "verify_identity")

OPTIONS = (
    Option("mysql-host", Kind.LIST, "localhost", "MySQL server host"),
    Option("mysql-port", Kind.LIST, "3306", "MySQL server port"),
    Option("mysql-socket", Kind.LIST, None, "MySQL socket"),
    Option("mysql-user", Kind.STRING, "sbtest", "MySQL user"),
    Option("mysql-password", Kind.STRING, "", "MySQL password"),
    password_file_option("mysql", "MySQL"),
    Option("mysql-db", Kind.STRING, "sbtest", "MySQL database name"),
    Option(
        "mysql-ssl",
        Kind.BOOL,
        "off",
        "use SSL connections, if available in the client library",
        choices=SSL_SWITCH + SSL_MODES,
    ),
    Option("mysql-ssl-key", Kind.STRING, None, "path name of the client private key file"),
    Option("mysql-ssl-ca", Kind.STRING, None, "path name of the CA file"),
    Option("mysql-ssl-cert", Kind.STRING, None, "path name of the client public key certificate file"),
    Option("mysql-ssl-cipher", Kind.STRING, "", "use specific cipher for SSL connections"),
    Option("mysql-compression", Kind.BOOL, "off", "use compression, if available in the client library"),
    Option("mysql-compression-algorithms", Kind.STRING, "zlib", "compression algorithms to use"),
    Option("mysql-debug", Kind.BOOL, "off", "trace all client library calls"),
    Option("mysql-ignore-errors", Kind.LIST, "1213,1020,1205", 'list of errors to ignore, or "all"'),
    Option(
        "mysql-dry-run",
        Kind.BOOL,
        "off",
        "Dry run, pretend that all MySQL client API calls are successful without executing them",
    ),
)


def setup(options: OptionSet) -> None:
    """Hand the driver to the core. PyMySQL is imported at the first connection.

    Raises UsageError for a bad value of an option.
    """
    endpoints = _endpoints(options)
    password = typed_password(options, "mysql")
    if password is None:
        password = os.environ.get("MYSQL_PWD", "")
    account = Account(options.get("mysql-user", str), password, options.get("mysql-db", str))
    compress = _compress(options)
    tls = _tls(options, compress)
    loads = options.get("bulk", str) == "copy"
    announce = _announcer(options, tls, compress)

    def connect(slot: int) -> Session:
        from sysbench_py.drivers.mysql_login import log_in

        session = log_in(endpoints[slot % len(endpoints)], account, tls, compress, loads)
        announce(session)
        return session

    core.driver_setup(
        "mysql",
        connect=connect,
        emulate=options.get("db-ps-mode", str) == "disable",
        ignore=ignored_errors(
            options, "mysql-ignore-errors", "[0-9]{1,5}|[0-9A-Z]{5}", "use error numbers, SQLSTATEs, or all"
        ),
        dry_run=options.get("mysql-dry-run", bool),
        trace=options.get("mysql-debug", bool),
    )


def _endpoints(options: OptionSet) -> list[Endpoint]:
    """The servers in the order in which new connections go through them: ports vary fastest."""
    sockets = options.get("mysql-socket", tuple)
    if sockets:
        return [Endpoint("localhost", 0, path) for path in sockets]
    hosts = options.get("mysql-host", tuple)
    if not hosts:
        raise UsageError.fatal("No MySQL hosts specified, aborting")
    ports = [port.strip() for port in options.get("mysql-port", tuple)]
    if not ports:
        raise UsageError.fatal("No MySQL ports specified, aborting")
    for port in ports:
        if not re.fullmatch("[0-9]{1,5}", port) or not 0 < int(port) < 65536:
            raise UsageError.fatal(f"Invalid value for --mysql-port: '{port}' (use numbers from 1 to 65535)")
    return [Endpoint(host, int(port)) for host in hosts for port in ports]


def _tls(options: OptionSet, compress: bool) -> Tls | None:
    typed = options["mysql-ssl"]
    if typed in (False, "disabled"):
        return None
    from sysbench_py.drivers.mysql_tls import make_tls

    # The plain "on" of sysbench 1.0 also takes fixed files from the working directory.
    mode = "on" if typed is True else str(typed)
    files = {kind: options.get(f"mysql-ssl-{kind}", str) for kind in ("ca", "cert", "key")}
    return make_tls(mode, files, options.get("mysql-ssl-cipher", str), in_python=compress)


def _compress(options: OptionSet) -> bool:
    if not options.get("mysql-compression", bool):
        return False
    algorithms = options.get("mysql-compression-algorithms", str)
    for name in algorithms.split(","):
        if name in ("zlib", "uncompressed"):
            return name == "zlib"
    raise UsageError.fatal(
        f"Invalid value for --mysql-compression-algorithms: '{algorithms}' (use zlib or uncompressed)"
    )


def _announcer(options: OptionSet, tls: Tls | None, compress: bool) -> Callable[[Session], None]:
    """A function that tells, after the first connection, what the user should know about its transport."""
    lock = Lock()
    told = False

    def announce(session: Session) -> None:
        nonlocal told
        with lock:
            first, told = not told, True
        if not first:
            return
        used = session.in_python
        if used:
            what = " and ".join(used)
            why = f" ({tls.why_not})" if tls is not None and tls.why_not else ""
            log(NOTICE, f"mysql: {what} in Python, with the interpreter lock: expect a higher client cost{why}")
        if tls is not None and session.tls is None and "TLS" not in used:
            log(WARNING, "mysql: the server does not offer TLS: continuing without it")
        if compress and "compression" not in used:
            log(WARNING, "mysql: the server does not offer compression: continuing without it")
        if tls is None:
            for kind in ("ca", "cert", "key", "cipher"):
                if options.get(f"mysql-ssl-{kind}", str):
                    log(WARNING, f"--mysql-ssl-{kind} has no effect without --mysql-ssl")

    return announce


def installed() -> str:
    """The version of PyMySQL. Raises ImportError without it."""
    from sysbench_py.drivers.mysql_import import import_pymysql

    return f"PyMySQL {import_pymysql().VERSION_STRING}"
