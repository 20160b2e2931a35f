"""Logins to MySQL and MariaDB: plugins, passwords, servers that take turns or cannot be reached."""

from __future__ import annotations

import socket
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import padding, rsa
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from sysbench_py.core import log_setup
from sysbench_py.drivers import mysql_login
from sysbench_py.errors import UsageError
from tests.support.core_sql import Connection, Core
from tests.support.fake_mysql import (
    SCRAMBLE,
    FakeMySQL,
    ok,
    packets,
    receive,
)
from tests.support.mariadb import MariaDB
from tests.support.proc import Run
from tests.support.reference import reference
from tests.support.server import DATABASE, PASSWORD, PASSWORD_USER

NO_ERROR = (0, 0, None, None)


@pytest.fixture
def client(mariadb: MariaDB) -> Iterator[Connection]:
    mariadb.empty_database()
    connection = Core(*mariadb.args).connect()
    yield connection
    connection.release()


def test_the_login_sends_nothing_else(mariadb: MariaDB, tmp_path: Path) -> None:
    script = tmp_path / "connect.lua"
    script.write_text("function event() sysbench.sql.driver():connect():disconnect() end\n")
    with mariadb.query_log() as expected:
        assert reference(str(script), *mariadb.args, "--events=1", "run").status == 0
    with mariadb.query_log() as log:
        Core(*mariadb.args).connect().release()
    assert log == expected
    assert [entry.command for entry in log] == ["Connect", "Quit"]


def test_character_set(client: Connection) -> None:
    row = client.query("SELECT @@character_set_client, @@character_set_results, @@collation_connection")
    assert row.rows == [(b"utf8mb4", b"utf8mb4", b"utf8mb4_general_ci")]


def test_password(mariadb: MariaDB, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    account = [*mariadb.args, f"--mysql-user={PASSWORD_USER}"]
    Core(*account, f"--mysql-password={PASSWORD}").connect().release()
    with pytest.raises(ConnectionError):
        Core(*account).connect()
    monkeypatch.setenv("MYSQL_PWD", PASSWORD)
    Core(*account).connect().release()
    with pytest.raises(ConnectionError):
        Core(*account, "--mysql-password=").connect()
    # An empty password that was typed is meant: the account without one gets in.
    Core(*mariadb.args, "--mysql-password=").connect().release()
    printed = capfd.readouterr().out
    server = f"unable to connect to MySQL server on host '127.0.0.1', port {mariadb.port}, aborting..."
    assert f"FATAL: {server}\nFATAL: error 1045: Access denied for user '{PASSWORD_USER}'" in printed


def test_logins_by_plugin(mariadb: MariaDB, capfd: pytest.CaptureFixture[str]) -> None:
    local = ["--db-driver=mysql", f"--mysql-socket={mariadb.socket}", f"--mysql-db={DATABASE}"]
    mariadb.sql("CREATE OR REPLACE USER native@'%' IDENTIFIED VIA mysql_native_password USING PASSWORD('x')")
    mariadb.sql("CREATE OR REPLACE USER old@'%' IDENTIFIED VIA mysql_old_password USING '0123456789abcdef'")
    mariadb.sql("INSTALL SONAME 'auth_ed25519'")
    mariadb.sql("CREATE OR REPLACE USER modern@'%' IDENTIFIED VIA ed25519 USING PASSWORD('x')")
    try:
        for user in ("native", "modern", "old"):
            mariadb.sql(f"GRANT ALL ON {DATABASE}.* TO {user}@'%'")
        Core(*local, "--mysql-user=native", "--mysql-password=x").connect().release()
        for user in ("modern", "old"):
            with pytest.raises(ConnectionError):
                Core(*local, f"--mysql-user={user}", "--mysql-password=x").connect()
    finally:
        mariadb.sql("DROP USER native@'%', old@'%', modern@'%'")
        mariadb.sql("UNINSTALL SONAME 'auth_ed25519'")
    printed = capfd.readouterr().out
    assert "needs the Python package pynacl: pip install 'PyMySQL[ed25519]'" in printed
    assert f"FATAL: unable to connect to MySQL server on socket '{mariadb.socket}', aborting..." in printed


FAILURES = {
    "closed port": (
        ["--mysql-host=127.0.0.1", "--mysql-port=1"],
        "Can't connect to server on '127.0.0.1' (111): ",
    ),
    "no such host": (
        ["--mysql-host=no-such-host.invalid"],
        "error 2005: Unknown server host 'no-such-host.invalid' (",
    ),
    "no such socket": (
        ["--mysql-socket=/no/such"],
        "error 2002: Can't connect to local server through socket '/no/such' (2): No such file",
    ),
    "no local socket": (["--mysql-host=localhost"], "for TCP use --mysql-host=127.0.0.1"),
}


@pytest.mark.parametrize("name", FAILURES)
def test_servers_that_cannot_be_reached(
    name: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    args, message = FAILURES[name]
    monkeypatch.setenv("MYSQL_UNIX_PORT", "/no/such/local")
    with pytest.raises(ConnectionError):
        Core("--db-driver=mysql", *args).connect()
    lines = capfd.readouterr().out.splitlines()
    assert message in lines[-1]
    assert len(lines) == 2


def test_no_such_database(mariadb: MariaDB, capfd: pytest.CaptureFixture[str]) -> None:
    mariadb.sql("CREATE OR REPLACE USER everywhere@'%'")
    mariadb.sql("GRANT ALL ON *.* TO everywhere@'%'")
    with pytest.raises(ConnectionError):
        Core(*mariadb.args, "--mysql-user=everywhere", "--mysql-db=nowhere").connect()
    mariadb.sql("DROP USER everywhere@'%'")
    assert capfd.readouterr().out.endswith("FATAL: error 1049: Unknown database 'nowhere'\n")


def test_blanks_between_ports(mariadb: MariaDB) -> None:
    core = Core(*mariadb.args, f"--mysql-port={mariadb.port}, {mariadb.port}")
    for _ in range(2):
        client = core.connect()
        assert client.query("DO 1").error == 0
        client.release()


def test_localhost_is_the_local_socket(mariadb: MariaDB, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MYSQL_UNIX_PORT", str(mariadb.socket))
    client = Core("--db-driver=mysql", "--mysql-port=1").connect()
    host = client.query("SELECT host FROM information_schema.processlist WHERE id = connection_id()")
    assert host.value == b"localhost"
    client.release()


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ("--mysql-host=", "No MySQL hosts specified, aborting"),
        ("--mysql-port=", "No MySQL ports specified, aborting"),
        ("--mysql-port=33o6", "Invalid value for --mysql-port: '33o6'"),
        ("--mysql-port=65536", "Invalid value for --mysql-port: '65536'"),
        ("--mysql-ignore-errors=1213,deadlock", "Invalid value for --mysql-ignore-errors: 'deadlock'"),
        ("--mysql-ssl=sometimes", "Invalid value for --mysql-ssl: 'sometimes'"),
    ],
)
def test_bad_options(option: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        Core("--db-driver=mysql", option)


# -- logins and connections


class CachingSha2Server(FakeMySQL):
    """Asks for the whole password, encrypted with its key, as MySQL 8 does for an account it has not seen."""

    password = b""

    def log_in(self, client: socket.socket) -> None:
        key = rsa.generate_private_key(65537, 2048)
        client.sendall(packets(self.greeting(b"caching_sha2_password"), first=0))
        receive(client)
        client.sendall(packets(b"\x01\x04", first=2))
        assert receive(client) == b"\x02"
        public = key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
        client.sendall(packets(b"\x01" + public, first=4))
        if answer := receive(client):
            digest = hashes.SHA1()
            hidden = key.decrypt(answer, padding.OAEP(padding.MGF1(digest), digest, None))
            self.password = bytes(a ^ b for a, b in zip(hidden, SCRAMBLE, strict=False))
            client.sendall(packets(ok(), first=6))


@pytest.fixture
def insecure(monkeypatch: pytest.MonkeyPatch) -> None:
    """To plugins, a local socket shall be as open to others as TCP is."""
    monkeypatch.setattr(mysql_login.Login, "_secure", property(lambda _self: False, lambda _self, _value: None))


@pytest.mark.usefixtures("insecure")
def test_caching_sha2_password() -> None:
    server = CachingSha2Server()
    with server:
        client = Core(*server.args, "--mysql-password=s3cret").connect()
        assert server.password == b"s3cret\x00"
        client.release()


@pytest.mark.usefixtures("insecure")
def test_a_login_that_needs_another_package(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("pymysql._auth._have_cryptography", False)
    with CachingSha2Server() as server, pytest.raises(ConnectionError):
        Core(*server.args, "--mysql-password=s3cret").connect()
    assert "needs the Python package cryptography: pip install 'PyMySQL[rsa]'" in capfd.readouterr().out


def test_cryptography_is_imported_when_a_login_needs_it() -> None:
    code = """if True:
        import sys
        from sysbench_py.drivers import mysql_login
        early = "cryptography" in sys.modules
        key = sys.stdin.buffer.read()
        hidden = mysql_login.pymysql._auth.sha2_rsa_encrypt(b"s3cret", b"x" * 20, key)
        print(early, "cryptography" in sys.modules, len(hidden))
    """
    key = rsa.generate_private_key(65537, 2048).public_key()
    public = key.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo).decode()
    with Run(sys.executable, "-c", code, stdin=public) as run:
        assert run.result().stdout == "False True 256\n"


class NoServer(FakeMySQL):
    """Speaks something else."""

    def log_in(self, client: socket.socket) -> None:
        client.sendall(b"SSH-2.0-OpenSSH_9.2\r\n")
        client.close()


def test_a_server_of_another_kind(capfd: pytest.CaptureFixture[str]) -> None:
    with NoServer() as server, pytest.raises(ConnectionError):
        Core(*server.args).connect()
    lines = capfd.readouterr().out.splitlines()
    assert lines[-2] == f"FATAL: unable to connect to MySQL server on socket '{server.path}', aborting..."
    what = "what answers there is no MySQL server: it says 'SSH-2.0-OpenSSH_9.2\\r\\n'"
    assert lines[-1] == f"FATAL: error 2012: {what}"


def test_servers_take_turns() -> None:
    with FakeMySQL() as first, FakeMySQL() as second:
        core = Core("--db-driver=mysql", f"--mysql-socket={first.path},{second.path}")
        clients = [core.connect() for _ in range(3)]
        first.reply, second.reply = [packets(ok())], [packets(ok(1))]
        for client in clients:
            assert client.query("DO 1").error == 0
        assert clients[1].reconnect()
        assert clients[1].query("DO 2").error == 0
        assert len(first.commands) == 2
        assert second.commands == [b"\x03DO 1", b"\x03DO 2"]
        for client in clients:
            client.release()


def test_trace_of_calls(capfd: pytest.CaptureFixture[str]) -> None:
    with FakeMySQL() as server:
        core = Core(*server.args, "--mysql-debug")
        client = core.connect()
        server.reply = [packets(ok())]
        client.query("DO 1")
        client.release()
        log_setup(3)
        Core(*server.args).connect().release()
    calls = ["connect ", "query DO 1", "disconnect "]
    assert capfd.readouterr().out.splitlines()[-3:] == [f"DEBUG: mysql 0: {call}" for call in calls]
