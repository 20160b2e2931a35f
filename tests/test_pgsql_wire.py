"""The PostgreSQL protocol with a scripted server: replies cut at every byte, broken messages, lost connections."""

from __future__ import annotations

import random
import struct
from collections.abc import Iterator

import pytest

from tests.support.core_sql import Connection, Core
from tests.support.fake_postgres import (
    READY,
    FakePostgreSQL,
    columns,
    complete,
    error,
    message,
    notice,
    prepared,
    row,
    rows_of,
    string,
)
from tests.support.fake_server import cuts

NO_ERROR = (0, 0, None, None)
LOST = (2, 0, "08006", "server closed the connection unexpectedly")
MALFORMED = (2, 0, "08P01", "malformed message from the server")
NO_STATEMENT = (2, 0, None, None)  # which Lua tells as `SQL API error`

ROWS: list[tuple[bytes | None, ...]] = [(b"1", None), (b"", b"x" * 300), (None, b"\xfe\xff\x00")]


@pytest.fixture
def server() -> Iterator[FakePostgreSQL]:
    with FakePostgreSQL() as fake:
        yield fake


@pytest.fixture
def client(server: FakePostgreSQL) -> Iterator[Connection]:
    connection = Core(*server.args).connect()
    yield connection
    connection.release()


def test_rows(server: FakePostgreSQL, client: Connection) -> None:
    for server.reply in cuts(rows_of(ROWS, 2) + READY):
        outcome = client.query("SELECT 1")
        assert outcome.failure == NO_ERROR
        assert outcome.rows == ROWS
    assert server.commands[-1] == message("Q", string("SELECT 1"))


@pytest.mark.parametrize("n", [0, 3])
def test_results_without_rows(server: FakePostgreSQL, client: Connection, n: int) -> None:
    for server.reply in cuts(rows_of([], n) + READY):
        outcome = client.query("SELECT")
        assert (outcome.rows, outcome.nrows, outcome.nfields) == ([], 0, n)
    assert set(client.core.counters) == {"read"}


@pytest.mark.parametrize(
    ("tag", "counter"),
    [
        ("INSERT 0 1", "write"),
        ("INSERT 0 0", "other"),
        ("UPDATE 18446744073709551615", "write"),
        ("BEGIN", "other"),
        ("CREATE TABLE", "other"),
        ("SELECT 10", "write"),  # CREATE TABLE AS
        ("", "other"),
    ],
)
def test_tags(server: FakePostgreSQL, client: Connection, tag: str, counter: str) -> None:
    for server.reply in cuts(complete(tag) + READY):
        assert client.query("UPDATE t").failure == NO_ERROR
    assert set(client.core.counters) == {counter}


def test_what_comes_unasked_is_passed_over(server: FakePostgreSQL, client: Connection) -> None:
    """Notices, notifications and parameters, also between rows, and before the query is sent."""
    unasked = notice("hm") + message("A", struct.pack(">i", 7) + b"c\0p\0") + message("S", b"TimeZone\0UTC\0")
    reply = unasked.join([b"", columns(1), row(b"1"), row(b"2"), complete("SELECT 2"), READY])
    for server.reply in cuts(reply + unasked):
        assert client.query("SELECT").rows == [(b"1",), (b"2",)]


def test_an_error(server: FakePostgreSQL, client: Connection) -> None:
    for server.reply in cuts(error("42P01", "no table", D="none at all", P="8") + READY):
        assert client.query("SELECT 1").failure == (2, 0, "42P01", "no table")
    server.reply = [complete("BEGIN") + READY]
    assert client.query("BEGIN").failure == NO_ERROR


def test_an_error_in_the_middle_of_rows(server: FakePostgreSQL, client: Connection) -> None:
    reply = rows_of(ROWS, 2) + columns(1) + row(b"1") + error("57014", "canceled") + READY
    for server.reply in cuts(reply):
        outcome = client.query("SELECT 1; SELECT 2")
        assert outcome.failure == (2, 0, "57014", "canceled")
        assert outcome.rows is None
        assert not client.more_results
    server.reply = [rows_of([(b"3",)], 1) + READY]
    assert client.query("SELECT 3").value == b"3"


def test_several_results(server: FakePostgreSQL, client: Connection) -> None:
    reply = rows_of([(b"1",)], 1) + complete("INSERT 0 5") + rows_of([], 2) + rows_of(ROWS, 2) + complete("BEGIN")
    for server.reply in cuts(reply + READY):
        assert client.query("SELECT 1; ...").rows == [(b"1",)]
        found = []
        while client.more_results:
            found.append(client.next_result().rows)
        assert found == [None, [], ROWS, None]
        assert client.next_result().failure == NO_ERROR


# -- prepared statements


@pytest.mark.parametrize("n", [None, 0, 2])
def test_a_statement_is_described_once(server: FakePostgreSQL, client: Connection, n: int | None) -> None:
    rows = [] if n is None else [row(*[b"v"] * n)] * 2
    reply = message("2") + b"".join(rows) + complete("UPDATE 3" if n is None else "SELECT 2") + READY
    for server.reply in cuts(prepared(n)):
        statement = client.prepare("EITHER")
        server.reply = [reply]
        outcome = statement.execute()
        assert outcome.rows == (None if n is None else [(b"v",) * n] * 2 if n else [])
        assert b"D\0\0\0" not in server.commands[-1]
        statement.release()
    assert set(client.core.counters) == {"write" if n is None else "read"}


def test_replies_to_an_execution(server: FakePostgreSQL, client: Connection) -> None:
    server.reply = [prepared(2)]
    statement = client.prepare("SELECT")
    reply = message("2") + b"".join(row(*values) for values in ROWS) + complete("SELECT 3") + READY
    for server.reply in cuts(reply):
        assert statement.execute().rows == ROWS
    for server.reply in cuts(message("2") + complete("SELECT 0") + READY):
        outcome = statement.execute()
        assert (outcome.rows, outcome.nfields) == ([], 2)
    for server.reply in cuts(error("22012", "division by zero") + READY):
        assert statement.execute().failure == (2, 0, "22012", "division by zero")
    statement.release()


def test_rows_that_no_description_has_told(server: FakePostgreSQL, client: Connection) -> None:
    """As of a prepared FETCH."""
    server.reply = [prepared(None)]
    statement = client.prepare("FETCH c")
    for server.reply in cuts(message("2") + row(b"1", b"2") + row(b"3", None) + complete("FETCH 2") + READY):
        assert statement.execute().rows == [(b"1", b"2"), (b"3", None)]
    statement.release()


def test_parameters(server: FakePostgreSQL, client: Connection) -> None:
    statement = client.prepare("INSERT INTO t VALUES (?, ?, ?, ?)")
    assert server.commands == []
    server.reply = [prepared(None, 4)]
    assert statement.bind(int, float, bytes, int, max_len=70000) == 0
    parse = server.commands[-1]
    name = parse[5 : parse.index(b"\0", 5)]
    text = b"INSERT INTO t VALUES ($1, $2, $3, $4)"
    types = struct.pack(">h4i", 4, 20, 701, 1043, 20)
    assert parse == message("P", name + b"\0" + text + b"\0" + types) + message("D", b"S" + name + b"\0") + message("S")
    server.reply = [message("2") + complete("INSERT 0 1") + READY]
    for values, texts in (
        ((-(2**63), 0.1, b"", None), (b"-9223372036854775808", b"0.1", b"", None)),
        ((2**62, 1 / 3, b"a\0b" * 20000, 0), (b"4611686018427387904", b"0.33333333333333331", b"a\0b" * 20000, b"0")),
        ((9, float("inf"), b"x", 10), (b"9", b"inf", b"x", b"10")),
    ):
        assert statement.execute(*values).failure == NO_ERROR
        parts = [struct.pack(">i", -1) if t is None else struct.pack(">i", len(t)) + t for t in texts]
        bind = b"\0" + name + b"\0" + struct.pack(">hh", 0, 4) + b"".join(parts) + struct.pack(">h", 0)
        assert server.commands[-1] == message("B", bind) + message("E", bytes(5)) + message("S")
    statement.release()


# -- COPY, which is no statement


@pytest.mark.parametrize("extended", [False, True])
def test_copy_in_is_refused(server: FakePostgreSQL, client: Connection, extended: bool) -> None:
    statement = None
    if extended:
        server.reply = [prepared(None)]
        statement = client.prepare("COPY t FROM STDIN")
    ask, answer = message("G", b"\0\0\0"), error("57014", "COPY from stdin failed") + READY
    for server.reply in cuts(ask + answer):
        outcome = statement.execute() if statement else client.query("COPY t FROM STDIN")
        assert outcome.failure == NO_STATEMENT
        server.reply = [rows_of([(b"1",)], 1) + READY]
        assert client.query("SELECT 1").value == b"1"
    refusal = message("f", string("COPY is not supported"))
    sent = b"".join(server.commands)
    assert sent.count(refusal + message("S") if extended else refusal) > 30
    if statement:
        statement.release()


def test_copy_out_is_dropped(server: FakePostgreSQL, client: Connection) -> None:
    data = message("d", b"x" * 1000)
    for server.reply in cuts(message("H", b"\0\0\0") + data + message("c") + complete("COPY 1") + READY):
        assert client.query("COPY t TO STDOUT").failure == NO_STATEMENT
    server.reply = [message("H", b"\0\0\0") + data * 20000, data * 20000 + error("58030", "disk") + READY]
    assert client.query("COPY t TO STDOUT").failure == NO_STATEMENT
    server.reply = [message("I") + READY]
    assert client.query("").failure == NO_STATEMENT


# -- faults


@pytest.mark.parametrize("severity", ["FATAL", "PANIC"])
def test_the_end_of_a_session(server: FakePostgreSQL, client: Connection, severity: str) -> None:
    for server.reply in cuts(error("57P01", "going down", severity)):
        server.hang_up = True
        assert client.query("SELECT 1").failure == (2, 0, "57P01", "going down")
        assert client.query("SELECT 1").failure == NO_STATEMENT
        server.hang_up = False
        assert client.reconnect()


def test_last_words_are_read_though_nothing_can_be_sent(server: FakePostgreSQL, client: Connection) -> None:
    server.reply = [complete("BEGIN") + READY + error("57P01", "going down", "FATAL")]
    server.hang_up = True
    assert client.query("BEGIN").failure == NO_ERROR
    assert client.query(b"SELECT" + b" " * 3_000_000).failure == (2, 0, "57P01", "going down")


def test_a_connection_that_ends_at_any_byte(server: FakePostgreSQL, client: Connection) -> None:
    reply = rows_of(ROWS, 2) + READY
    server.hang_up = True
    for at in range(len(reply)):
        server.reply = [reply[:at]] if at else []
        assert client.query("SELECT 1").failure == LOST
        assert client.reconnect()


BROKEN = {
    "a length below 4": b"T\0\0\0\3\0\0",
    "a length above a gigabyte": b"T\x40\0\0\0\0\0",
    "an unknown type": message("?", b"\0\0"),
    "a byte of zero": message("\0"),
    "a row without columns' number": columns(1) + message("D", b"\0"),
    "a row of other columns": columns(1) + row(b"1", b"2"),
    "a row that is too short": columns(3) + message("D", b"\0\3" + bytes(11)),
    "a description without a number": message("T", b"\0"),
    "a tag without an end": message("C", b"BEGIN"),
    "no tag": message("C"),
    "nothing": READY,
    "an error without fields": message("E", b"\0"),
    "an error without an end": message("E", b"SERROR\0C42P01\0Mno"),
    "an error with half a state": error("42", "no"),
    "a portal that waits": message("s"),
}


@pytest.mark.parametrize("reply", BROKEN.values(), ids=BROKEN.keys())
def test_broken_messages(server: FakePostgreSQL, client: Connection, reply: bytes) -> None:
    for server.reply in cuts(reply):
        assert client.query("SELECT 1").failure == MALFORMED
        assert client.reconnect()


@pytest.mark.parametrize("length", [0x7FFFFFFF, 2, 0x00FFFFFF])
def test_values_that_are_longer_than_their_row(server: FakePostgreSQL, client: Connection, length: int) -> None:
    """A row is read when it is fetched; what makes no sense is not a row."""
    value = struct.pack(">hi", 1, length) + b"x"
    server.reply = [columns(1) + message("D", value) + complete("SELECT 1") + READY]
    assert client.query("SELECT 1").rows == []
    server.reply = [rows_of([(b"1",)], 1) + READY]
    assert client.query("SELECT 1").value == b"1"


@pytest.mark.parametrize("seed", range(20))
def test_random_damage(server: FakePostgreSQL, client: Connection, seed: int) -> None:
    """Bytes that are changed, lost or doubled: a result, an error or a lost connection; no crash, no hang."""
    rng = random.Random(seed)
    whole = rows_of(ROWS, 2) + notice("n") + rows_of(ROWS, 2) + READY
    server.hang_up = True
    for _ in range(20):
        damaged = bytearray(whole)
        for _ in range(rng.randint(1, 4)):
            at = rng.randrange(len(damaged))
            change = rng.choice(("set", "drop", "double"))
            damaged[at : at + 1] = {"set": [rng.randrange(256)], "drop": [], "double": [damaged[at]] * 2}[change]
        server.reply = [bytes(damaged)]
        outcome = client.query("SELECT 1")
        assert outcome.error in (0, 2)
        assert client.reconnect()
