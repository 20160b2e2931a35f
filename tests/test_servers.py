"""The private servers: what they offer, what they log, and how they go down and come back."""

from contextlib import closing

import psycopg2
import pymysql
import pytest

from tests.support.mariadb import MariaDB
from tests.support.postgres import PostgreSQL
from tests.support.proc import Run, wait_until
from tests.support.querylog import Entry
from tests.support.reference import reference, report
from tests.support.server import DATABASE, PASSWORD, PASSWORD_USER, Server

ONE_EVENT = ("--rand-seed=3", "--tables=1", "--table-size=10", "--events=1", "--time=0")


def succeed(*args: str) -> str:
    result = reference(*args)
    assert result.status == 0, result.stdout + result.stderr
    return result.stdout


def statements(log: list[Entry], command: str) -> list[str]:
    return [entry.text for entry in log if entry.command == command]


def run_in_background(server: Server) -> Run:
    succeed("oltp_point_select", *server.args, "--table-size=10", "prepare")
    return reference.start(
        "oltp_point_select", *server.args, "--table-size=10", "--threads=2", "--time=60", "run"
    )


def test_sql_returns_rows(server: Server) -> None:
    assert server.sql("CREATE TABLE t (a INT)") == []
    assert server.sql("INSERT INTO t VALUES (1), (2)") == []
    assert server.sql("SELECT a, a + 1 FROM t ORDER BY a") == [(1, 2), (2, 3)]
    server.empty_database()
    assert server.sql("SELECT * FROM information_schema.tables WHERE table_name = 't'") == []


def test_the_query_log_has_what_the_reference_sends(server: Server) -> None:
    with server.query_log() as log:
        succeed("oltp_read_write", *server.args, *ONE_EVENT, "prepare")
    assert statements(log, "Query")[0].startswith("CREATE TABLE sbtest1(\n")
    assert statements(log, "Query")[1].startswith("INSERT INTO sbtest1(k, c, pad) VALUES(")
    assert statements(log, "Query")[2] == "CREATE INDEX k_1 ON sbtest1(k)"
    with server.query_log() as log:
        values = report(succeed("oltp_read_write", *server.args, *ONE_EVENT, "run"))
    assert values["events"] == 1
    assert log[0].command == "Connect"
    assert log[-1].command == "Quit"
    assert {entry.connection for entry in log} == {1}
    assert len(statements(log, "Prepare")) == 11
    assert len(statements(log, "Execute")) == values["total"] == 20


def test_two_runs_with_one_seed_log_the_same(server: Server) -> None:
    logs = []
    for _ in range(2):
        server.empty_database()
        with server.query_log() as log:
            succeed("oltp_read_write", *server.args, *ONE_EVENT, "prepare")
            succeed("oltp_read_write", *server.args, *ONE_EVENT, "run")
        logs.append(log)
    assert logs[0] == logs[1]
    with server.query_log() as log:
        succeed("oltp_read_write", *server.args, *ONE_EVENT, "--rand-seed=4", "run")
    assert log != logs[0]


def test_a_long_statement_is_logged_whole(server: Server) -> None:
    with server.query_log() as log:
        succeed("oltp_insert", *server.args, "--table-size=5000", "--create-secondary=off", "prepare")
    inserted = statements(log, "Query")[1:]
    assert max(map(len, inserted)) > 500_000
    assert sum(text.count("),(") + 1 for text in inserted) == 5000


def test_values_of_executed_statements_are_logged(mariadb: MariaDB, postgres: PostgreSQL) -> None:
    for server, expected in (
        (mariadb, "SELECT c FROM sbtest1 WHERE id=5"),
        (postgres, "s1: SELECT c FROM sbtest1 WHERE id=$1 [$1 = '5']"),
    ):
        server.empty_database()
        one_row = ("--table-size=10", "--rand-type=special", "--rand-spec-res=0", "--rand-seed=3")
        succeed("oltp_point_select", *server.args, *one_row, "prepare")
        with server.query_log() as log:
            succeed("oltp_point_select", *server.args, *one_row, "--events=50", "--time=0", "run")
        assert expected in statements(log, "Execute")


def test_killed_connections_are_counted_and_end_the_reference(server: Server) -> None:
    with run_in_background(server) as run:
        run.wait_for("Threads started!")
        assert server.kill_all_client_connections() == 2
        assert run.result().status != 0  # 1 with the mysql driver; the pgsql driver of 1.0.20 crashes
    wait_until(lambda: server.kill_all_client_connections() == 0, "the server to close the killed connections")


@pytest.mark.parametrize("way", ["restart", "kill9"])
def test_a_server_goes_down_and_comes_back_with_its_data(server: Server, way: str) -> None:
    with run_in_background(server) as run:
        run.wait_for("Threads started!")
        before = server.pid
        getattr(server, way)()
        assert run.result().status != 0
    server.start()
    assert server.running
    assert server.pid != before
    assert server.sql("SELECT count(*) FROM sbtest1") == [(10,)]
    server.stop()
    assert not server.running


def test_a_stopped_server_is_up_again_for_the_next_test(server: Server) -> None:
    assert server.running


def test_a_log_goes_on_after_a_crash_inside_the_block(server: Server) -> None:
    with server.query_log() as log:
        server.kill9()
        server.start()
        succeed("oltp_point_select", *server.args, "--table-size=10", "prepare")
    assert statements(log, "Query")[0].startswith("CREATE TABLE sbtest1(\n")


def test_the_password_is_asked_for(mariadb: MariaDB, postgres: PostgreSQL) -> None:
    with pytest.raises(pymysql.err.OperationalError, match="Access denied"):
        pymysql.connect(host="127.0.0.1", port=mariadb.port, user=PASSWORD_USER, database=DATABASE)
    with closing(
        pymysql.connect(
            host="127.0.0.1", port=mariadb.port, user=PASSWORD_USER, password=PASSWORD, database=DATABASE
        )
    ) as connection:
        assert connection.open
    address = {"host": "127.0.0.1", "port": postgres.port, "user": PASSWORD_USER, "dbname": DATABASE}
    with pytest.raises(psycopg2.OperationalError, match="password authentication failed"):
        psycopg2.connect(**address, password="wrong")
    with closing(psycopg2.connect(**address, password=PASSWORD)) as connection:
        assert connection.status == psycopg2.extensions.STATUS_READY


def test_tls_is_offered_and_verifiable(mariadb_tls: MariaDB, postgres_tls: PostgreSQL) -> None:
    assert mariadb_tls.certificates is not None
    assert postgres_tls.certificates is not None
    with (
        closing(
            pymysql.connect(
                host="127.0.0.1",
                port=mariadb_tls.port,
                user="sbtest",
                ssl_ca=str(mariadb_tls.certificates / "cacert.pem"),
                ssl_verify_identity=True,
            )
        ) as connection,
        connection.cursor() as cursor,
    ):
        cursor.execute("SHOW STATUS LIKE 'Ssl_cipher'")
        assert cursor.fetchall()[0][1] != ""
    with closing(
        psycopg2.connect(
            host="127.0.0.1",
            port=postgres_tls.port,
            user="sbtest",
            dbname=DATABASE,
            sslmode="verify-full",
            sslrootcert=str(postgres_tls.certificates / "cacert.pem"),
        )
    ) as connection:
        assert connection.info.ssl_in_use


def test_the_reference_connects_over_tls(mariadb_tls: MariaDB) -> None:
    mariadb_tls.empty_database()
    result = reference(
        "oltp_point_select",
        *mariadb_tls.args,
        "--table-size=10",
        "prepare",
        cwd=mariadb_tls.certificates,
    )
    assert result.status == 0, result.stdout + result.stderr


@pytest.mark.parametrize("kind", [MariaDB, PostgreSQL])
def test_a_closed_server_leaves_nothing(kind: type[MariaDB] | type[PostgreSQL]) -> None:
    with closing(kind()) as server:
        server.start()
        pid = server.pid
    assert not server.directory.exists()
    wait_until(lambda: not server.running, "the end of the server")
    assert server.pid == pid
