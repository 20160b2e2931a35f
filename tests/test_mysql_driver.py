"""The MySQL driver on a real MariaDB: values, results, transports, logins, lost connections, leaks."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tests.support.core_sql import Connection, Core
from tests.support.mariadb import MariaDB
from tests.support.server import DATABASE

SYNTAX_ERROR = 1064


@pytest.fixture(params=["mariadb", "mariadb_tls"])
def server(request: pytest.FixtureRequest) -> MariaDB:
    """Every test here runs over a plain connection, and over TLS."""
    chosen: MariaDB = request.getfixturevalue(request.param)
    return chosen


@pytest.fixture
def client(server: MariaDB) -> Iterator[Connection]:
    server.empty_database()
    connection = Core(*server.args).connect()
    yield connection
    connection.release()


# -- values


def test_parameters_of_every_type(client: Connection) -> None:
    client.query("CREATE TABLE t (id INT PRIMARY KEY, i BIGINT, d DOUBLE, s LONGTEXT CHARSET utf8mb4)")
    insert = client.prepare("INSERT INTO t VALUES (?, ?, ?, ?)")
    select = client.prepare("SELECT i, d, s FROM t WHERE id = ?")
    assert insert.bind(int, int, float, bytes, max_len=70000) == 0
    assert select.bind(int) == 0
    rows: list[tuple[int | None, float | None, bytes | None]] = [
        (0, 0.0, b""),
        (-(2**53), 0.1 + 0.2, b"ab'c"),
        (2**53, -1.7976931348623157e308, b'\xf0\x9f\x98\x80 \\ " % ? $1'),
        (None, 5e-324, None),
        (1, None, b"x" * 70000),
        (None, None, None),
    ]
    for number, row in enumerate(rows):
        assert insert.execute(number, *row).failure == (0, 0, None, None)
        selected = select.execute(number).rows
        assert selected is not None
        ((i, d, s),) = selected
        assert (i and int(i), d and float(d), s) == row
        assert client.query(f"SELECT i, d, s FROM t WHERE id = {number}").rows == selected
    assert select.execute(len(rows)).rows == []
    assert client.core.counters == {"other": 1, "write": len(rows), "read": 2 * len(rows) + 1}
    insert.release()
    select.release()


@contextmanager
def setting(server: MariaDB, name: str, number: int) -> Iterator[None]:
    """Changes a global variable of the server for the connections that begin inside the block."""
    server.sql(f"SET GLOBAL {name} = {number}")
    try:
        yield
    finally:
        server.sql(f"SET GLOBAL {name} = DEFAULT")


def test_strings_of_17_mib(server: MariaDB) -> None:
    server.empty_database()
    with setting(server, "max_allowed_packet", 1 << 30):
        client = Core(*server.args).connect()
    client.query("CREATE TABLE t (s LONGBLOB)")
    long = random.Random(1).randbytes(17 << 20)
    insert = client.prepare("INSERT INTO t VALUES (?)")
    insert.bind(bytes, max_len=len(long))
    assert insert.execute(long).failure == (0, 0, None, None)
    select = client.prepare("SELECT s, length(s) FROM t")
    assert select.execute().rows == [(long, str(len(long)).encode())]
    assert client.query("SELECT s FROM t UNION ALL SELECT s FROM t").rows == [(long,), (long,)]
    assert client.query("SELECT length('" + "x" * (17 << 20) + "')").value == b"17825792"
    insert.release()
    select.release()
    client.release()


def test_a_packet_that_the_server_refuses(server: MariaDB) -> None:
    client = Core(*server.args).connect()
    outcome = client.query("SELECT length('" + "x" * (40 << 20) + "')")
    assert outcome.error == 2
    assert outcome.errno in (1153, 2006, 2013)
    assert client.reconnect()
    assert client.query("SELECT 1").value == b"1"
    client.release()


COLUMNS = [
    ("TINYINT", ["-128", "127", "NULL"]),
    ("TINYINT UNSIGNED", ["255"]),
    ("SMALLINT", ["-32768"]),
    ("SMALLINT UNSIGNED", ["65535"]),
    ("MEDIUMINT", ["-8388608", "8388607"]),
    ("MEDIUMINT UNSIGNED", ["16777215"]),
    ("INT", ["-2147483648"]),
    ("INT(8) UNSIGNED ZEROFILL", ["42", "4294967295"]),
    ("BIGINT", ["-9223372036854775808"]),
    ("BIGINT UNSIGNED", ["18446744073709551615"]),
    ("DECIMAL(30,10)", ["-12345678901234567890.0123456789"]),
    ("DOUBLE(12,3)", ["1.5", "-123456.7891"]),
    ("FLOAT(8,2)", ["1.005"]),
    ("FLOAT ZEROFILL", ["1.5"]),
    ("DATE", ["'2024-02-29'", "'0000-00-00'"]),
    ("DATETIME", ["'2024-02-29 01:02:03'", "'2024-02-29'", "'0000-00-00'"]),
    ("DATETIME(6)", ["'2024-02-29 01:02:03.000001'", "'2024-02-29'"]),
    ("TIMESTAMP(3) NULL", ["'2024-02-29 01:02:03.5'"]),
    ("TIME", ["'-838:59:59'", "'00:00:00'", "'100:00:01'"]),
    ("TIME(2)", ["'-00:00:00.07'"]),
    ("YEAR", ["2024", "0"]),
    ("CHAR(10)", ["'abc'", "''"]),
    ("VARCHAR(1000)", [f"'{'y' * 700}'"]),
    ("LONGTEXT", [f"'{'z' * 70000}'"]),
    ("BLOB", ["x'00ff27'"]),
    ("BIT(12)", ["b'101010101010'"]),
    ("ENUM('a','b')", ["'b'"]),
    ("SET('a','b')", ["'a,b'"]),
    ("JSON", ["'{\"a\": [1, 2]}'"]),
    ("POINT", ["ST_GeomFromText('POINT(1 2)')"]),
    ("INET6", ["'::1'"]),
    ("UUID", ["'123e4567-e89b-12d3-a456-426655440000'"]),
]
REALS = (
    "1e14 1e15 123456789012345680 3705226666457467.5 1.5e22 0.0001 1e-15 9.9e-16 1.2345678901234567e-7 "
    "1.7976931348623157e308 2.2250738585072014e-308 5e-324 0 -1.5 16777217 123456.789 1e6 999999.5 "
    "0.30000000000000004 3.14159265358979 100 -0.0"
)
DOUBLES = REALS.split()
FLOATS = [text for text in DOUBLES if float(text) == 0 or 1e-37 < abs(float(text)) < 1e38]


def test_prepared_results_read_like_those_of_queries(client: Connection) -> None:
    client.query("SET sql_mode = ''")
    draw = random.Random(1)
    more = [repr(draw.choice((-1, 1)) * draw.random() * 10.0 ** draw.randrange(-30, 30)) for _ in range(300)]
    columns = [*COLUMNS, ("DOUBLE", [*DOUBLES, *more]), ("FLOAT", [*FLOATS, *more])]
    for kind, literals in columns:
        client.query(f"CREATE OR REPLACE TABLE t (id INT AUTO_INCREMENT PRIMARY KEY, a {kind}, b INT)")
        for literal in literals:
            inserted = client.query(f"INSERT INTO t (a, b) VALUES ({literal}, 7)")
            assert inserted.error == 0, literal
        statement = client.prepare("SELECT a, b FROM t ORDER BY id")
        rows = client.query("SELECT a, b FROM t ORDER BY id").rows
        assert rows is not None
        assert len(rows) == len(literals)
        assert statement.execute().rows == rows, kind
        statement.release()


def test_expressions_read_like_those_of_queries(client: Connection) -> None:
    query = "SELECT 1, -1, 1.50, 1e0 / 3, 'a', NULL, now(6) > 0, CAST('12:00:00.5' AS TIME(1)), DATE '2024-01-01'"
    statement = client.prepare(query)
    assert statement.execute().rows == client.query(query).rows
    statement.release()


def test_a_table_that_changes_under_a_statement(client: Connection) -> None:
    """MariaDB tells the columns of a statement again only when they change."""
    client.query("CREATE TABLE t (a INT)")
    client.query("INSERT INTO t VALUES (300)")
    statement = client.prepare("SELECT * FROM t")
    for _ in range(2):
        assert statement.execute().rows == [(b"300",)]
    client.query("ALTER TABLE t MODIFY a VARCHAR(10)")
    for _ in range(3):
        assert statement.execute().rows == [(b"300",)]
    client.query("ALTER TABLE t ADD b DOUBLE DEFAULT 1.5")
    for _ in range(3):
        assert statement.execute().rows == [(b"300", b"1.5")]
    statement.release()


# -- several results

PROCEDURES = (
    "CREATE PROCEDURE one() SELECT 1",
    "CREATE PROCEDURE two(n INT) BEGIN SELECT n; SELECT 'a', 'b' UNION SELECT 'c', NULL; END",
    "CREATE PROCEDURE broken() BEGIN SELECT 1; SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'no'; END",
)


@pytest.fixture
def procedures(client: Connection) -> Connection:
    for procedure in PROCEDURES:
        assert client.query(procedure).error == 0
    return client


def test_a_procedure_that_selects_can_be_called_again(procedures: Connection) -> None:
    for _ in range(10):
        assert procedures.query("CALL one()").rows == [(b"1",)]
    assert procedures.core.counters["read"] == 10


def test_a_prepared_call_can_be_executed_again(procedures: Connection) -> None:
    call = procedures.prepare("CALL two(?)")
    call.bind(int)
    for n in range(10):
        assert call.execute(n).rows == [(str(n).encode(),)]
        assert procedures.next_result().rows == [(b"a", b"b"), (b"c", None)]
        assert procedures.next_result().rows is None
        assert not procedures.more_results
    for n in range(10):
        assert call.execute(n).rows == [(str(n).encode(),)]
    call.release()


def test_an_error_after_a_result(procedures: Connection) -> None:
    for _ in range(3):
        assert procedures.query("CALL broken()").failure == (2, 1644, "45000", "no")
        assert procedures.query("SELECT 5").value == b"5"


def test_several_statements_in_one_query(client: Connection) -> None:
    outcome = client.query("CREATE TABLE t (a INT); INSERT INTO t VALUES (1), (2); SELECT a FROM t ORDER BY a")
    assert outcome.rows is None
    assert client.next_result().rows is None
    assert client.next_result().rows == [(b"1",), (b"2",)]
    assert not client.more_results
    assert client.core.counters == {"other": 1, "write": 1, "read": 1}


def test_the_second_of_several_statements_fails(client: Connection) -> None:
    for query in ("SELECT 1; SELEC 2", "DO 1; SELECT * FROM nowhere"):
        outcome = client.query(query)
        assert (outcome.error, outcome.rows) == (2, None)
        assert client.query("SELECT 3").value == b"3"


# -- errors


def test_the_error_record(client: Connection, capfd: pytest.CaptureFixture[str]) -> None:
    message = f"Table '{DATABASE}.nowhere' doesn't exist"
    assert client.query("SELECT * FROM nowhere").failure == (2, 1146, "42S02", message)
    assert client.query("SELECT 1").failure == (0, 0, None, None)
    with pytest.raises(ConnectionError):
        client.prepare("SELECT * FROM nowhere")
    client.query("CREATE TABLE t1 (a INT PRIMARY KEY)")
    statement = client.prepare("INSERT INTO t1 VALUES (?)")
    statement.bind(int)
    statement.execute(1)
    assert statement.execute(1).failure == (2, 1062, "23000", "Duplicate entry '1' for key 'PRIMARY'")
    statement.release()
    query = "SELECT '" + "x" * 2000
    assert client.query(query).errno == SYNTAX_ERROR
    printed = capfd.readouterr().out
    for line in (
        f"mysql_drv_query() returned error 1146 ({message}) for query 'SELECT * FROM nowhere'",
        "mysql_stmt_prepare() failed",
        f'MySQL error: 1146 "{message}"',
        "mysql_stmt_execute() returned error 1062 (Duplicate entry '1' for key 'PRIMARY') "
        "for query 'INSERT INTO t1 VALUES (?)'",
    ):
        assert f"FATAL: {line}\n" in printed
    assert printed.endswith(f"for query '{query[:1000]}...'\n")


def test_ignored_errors(server: MariaDB) -> None:
    core = Core(*server.args, "--mysql-ignore-errors=1146")
    client = core.connect()
    assert client.query("SELECT * FROM nowhere").failure[:2] == (1, 1146)
    assert client.query("SELEC").failure[:2] == (2, SYNTAX_ERROR)
    assert core.counters == {"errors": 2}
    client.release()


def test_too_many_statements(server: MariaDB, capfd: pytest.CaptureFixture[str]) -> None:
    client = Core(*server.args).connect()
    with setting(server, "max_prepared_stmt_count", 0), pytest.raises(ConnectionError):
        client.prepare("DO 1")
    client.release()
    assert "FATAL: max_prepared_stmt_count of the server must be " in capfd.readouterr().out


def test_statements_are_closed_on_the_server(server: MariaDB) -> None:
    def count() -> int:
        return int(server.sql("SHOW GLOBAL STATUS LIKE 'Prepared_stmt_count'")[0][1])

    client = Core(*server.args).connect()
    before = count()
    statements = [client.prepare("DO 1") for _ in range(5)]
    assert count() == before + 5
    for statement in statements:
        assert statement.close() == 0
    client.query("DO 1")
    assert count() == before
    for statement in statements:
        statement.release()
    client.release()


# -- lost connections


@pytest.mark.parametrize("prepared", [False, True])
def test_a_killed_connection_is_made_again(server: MariaDB, prepared: bool) -> None:
    core = Core(*server.args, "--mysql-ignore-errors=2006,2013,1927")
    client = core.connect()
    statement = client.prepare("SELECT 1")
    for n in range(1, 4):
        client.end_by(server)
        outcome = statement.execute() if prepared else client.query("SELECT 1")
        assert outcome.error == 1
        assert outcome.errno in (2006, 2013, 1927)
        assert (statement.execute() if prepared else client.query("SELECT 1")).rows == [(b"1",)]
        assert core.counters["reconnects"] == n
    assert "errors" not in core.counters
    statement.release()
    client.release()


def test_a_killed_connection_is_fatal_without_a_list(server: MariaDB) -> None:
    core = Core(*server.args)
    client = core.connect()
    client.end_by(server)
    assert client.query("SELECT 1").failure[:2] in ((2, 2006), (2, 2013))
    assert client.query("SELECT 1").failure == (2, 0, None, None)
    assert client.reconnect()
    assert client.query("SELECT 1").value == b"1"
    assert core.counters["reconnects"] == 1
    client.release()


# -- the rest


def test_dry_run(capfd: pytest.CaptureFixture[str]) -> None:
    core = Core("--db-driver=mysql", "--mysql-dry-run", "--mysql-port=1")
    client = core.connect()
    assert client.query("SELECT 1").rows is None
    statement = client.prepare("SELECT ?")
    statement.bind(int)
    assert statement.execute(1).rows is None
    assert statement.close() == 0
    assert core.counters == {"other": 2}
    statement.release()
    client.release()
    assert capfd.readouterr().out == ""


def test_emulated_statements(server: MariaDB) -> None:
    client = Core(*server.args, "--db-ps-mode=disable").connect()
    with server.query_log() as log:
        statement = client.prepare("SELECT ?, '?', ?")
        statement.bind(bytes, int)
        assert statement.execute(b"ab'c\\", 5).rows == [(b"ab'c\\", b"?", b"5")]
        assert statement.execute(None, None).rows == [(None, b"?", None)]
        statement.release()
    assert [entry.command for entry in log] == ["Query", "Query"]
    client.release()
