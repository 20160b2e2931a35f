"""Connecting and logging in with PyMySQL, which then hands its socket over.

PyMySQL knows the authentication plugins; everything after the login is the core's.
"""

from __future__ import annotations

import socket
import ssl
from typing import Any, NamedTuple

from sysbench_py import core
from sysbench_py.drivers.mysql_account import Account, Endpoint
from sysbench_py.drivers.mysql_greeting import OtherServerError, check_greeting
from sysbench_py.drivers.mysql_import import import_pymysql
from sysbench_py.drivers.mysql_tls import LoginContext, LoginSocket, Tls
from sysbench_py.drivers.mysql_transport import CompressedTransport, StreamTransport
from sysbench_py.drivers.seen import note, waiting_for

pymysql: Any = import_pymysql()
CLIENT, CR = pymysql.constants.CLIENT, pymysql.constants.CR
PlainConnection: Any = pymysql.connections.Connection

# Seconds for connecting, and for each word of the server during the login.
LOGIN_TIMEOUT_S = 60

DEPRECATE_EOF = 1 << 24
# Of MariaDB's extended capabilities: column definitions of a prepared statement are sent once.
# Source: "Connection" in the client/server protocol of the MariaDB knowledge base.
CACHE_METADATA = 1 << 4
HANDSHAKE_RESPONSE_SIZE = 32  # its fixed part; MariaDB's extended capabilities are the last 4 bytes

# Used where the server offers them.
wanted = DEPRECATE_EOF
wanted_of_mariadb = CACHE_METADATA

PACKAGES = {"cryptography": "PyMySQL[rsa]", "pynacl": "PyMySQL[ed25519]"}


class Session(NamedTuple):
    """What the core needs to go on. Without a transport it owns the descriptor `fd`, a blocking socket, and `tls`.

    `in_python` names what the transport does. `numbered` tells whether packets bear numbers that follow each
    other: those of a compressed reply do not. `polled` asks for poll before recv: Linux wakes a receiver that
    sleeps on a local socket also when the other side has read the request, which costs a switch for nothing.
    """

    fd: int
    tls: core.TlsStream | None
    transport: StreamTransport | None
    deprecate_eof: bool
    cache_metadata: bool
    numbered: bool
    polled: bool
    in_python: tuple[str, ...]


class Login(PlainConnection):  # type: ignore[misc]
    """A connection that sends nothing after its login, and asks for what the core can use."""

    def __init__(self, tls: Tls | None, compress: bool, loads: bool, **arguments: Any) -> None:
        self._tls = tls
        self._wanted = wanted | (CLIENT.COMPRESS if compress else 0) | (CLIENT.LOCAL_FILES if loads else 0)
        self._greeting = b""
        self._sock: Any = None
        self._rfile: Any = None
        self.extended = 0
        super().__init__(
            **arguments,
            ssl=None if tls is None else tls.context,
            ssl_disabled=tls is None,
            client_flag=CLIENT.MULTI_STATEMENTS | CLIENT.PS_MULTI_RESULTS,
            autocommit=None,
            read_timeout=LOGIN_TIMEOUT_S,
            write_timeout=LOGIN_TIMEOUT_S,
            defer_connect=True,
        )
        if tls is not None and tls.native is not None:
            self.ctx = LoginContext(tls.native)

    def set_character_set(self, charset: str, collation: str | None = None) -> None:
        """Nothing: the login has told it, and a server's log is to show only what the script sends."""

    def _read_packet(self, *arguments: Any) -> Any:
        packet = super()._read_packet(*arguments)
        if not self._greeting:
            self._greeting = packet.get_all_data()
        return packet

    def _get_server_information(self) -> None:
        super()._get_server_information()
        offered = self.server_capabilities
        if self._tls is not None and not offered & CLIENT.SSL:
            if self._tls.required:
                message = "TLS/SSL error: the server does not offer TLS"
                raise pymysql.OperationalError(CR.CR_SSL_CONNECTION_ERROR, message)
            self.ssl = False
            self.client_flag &= ~CLIENT.SSL
        self.client_flag |= self._wanted & offered
        if not offered & CLIENT.LONG_PASSWORD:
            # MariaDB says by a missing bit that it has more bits, and wants to hear the same.
            capabilities_end = self._greeting.index(0, 1) + 1 + 31
            extended = int.from_bytes(self._greeting[capabilities_end - 4 : capabilities_end], "little")
            self.extended = wanted_of_mariadb & extended
            if self.extended:
                self.client_flag &= ~CLIENT.LONG_PASSWORD

    def _request_authentication(self) -> None:
        # The response to the greeting, which a request for TLS precedes.
        self._responses = 2 if self.ssl else 1
        super()._request_authentication()

    def write_packet(self, payload: bytes) -> None:
        """Send a packet of the login, the extended capabilities put into those that have a place for them."""
        if self._responses > 0:
            self._responses -= 1
            payload = b"".join(
                (
                    payload[: HANDSHAKE_RESPONSE_SIZE - 4],
                    self.extended.to_bytes(4, "little"),
                    payload[HANDSHAKE_RESPONSE_SIZE:],
                )
            )
        super().write_packet(payload)

    def hand_over(self) -> Session:
        """Give the socket away. This object is of no use afterwards."""
        stream: socket.socket | LoginSocket = self._sock
        self._rfile.close()
        self._sock = self._rfile = None
        stream.settimeout(None)
        compressed = bool(self.client_flag & CLIENT.COMPRESS)
        eof, cache = bool(self.client_flag & DEPRECATE_EOF), bool(self.extended & CACHE_METADATA)
        local = stream.family == socket.AF_UNIX
        if isinstance(stream, LoginSocket):
            fd, tls = stream.detach()
            return Session(fd, tls, None, eof, cache, True, local, ())
        in_python = ("TLS",) * self.ssl + ("compression",) * compressed
        if not in_python:
            return Session(stream.detach(), None, None, eof, cache, True, local, ())
        transport = CompressedTransport(stream) if compressed else StreamTransport(stream)
        return Session(stream.fileno(), None, transport, eof, cache, not compressed, False, in_python)


def log_in(endpoint: Endpoint, account: Account, tls: Tls | None, compress: bool, loads: bool) -> Session:
    """Connect to `endpoint` and log in, with `loads` as one who may send LOAD DATA LOCAL. Raises core.ConnectError."""
    try:
        with waiting_for(str(endpoint)):
            return _log_in(endpoint, account, tls, compress, loads)
    except Exception as error:
        number, state, message = _describe(error, endpoint)
        lines = (
            f"unable to connect to MySQL server on {endpoint}, aborting...",
            f"error {number}: {message}",
        )
        raise core.ConnectError(number, state, message, lines) from None


def _log_in(endpoint: Endpoint, account: Account, tls: Tls | None, compress: bool, loads: bool) -> Session:
    stream = _connect(endpoint)
    try:
        check_greeting(stream, endpoint)
    except (OtherServerError, OSError):
        stream.close()
        raise
    login = Login(
        tls,
        compress,
        loads,
        host=endpoint.host,
        user=account.user.encode(errors="surrogateescape"),
        password=account.password.encode(errors="surrogateescape"),
        database=account.database.encode(errors="surrogateescape") or None,
    )
    # A local socket is as good as encrypted to plugins that would send a password as it is.
    login._secure = stream.family == socket.AF_UNIX
    login.connect(stream)
    # MariaDB puts 5.5.5- before its version, for old replicas that would not understand it.
    note("mysql", f"PyMySQL {pymysql.VERSION_STRING}", login.server_version.removeprefix("5.5.5-"))
    return login.hand_over()


def _connect(endpoint: Endpoint) -> socket.socket:
    """Raises OSError. Not left to PyMySQL, which forgets to close a local socket that nobody listens on."""
    if endpoint.unix_socket is None:
        stream = socket.create_connection((endpoint.host, endpoint.port), LOGIN_TIMEOUT_S)
        stream.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        stream.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        return stream
    stream = socket.socket(socket.AF_UNIX)
    try:
        stream.connect(endpoint.unix_socket)
    except OSError:
        stream.close()
        raise
    return stream


def _describe(error: Exception, endpoint: Endpoint) -> tuple[int, str, str]:
    """Error number, SQLSTATE and message of a failed login, as MySQL's own client would give them."""
    cause = getattr(error, "original_exception", error)
    if isinstance(cause, OtherServerError):
        return CR.CR_SERVER_HANDSHAKE_ERR, "HY000", str(cause)
    if isinstance(cause, core.TlsError):
        return CR.CR_SSL_CONNECTION_ERROR, "HY000", f"TLS/SSL error: {cause}"
    if isinstance(cause, ssl.SSLError):
        reason = getattr(cause, "verify_message", "") or cause.reason or str(cause)
        return CR.CR_SSL_CONNECTION_ERROR, "HY000", f"TLS/SSL error: {reason}"
    if isinstance(cause, socket.gaierror):
        message = f"Unknown server host '{endpoint.host}' ({cause.errno}): {cause.strerror}"
        return CR.CR_UNKNOWN_HOST, "HY000", message
    if isinstance(cause, OSError):
        why = "timed out" if isinstance(cause, TimeoutError) else f"({cause.errno}): {cause.strerror}"
        return CR.CR_CONNECTION_ERROR, "HY000", endpoint.failure(why)
    for package, extra in PACKAGES.items():
        if isinstance(cause, RuntimeError) and package in str(cause):
            message = f"this account's login needs the Python package {package}: pip install '{extra}'"
            return CR.CR_AUTH_PLUGIN_ERR, "HY000", message
    if isinstance(error, pymysql.MySQLError) and len(error.args) > 1 and isinstance(error.args[0], int):
        return error.args[0], getattr(error, "sqlstate", None) or "HY000", str(error.args[1])
    return CR.CR_SERVER_HANDSHAKE_ERR, "HY000", f"Error in server handshake: {error!r}"
