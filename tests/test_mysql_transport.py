"""MySQL over every transport: plain in all its forms, TLS, compression; and what connections leave behind."""

from __future__ import annotations

import getpass
import tempfile
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    PrivateFormat,
    load_pem_private_key,
)
from lupa import luajit21

from sysbench_py.drivers import mysql_login, mysql_tls
from sysbench_py.errors import UsageError
from tests.support.compat import compat
from tests.support.core_sql import Connection, Core
from tests.support.mariadb import MariaDB
from tests.support.reference import ours, reference
from tests.support.server import DATABASE
from tests.support.tls import make_certificates


@pytest.fixture
def authority(mariadb_tls: MariaDB) -> Path:
    assert mariadb_tls.certificates is not None
    return mariadb_tls.certificates / "cacert.pem"


def exercise(client: Connection) -> None:
    """Everything that goes over the wire in a way of its own."""
    client.query("CREATE OR REPLACE TABLE t (a INT, s LONGTEXT)")
    insert = client.prepare("INSERT INTO t VALUES (?, ?)")
    insert.bind(int, bytes, max_len=100_000)
    for i, text in enumerate((b"short", b"y" * 100_000, None)):
        assert insert.execute(i, text).failure == (0, 0, None, None)
    select = client.prepare("SELECT a, s FROM t ORDER BY a")
    rows = [(b"0", b"short"), (b"1", b"y" * 100_000), (b"2", None)]
    for _ in range(3):
        assert select.execute().rows == rows
        assert client.query("SELECT a, s FROM t ORDER BY a").rows == rows
    assert client.query("SELECT 1; SELECT 2").rows == [(b"1",)]
    assert client.next_result().rows == [(b"2",)]
    assert client.query("SELECT * FROM nowhere").errno == 1146
    assert client.query("SELECT '" + "x" * 100_000 + "'").value == b"x" * 100_000
    assert client.query("SELECT seq, repeat('z', 100) FROM seq_1_to_20000").nrows == 20000
    insert.release()
    select.release()
    assert client.reconnect()
    assert client.query("SELECT 1").value == b"1"


@pytest.mark.parametrize("eof", ["new", "old"])
@pytest.mark.parametrize("metadata", ["cached", "sent"])
def test_plain(mariadb: MariaDB, monkeypatch: pytest.MonkeyPatch, eof: str, metadata: str) -> None:
    if eof == "old":
        monkeypatch.setattr(mysql_login, "wanted", 0)
    if metadata == "sent":
        monkeypatch.setattr(mysql_login, "wanted_of_mariadb", 0)
    client = Core(*mariadb.args).connect()
    exercise(client)
    client.release()


@pytest.mark.parametrize("mode", ["on", "REQUIRED", "preferred", "verify_ca", "Verify_Identity"])
def test_tls(mariadb_tls: MariaDB, authority: Path, mode: str, capfd: pytest.CaptureFixture[str]) -> None:
    client = Core(*mariadb_tls.args, f"--mysql-ssl={mode}", f"--mysql-ssl-ca={authority}").connect()
    assert client.query("SHOW STATUS LIKE 'Ssl_cipher'").rows != [(b"Ssl_cipher", b"")]
    exercise(client)
    client.release()
    assert "mysql: " not in capfd.readouterr().out


def test_each_openssl_will_do(mariadb_tls: MariaDB, authority: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    modules = list(mysql_tls.openssl_modules())
    assert len(modules) == 2
    for module in modules:
        monkeypatch.setattr(mysql_tls, "openssl_modules", lambda module=module: iter([module]))
        client = Core(*mariadb_tls.args, "--mysql-ssl=verify_identity", f"--mysql-ssl-ca={authority}").connect()
        exercise(client)
        client.release()


def test_tls_without_openssl(
    mariadb_tls: MariaDB, authority: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    modules = ["/no/such/module", luajit21.__file__]
    monkeypatch.setattr(mysql_tls, "openssl_modules", lambda: iter(modules))
    core = Core(*mariadb_tls.args, "--mysql-ssl=verify_identity", f"--mysql-ssl-ca={authority}")
    first, second = core.connect(), core.connect()
    told = [line for line in capfd.readouterr().out.splitlines() if line.startswith("mysql: ")]
    assert told == [
        "mysql: TLS in Python, with the interpreter lock: expect a higher client cost"
        " (no OpenSSL that the core could call: /no/such/module is not loaded,"
        f" {luajit21.__file__} has no function ERR_clear_error)"
    ]
    exercise(first)
    exercise(second)
    first.release()
    second.release()


@pytest.mark.parametrize("native", [True, False])
def test_authorities_of_the_system(
    mariadb_tls: MariaDB, authority: Path, native: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where no authority is named, those that Python's ssl module knows are trusted."""
    if not native:
        monkeypatch.setattr(mysql_tls, "openssl_modules", lambda: iter([]))
    monkeypatch.setenv("SSL_CERT_FILE", str(authority))
    Core(*mariadb_tls.args, "--mysql-ssl=verify_identity").connect().release()
    monkeypatch.setenv("SSL_CERT_FILE", "/no/such")
    monkeypatch.setenv("SSL_CERT_DIR", "/no/such")
    with pytest.raises(ConnectionError):
        Core(*mariadb_tls.args, "--mysql-ssl=verify_identity").connect()


def test_tls_from_the_working_directory(mariadb_tls: MariaDB, authority: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mariadb_tls.sql("CREATE OR REPLACE USER certified@'%' REQUIRE X509")
    mariadb_tls.sql(f"GRANT ALL ON {DATABASE}.* TO certified@'%'")
    account = [*mariadb_tls.args, "--mysql-user=certified"]
    with pytest.raises(ConnectionError):
        Core(*account, "--mysql-ssl=on").connect()
    monkeypatch.chdir(authority.parent)
    Core(*account, "--mysql-ssl").connect().release()
    monkeypatch.undo()
    files = [f"--mysql-ssl-{kind}={authority.parent}/client-{kind}.pem" for kind in ("key", "cert")]
    Core(*account, "--mysql-ssl=required", *files).connect().release()
    mariadb_tls.sql("DROP USER certified@'%'")


@pytest.mark.parametrize("mode", ["on", "required", "preferred", "verify_ca"])
def test_an_authority_that_is_named_is_asked(
    mariadb_tls: MariaDB, tmp_path: Path, mode: str, capfd: pytest.CaptureFixture[str]
) -> None:
    make_certificates(tmp_path / "other")
    with pytest.raises(ConnectionError):
        Core(*mariadb_tls.args, f"--mysql-ssl={mode}", f"--mysql-ssl-ca={tmp_path}/other/cacert.pem").connect()
    assert "FATAL: error 2026: TLS/SSL error: self-signed certificate in certificate chain" in capfd.readouterr().out


def test_a_wrong_authority_is_refused_by_both(mariadb_tls: MariaDB, tmp_path: Path) -> None:
    make_certificates(tmp_path / "other")
    arguments = ("oltp_point_select", *mariadb_tls.args, "--mysql-ssl=on", "--time=1", "run")
    for run in (reference, ours):
        result = run(*arguments, cwd=tmp_path / "other")
        assert result.status == 1
        assert "error 2026: TLS/SSL error: self-signed certificate in certificate chain" in result.stdout


@compat("tls-files")
def test_tls_without_files(mariadb_tls: MariaDB, tmp_path: Path) -> None:
    arguments = ("oltp_point_select", *mariadb_tls.args, "--table-size=10", "cleanup")
    assert "TLS/SSL error: No such file or directory" in reference(*arguments, cwd=tmp_path).stdout
    assert ours(*arguments, cwd=tmp_path).status == 0


def test_tls_with_a_passphrase(
    mariadb_tls: MariaDB, authority: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """It is asked for once, whoever reads the key."""
    key = load_pem_private_key((authority.parent / "client-key.pem").read_bytes(), None)
    asked: list[str] = []

    def answer(prompt: str) -> str:
        asked.append(prompt)
        return "open sesame"

    monkeypatch.setattr(getpass, "getpass", answer)
    with tempfile.NamedTemporaryFile(suffix=".pem") as file:
        hidden = BestAvailableEncryption(b"open sesame")
        file.write(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, hidden))
        file.flush()
        files = [f"--mysql-ssl-cert={authority.parent}/client-cert.pem", f"--mysql-ssl-key={file.name}"]
        core = Core(*mariadb_tls.args, *files)
    core.connect().release()
    assert asked == ["Enter PEM pass phrase:"]
    assert "mysql: " not in capfd.readouterr().out


def test_tls_cipher(mariadb_tls: MariaDB) -> None:
    cipher = "ECDHE-ECDSA-AES128-GCM-SHA256"
    client = Core(*mariadb_tls.args, "--mysql-ssl=on", f"--mysql-ssl-cipher={cipher}").connect()
    assert client.query("SHOW STATUS LIKE 'Ssl_cipher'").rows == [(b"Ssl_cipher", cipher.encode())]
    client.release()


def test_tls_that_cannot_be(
    mariadb: MariaDB, mariadb_tls: MariaDB, authority: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(ConnectionError):
        Core(*mariadb.args, "--mysql-ssl=required").connect()
    assert capfd.readouterr().out.endswith("FATAL: error 2026: TLS/SSL error: the server does not offer TLS\n")
    client = Core(*mariadb.args, "--mysql-ssl=preferred").connect()
    exercise(client)
    client.release()
    assert "WARNING: mysql: the server does not offer TLS: continuing without it" in capfd.readouterr().out
    with pytest.raises(ConnectionError):
        Core(*mariadb_tls.args, "--mysql-ssl=verify_ca").connect()
    assert "FATAL: error 2026: TLS/SSL error: self-signed certificate in certificate chain" in capfd.readouterr().out
    # Another name of 127.0.0.1, which is no address by the rules of certificates.
    other_name = [*mariadb_tls.args, "--mysql-host=127.1", f"--mysql-ssl-ca={authority}"]
    with pytest.raises(ConnectionError):
        Core(*other_name, "--mysql-ssl=verify_identity").connect()
    assert capfd.readouterr().out.endswith(
        "error 2026: TLS/SSL error: Hostname mismatch, certificate is not valid for '127.1'.\n"
    )
    Core(*other_name, "--mysql-ssl=verify_ca").connect().release()
    with pytest.raises(ConnectionError):
        Core(*mariadb_tls.args, "--mysql-ssl=on", "--mysql-ssl-cipher=AES128-SHA").connect()
    assert "FATAL: error 2026: TLS/SSL error: SSL" in capfd.readouterr().out
    for files, message in (
        ("--mysql-ssl-ca=/no/such", "Invalid value for --mysql-ssl-ca: cannot use '/no/such' (No such file"),
        (f"--mysql-ssl-ca={__file__}", "Invalid value for --mysql-ssl-ca"),
        (f"--mysql-ssl-cert={__file__}", "Invalid value for --mysql-ssl-cert"),
        ("--mysql-ssl-cipher=nonsense", "Invalid value for --mysql-ssl-cipher: 'nonsense'"),
    ):
        with pytest.raises(UsageError) as caught:
            Core(*mariadb_tls.args, "--mysql-ssl=on", files)
        assert message in str(caught.value)


def test_certificate_and_key_that_cannot_be_used(mariadb_tls: MariaDB, authority: Path) -> None:
    """The option and the file are those that are wrong."""
    cert, key, other_key = (authority.parent / f"{name}.pem" for name in ("client-cert", "client-key", "server-key"))
    for options, wrong in (
        ((cert, "/no/such"), "key: cannot use '/no/such' (No such file"),
        ((cert, __file__), f"key: cannot use '{__file__}' (no private key"),
        ((cert, other_key), f"key: cannot use '{other_key}' (KEY_VALUES_MISMATCH)"),
        ((cert, ""), f"cert: cannot use '{cert}' (no private key"),
        (("/no/such", key), "cert: cannot use '/no/such' (No such file"),
        ((key, key), f"cert: cannot use '{key}' ("),
        (("", key), f"key: cannot use '{key}' ("),
    ):
        with pytest.raises(UsageError) as caught:
            Core(
                *mariadb_tls.args,
                "--mysql-ssl=required",
                f"--mysql-ssl-cert={options[0]}",
                f"--mysql-ssl-key={options[1]}",
            )
        assert f"Invalid value for --mysql-ssl-{wrong}" in str(caught.value)


@pytest.mark.parametrize("tls", [False, True])
def test_compression(mariadb_tls: MariaDB, tls: bool, capfd: pytest.CaptureFixture[str]) -> None:
    client = Core(*mariadb_tls.args, "--mysql-compression", f"--mysql-ssl={'on' if tls else 'off'}").connect()
    assert client.query("SHOW STATUS LIKE 'Compression'").rows == [(b"Compression", b"ON")]
    exercise(client)
    client.release()
    what = "TLS and compression" if tls else "compression"
    assert f"\nmysql: {what} in Python" in "\n" + capfd.readouterr().out


def test_compression_algorithms(mariadb: MariaDB) -> None:
    client = Core(*mariadb.args, "--mysql-compression", "--mysql-compression-algorithms=uncompressed").connect()
    assert client.query("SHOW STATUS LIKE 'Compression'").rows == [(b"Compression", b"OFF")]
    client.release()
    with pytest.raises(UsageError, match="Invalid value for --mysql-compression-algorithms: 'zstd'"):
        Core(*mariadb.args, "--mysql-compression", "--mysql-compression-algorithms=zstd")


@pytest.mark.parametrize("options", [["--mysql-ssl=on"], ["--mysql-compression"]])
def test_a_killed_connection_of_another_transport(mariadb_tls: MariaDB, options: list[str]) -> None:
    core = Core(*mariadb_tls.args, *options, "--mysql-ignore-errors=2006,2013")
    client = core.connect()
    for _ in range(3):
        client.end_by(mariadb_tls)
        assert client.query("SELECT 1").error == 1
        assert client.query("SELECT 1").value == b"1"
    assert core.counters["reconnects"] == 3
    client.release()


@pytest.mark.parametrize(
    ("options", "times"), [(["--mysql-ssl=off"], 1000), (["--mysql-ssl=on"], 1000), (["--mysql-compression"], 150)]
)
def test_a_thousand_connections_leave_nothing(mariadb_tls: MariaDB, options: list[str], times: int) -> None:
    core = Core(*mariadb_tls.args, *options)

    def once() -> None:
        client = core.connect()
        assert client.query("SELECT 1; SELECT repeat('x', 3000000)").rows == [(b"1",)]
        statement = client.prepare("SELECT ?, repeat('y', 100)")
        statement.bind(int)
        assert statement.execute(1).nfields == 2
        statement.close()
        statement.release()
        with pytest.raises(ConnectionError):
            client.prepare("SELEC")
        client.release()

    for _ in range(50):
        once()
    before = used()
    for _ in range(times):
        once()
    after = used()
    assert after[0] == before[0]
    assert after[1] - before[1] < 8192


def used() -> tuple[int, int]:
    """Open descriptors and resident KiB of this process."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return len(list(Path("/proc/self/fd").iterdir())), pages * 4
