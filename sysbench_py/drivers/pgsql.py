"""The PostgreSQL driver."""

from __future__ import annotations

from typing import Any

from sysbench_py import core
from sysbench_py.drivers.ignored import ignored_errors
from sysbench_py.drivers.seen import note, waiting_for
from sysbench_py.options import Kind, Option, OptionSet
from sysbench_py.passwords import libpq_password, password_file_option

OPTIONS = (
    Option("pgsql-host", Kind.STRING, "localhost", "PostgreSQL server host"),
    Option("pgsql-port", Kind.INT, "5432", "PostgreSQL server port"),
    Option("pgsql-user", Kind.STRING, "sbtest", "PostgreSQL user"),
    Option("pgsql-password", Kind.STRING, "", "PostgreSQL password"),
    password_file_option("pgsql", "PostgreSQL"),
    Option("pgsql-db", Kind.STRING, "sbtest", "PostgreSQL database name"),
    Option(
        "pgsql-sslmode",
        Kind.STRING,
        "prefer",
        "PostgreSQL SSL mode (disable, allow, prefer, require, verify-ca, verify-full)",
        choices=("disable", "allow", "prefer", "require", "verify-ca", "verify-full"),
    ),
    Option("pgsql-ignore-errors", Kind.LIST, "40P01,23505,40001", 'list of SQLSTATEs to ignore, or "all"'),
)

# What libpq says of a first answer that is none of the protocol.
OTHER_SERVER = ("received invalid response to SSL negotiation", "expected authentication request from server")


def setup(options: OptionSet) -> None:
    """Hand the driver to the core. psycopg2 is imported, and its libpq looked up, at the first connection.

    Raises UsageError for a bad value of an option.
    """
    parameters = _parameters(options)
    address = f"host '{parameters.get('host', '')}', port {parameters['port']}"

    def connect(slot: int) -> Any:
        import psycopg2

        core.pgsql_load(psycopg2._psycopg.__file__)
        try:
            with waiting_for(address):
                connection = psycopg2.connect(**parameters)
        except psycopg2.Error as error:
            # 08001: the client was unable to establish the connection.
            message = "; ".join(line.strip() for line in str(error).strip().splitlines())
            if any(text in message for text in OTHER_SERVER):
                message += " (is that a PostgreSQL server? For MySQL and MariaDB use --db-driver=mysql)"
            lines = (f"Connection to database failed: {message}",)
            raise core.ConnectError(0, "08001", message, lines) from None
        # The version is what the server told at the login: nothing is sent for it.
        libpq = psycopg2.extensions.libpq_version()
        library = f"psycopg2 {psycopg2.__version__.split()[0]}, libpq {libpq // 10_000}.{libpq % 10_000}"
        note("pgsql", library, connection.get_parameter_status("server_version") or "")
        return connection

    core.driver_setup(
        "pgsql",
        connect=connect,
        emulate=options.get("db-ps-mode", str) == "disable",
        # SQLSTATEs have five digits or capital letters (PostgreSQL manual, appendix A).
        ignore=ignored_errors(options, "pgsql-ignore-errors", "[0-9A-Z]{5}", "use SQLSTATEs such as 40001, or all"),
    )


def _parameters(options: OptionSet) -> dict[str, str | int]:
    """Arguments of psycopg2.connect; what is left out, libpq takes from its PG* variables and files.

    A database name that is a connection string is expanded, but the other options go before it.
    """
    database = options.get("pgsql-db", str)
    expanded = "=" in database or database.startswith(("postgresql://", "postgres://"))
    parameters: dict[str, str | int] = {
        "dsn" if expanded else "dbname": database,
        "host": options.get("pgsql-host", str),
        "port": options.get("pgsql-port", int),
        "user": options.get("pgsql-user", str),
    }
    sslmode = options.get("pgsql-sslmode", str)
    if options.typed("pgsql-sslmode"):  # else libpq's default, which PGSSLMODE or the string may change
        parameters["sslmode"] = sslmode
    return {name: value for name, value in parameters.items() if value != ""} | libpq_password(options)


def installed() -> str:
    """The versions of psycopg2 and libpq. Raises ImportError, or ConnectError if libpq's functions are not found."""
    import psycopg2
    import psycopg2.extensions

    core.pgsql_load(psycopg2._psycopg.__file__)
    libpq = psycopg2.extensions.libpq_version()
    return f"psycopg2 {psycopg2.__version__.split()[0]}, libpq {libpq // 10000}.{libpq % 10000}"
