"""Throwaway certificates for servers and clients."""

import subprocess
from pathlib import Path

from tests.support.proc import find_program

CONFIG = """\
[req]
distinguished_name = name
[name]
[authority]
basicConstraints = critical, CA:TRUE
keyUsage = critical, keyCertSign, cRLSign
subjectKeyIdentifier = hash
[party]
basicConstraints = critical, CA:FALSE
keyUsage = critical, digitalSignature
subjectAltName = IP:127.0.0.1, DNS:localhost
subjectKeyIdentifier = hash
authorityKeyIdentifier = keyid
"""


def make_certificates(directory: Path) -> None:
    """Makes `directory` with an authority and what it signed for 127.0.0.1 and localhost, valid two days.

    Files: cacert.pem, server-cert.pem, server-key.pem, client-cert.pem, client-key.pem. The names of the
    authority's and the client's are those that sysbench 1.0.20 looks for in its working directory.
    """
    directory.mkdir()
    (directory / "config").write_text(CONFIG)
    _request(directory, "authority", "ca", "cacert.pem", "cakey.pem")
    for party in ("server", "client"):
        signer = ("-CA", "cacert.pem", "-CAkey", "cakey.pem")
        _request(directory, "party", party, f"{party}-cert.pem", f"{party}-key.pem", *signer)


def _request(directory: Path, kind: str, name: str, certificate: str, key: str, *signer: str) -> None:
    openssl = find_program("openssl", "openssl")
    command = f"req -config config -extensions {kind} -x509 -days 2"
    new_key = "-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes"
    files = ("-subj", f"/CN=sysbench test {name}", "-keyout", key, "-out", certificate)
    subprocess.run(
        [openssl, *command.split(), *new_key.split(), *files, *signer],
        cwd=directory,
        check=True,
        capture_output=True,
    )
    (directory / key).chmod(0o600)
