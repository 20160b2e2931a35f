"""The MySQL and MariaDB driver."""

from __future__ import annotations

from sysbench_py.options import Kind, Option

# What --mysql-ssl accepts, and the mode it means: an on/off option in sysbench 1.0, a mode in later ones.
SSL_MODES = {
    "on": "required",
    "true": "required",
    "1": "required",
    "off": "disabled",
    "false": "disabled",
    "0": "disabled",
    "disabled": "disabled",
    "preferred": "preferred",
    "required": "required",
    "verify_ca": "verify_ca",
    "verify_identity": "verify_identity",
}

OPTIONS = (
    Option("mysql-host", Kind.LIST, "localhost", "MySQL server host"),
    Option("mysql-port", Kind.LIST, "3306", "MySQL server port"),
    Option("mysql-socket", Kind.LIST, None, "MySQL socket"),
    Option("mysql-user", Kind.STRING, "sbtest", "MySQL user"),
    Option("mysql-password", Kind.STRING, "", "MySQL password"),
    Option("mysql-db", Kind.STRING, "sbtest", "MySQL database name"),
    Option(
        "mysql-ssl",
        Kind.STRING,
        "off",
        "use SSL connections, if available in the client library",
        choices=tuple(SSL_MODES),
        suffix="[=on|off]",
        bare="on",
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
