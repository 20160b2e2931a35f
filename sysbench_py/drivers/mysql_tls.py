"""TLS as --mysql-ssl and its companions ask for: who is trusted, and whose code does it.

The core speaks it by the functions of an OpenSSL that the process has anyway. What Python's own ssl module makes of
the options is the model for that, and takes its place where no such functions are found.
"""

from __future__ import annotations

import _ssl
import io
import os
import socket
import ssl
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple, TypeVar

from sysbench_py import core
from sysbench_py.errors import UsageError

T = TypeVar("T")

# Files that sysbench 1.0 looks for in its working directory.
FIXED_FILES = {"ca": "cacert.pem", "cert": "client-cert.pem", "key": "client-key.pem"}


class Tls(NamedTuple):
    """How to encrypt, and whether a server that cannot is refused.

    `context` is for Python's ssl module, `native` the same for the core; if that is None, `why_not` may say why.
    """

    context: ssl.SSLContext
    native: core.TlsContext | None
    why_not: str
    required: bool


def make_tls(mode: str, files: dict[str, str], cipher: str, *, in_python: bool) -> Tls:
    """`mode` is `on` (as in sysbench 1.0: required, with FIXED_FILES where they exist) or one of SSL_MODES.

    `files` are the paths of `ca`, `cert` and `key`, empty where none is named. `in_python` is for a transport that
    the core knows nothing of. Raises UsageError for a file that cannot be used and for an unknown cipher.
    """
    if mode == "on":
        files = {kind: path or _if_exists(FIXED_FILES[kind]) for kind, path in files.items()}
    ca, certificate, key = files["ca"], files["cert"] or files["key"], files["key"] or files["cert"]
    phrase = _Phrase()
    if ca:
        # Only this authority is trusted, not those of the system.
        context = _use("mysql-ssl-ca", ca, lambda: ssl.create_default_context(cafile=ca))
    elif mode.startswith("verify"):
        context = ssl.create_default_context()
    else:
        # Without the authorities of the system, which take long to read.
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    # The certificates that MySQL servers make for themselves lack what strict checks ask for.
    context.verify_flags &= ~getattr(ssl, "VERIFY_X509_STRICT", 0)
    context.check_hostname = mode == "verify_identity"
    # As MariaDB's own clients do: whoever names an authority wants it asked, whatever the mode.
    checked = bool(ca) or mode.startswith("verify")
    context.verify_mode = ssl.CERT_REQUIRED if checked else ssl.CERT_NONE
    if certificate:
        _use_certificate(context, certificate, key, files, phrase)
    if cipher:
        # The ciphers of TLS 1.3 cannot be chosen, so that version would not keep to the list.
        context.maximum_version = ssl.TLSVersion.TLSv1_2
        try:
            context.set_ciphers(cipher)
        except ssl.SSLError:
            raise UsageError.fatal(
                f"Invalid value for --mysql-ssl-cipher: '{cipher}' (use names of ciphers of TLS 1.2)"
            ) from None
    native, why_not = None, ""
    if not in_python:
        ca_folder = ""
        if mode.startswith("verify") and not ca:
            # OpenSSL's own idea of where they are may be that of the machine where it was built.
            of_system = ssl.get_default_verify_paths()
            ca, ca_folder = of_system.cafile or "", of_system.capath or ""
        native, why_not = _native(context, ca, ca_folder, certificate, key, phrase.told)
    return Tls(context, native, why_not, required=mode != "preferred")


def _if_exists(name: str) -> str:
    return name if Path(name).exists() else ""


def _use_certificate(
    context: ssl.SSLContext, certificate: str, key: str, files: Mapping[str, str], phrase: _Phrase
) -> None:
    """Either may be in the file of the other."""
    # What Python says of the two does not tell which is wrong.
    alone = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    _use(
        "mysql-ssl-cert" if files["cert"] else "mysql-ssl-key",
        certificate,
        lambda: alone.load_verify_locations(certificate),
    )
    _use(
        "mysql-ssl-key" if files["key"] else "mysql-ssl-cert",
        key,
        lambda: context.load_cert_chain(certificate, key, phrase.ask),
        "no private key that can be read",
    )


def _use(option: str, path: str, load: Callable[[], T], lacks: str = "not a PEM file of the expected kind") -> T:
    """Load a PEM file. Raises UsageError naming the option and the file."""
    try:
        return load()
    except ssl.SSLError as error:
        reason = error.reason or lacks
    except OSError as error:
        reason = error.strerror or str(error)
    raise UsageError.fatal(f"Invalid value for --{option}: cannot use '{path}' ({reason})")


class _Phrase:
    """The passphrase of the key, asked for once if it is needed."""

    told = ""

    def ask(self) -> str:
        """What OpenSSL itself would ask, but remembered; empty if nobody can be asked."""
        import getpass

        try:
            self.told = getpass.getpass("Enter PEM pass phrase:")
        except EOFError:
            self.told = ""
        return self.told


def _native(
    context: ssl.SSLContext, ca: str, ca_folder: str, certificate: str, key: str, phrase: str
) -> tuple[core.TlsContext | None, str]:
    """The context for the core, or None and why there is none."""
    reasons = []
    for module in openssl_modules():
        try:
            native = core.TlsContext(
                module,
                context,
                ca_file=os.fsencode(ca),
                ca_folder=os.fsencode(ca_folder),
                certificate=os.fsencode(certificate),
                key=os.fsencode(key),
                passphrase=phrase.encode(),
            )
        except LookupError as error:
            reasons.append(f"{module} {error}")
        except core.TlsError as error:
            reasons.append(f"that of {module} fails: {error}")
        else:
            return native, ""
    return None, f"no OpenSSL that the core could call: {', '.join(reasons)}"


def openssl_modules() -> Iterator[str]:
    """Extension modules that have an OpenSSL, by their paths, the best first.

    Python's own is loaded anyway, and follows the machine's policy (its openssl.cnf); but it may be built in, without
    functions that could be found. That of psycopg2 is always there, as a file of its wheel.
    """
    if hasattr(_ssl, "__file__"):
        yield _ssl.__file__
    try:
        import psycopg2
    except ImportError:
        return
    yield psycopg2._psycopg.__file__


class LoginContext:
    """What PyMySQL takes for a context of Python's ssl module."""

    def __init__(self, context: core.TlsContext) -> None:
        self._context = context

    def wrap_socket(self, stream: socket.socket, server_hostname: str) -> LoginSocket:
        """Raises OSError if the handshake fails."""
        return LoginSocket(stream, self._context, server_hostname)


class LoginSocket:
    """What PyMySQL takes for a socket of Python's ssl module: its login reads and writes here.

    `stream` must have a timeout, which is kept as it is.
    """

    def __init__(self, stream: socket.socket, context: core.TlsContext, host: str) -> None:
        self._stream = stream
        self._tls = core.TlsStream(context, stream.fileno(), host, int((stream.gettimeout() or 0) * 1000))
        self.family = stream.family
        self.sendall = self._tls.send
        self.settimeout = stream.settimeout
        self.close = stream.close
        self._tls.handshake()

    def makefile(self, mode: str) -> io.BufferedReader:
        """For reading, which is what `mode` says."""
        assert mode == "rb"
        return io.BufferedReader(_Incoming(self._tls))

    def detach(self) -> tuple[int, core.TlsStream]:
        """The descriptor and what is said on it, which are both the caller's from now on."""
        return self._stream.detach(), self._tls


class _Incoming(io.RawIOBase):
    def __init__(self, tls: core.TlsStream) -> None:
        self._tls = tls

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        return self._tls.receive_into(buffer)
