"""The MySQL protocol with a scripted server: replies cut at every byte, broken packets, lost connections."""

from __future__ import annotations

import os
import random
import struct

import pytest

from sysbench_py.drivers import mysql_login
from tests.support import mysql_fixtures
from tests.support.core_sql import Connection, Core
from tests.support.fake_mysql import (
    FakeMySQL,
    binary_row,
    column,
    definitions,
    eof,
    error,
    multi,
    ok,
    packets,
    prepared,
    result_set,
    string,
    text_result,
)
from tests.support.fake_server import cuts
from tests.support.mysql_fixtures import MALFORMED, NO_ERROR, ROWS

deprecate_eof, server, client = mysql_fixtures.deprecate_eof, mysql_fixtures.server, mysql_fixtures.client


def test_text_results(server: FakeMySQL, client: Connection, deprecate_eof: bool) -> None:
    for server.reply in cuts(packets(*text_result(ROWS, 2, deprecate_eof=deprecate_eof))):
        outcome = client.query("SELECT 1")
        assert outcome.failure == NO_ERROR
        assert outcome.rows == ROWS
    assert client.core.counters["read"] == len(list(cuts(b"".join(server.reply))))


def test_results_without_rows(server: FakeMySQL, client: Connection, deprecate_eof: bool) -> None:
    for server.reply in cuts(packets(*text_result([], 3, deprecate_eof=deprecate_eof))):
        outcome = client.query("SELECT 1")
        assert (outcome.rows, outcome.nrows, outcome.nfields) == ([], 0, 3)


@pytest.mark.parametrize(("affected", "counter"), [(0, "other"), (1, "write"), (300, "write"), (2**40, "write")])
def test_ok(server: FakeMySQL, client: Connection, affected: int, counter: str) -> None:
    n = 0
    for server.reply in cuts(packets(ok(affected) + b"info")):
        n += 1
        assert client.query("UPDATE t").failure == NO_ERROR
    assert client.core.counters == {counter: n}


def test_an_error(server: FakeMySQL, client: Connection) -> None:
    for server.reply in cuts(packets(error(1146, "42S02", "No table"))):
        assert client.query("SELECT 1").failure == (2, 1146, "42S02", "No table")
    server.reply = [packets(b"\xff" + struct.pack("<H", 1040) + b"Too many")]
    assert client.query("SELECT 1").failure == (2, 1040, "HY000", "Too many")
    server.reply = [packets(ok())]
    assert client.query("SELECT 1").failure == NO_ERROR


def test_an_error_in_the_middle_of_rows(server: FakeMySQL, client: Connection, deprecate_eof: bool) -> None:
    payloads = text_result(ROWS, 2, deprecate_eof=deprecate_eof)
    payloads[-1] = error(1317, "70100", "Interrupted")
    for server.reply in cuts(packets(*payloads)):
        outcome = client.query("SELECT 1")
        assert outcome.failure == (2, 1317, "70100", "Interrupted")
        assert outcome.rows is None
    server.reply = [packets(ok(1))]
    assert client.query("UPDATE t").failure == NO_ERROR


def test_several_results(server: FakeMySQL, client: Connection, deprecate_eof: bool) -> None:
    n = 0
    for server.reply in cuts(packets(*multi(deprecate_eof))):
        n += 1
        assert client.query("CALL p()").rows == [(b"1",)]
        found = []
        while client.more_results:
            found.append(client.next_result().rows)
        assert found == [None, [], [(b"a", b"b"), (None, b"c")], None]
        assert client.next_result().failure == NO_ERROR
    assert client.core.counters == {"read": 3 * n, "write": n, "other": n}


def test_results_that_nobody_asks_for_are_dropped(server: FakeMySQL, client: Connection, deprecate_eof: bool) -> None:
    for _ in range(10):
        server.reply = [packets(*multi(deprecate_eof))]
        assert client.query("CALL p()").rows == [(b"1",)]
    server.reply = [packets(ok())]
    assert client.query("DO 1").rows is None
    assert not client.more_results


def test_an_error_in_a_later_result(server: FakeMySQL, client: Connection, deprecate_eof: bool) -> None:
    payloads = [*multi(deprecate_eof)[:-1], error(1064, "42000", "Syntax")]
    for server.reply in cuts(packets(*payloads)):
        assert client.query("CALL p()").failure == (2, 1064, "42000", "Syntax")
        assert not client.more_results
    server.reply = [packets(ok())]
    assert client.query("DO 1").failure == NO_ERROR


# -- prepared statements


@pytest.mark.parametrize(("columns", "parameters"), [(0, 0), (2, 0), (0, 2), (3, 2)])
def test_prepare(server: FakeMySQL, client: Connection, deprecate_eof: bool, columns: int, parameters: int) -> None:
    reply = packets(
        prepared(0x01020304, columns, parameters),
        *definitions(parameters, deprecate_eof),
        *definitions(columns, deprecate_eof),
    )
    for server.reply in cuts(reply):
        statement = client.prepare("SELECT ?")
        assert statement.nparams == parameters
        statement.release()
        server.reply = [packets(ok())]
        client.query("DO 1")
        assert server.commands[-2] == b"\x19\x04\x03\x02\x01"


UNSIGNED, ZEROFILL = 32, 64
# type, flags, decimals, value on the wire, text
VALUES: list[tuple[int, int, int, bytes | None, bytes | None]] = [
    (1, 0, 0, b"\x80", b"-128"),
    (1, UNSIGNED, 0, b"\xff", b"255"),
    (2, 0, 0, b"\xff\xff", b"-1"),
    (2, UNSIGNED, 0, b"\xff\xff", b"65535"),
    (9, 0, 0, b"\x00\x00\x80\xff", b"-8388608"),
    (3, 0, 0, b"\x00\x00\x00\x80", b"-2147483648"),
    (3, UNSIGNED, 0, b"\x00\x00\x00\x80", b"2147483648"),
    (3, UNSIGNED | ZEROFILL, 0, b"\x07\x00\x00\x00", b"0000000007"),
    (8, 0, 0, b"\x00" * 7 + b"\x80", b"-9223372036854775808"),
    (8, UNSIGNED, 0, b"\xff" * 8, b"18446744073709551615"),
    (13, UNSIGNED | ZEROFILL, 0, b"\xe8\x07", b"0000002024"),
    (13, UNSIGNED, 0, b"\x00\x00", b"0000"),
    (4, 0, 31, struct.pack("<f", 1.1), b"1.1"),
    (4, 0, 31, struct.pack("<f", 16777216), b"16777200"),
    (4, 0, 2, struct.pack("<f", -2.5), b"-2.50"),
    (5, 0, 31, struct.pack("<d", 0.1 + 0.2), b"0.30000000000000004"),
    (5, 0, 31, struct.pack("<d", 1e14), b"100000000000000"),
    (5, 0, 31, struct.pack("<d", -1.5e15), b"-1.5e15"),
    (5, 0, 31, struct.pack("<d", 1e-15), b"0.000000000000001"),
    (5, 0, 31, struct.pack("<d", 1e-16), b"1e-16"),
    (5, 0, 31, struct.pack("<d", 0.001234), b"0.001234"),
    (5, 0, 31, struct.pack("<d", 12345.678), b"12345.678"),
    (5, 0, 31, struct.pack("<d", 0), b"0"),
    (5, 0, 31, struct.pack("<d", 5e-324), b"5e-324"),
    (5, 0, 31, struct.pack("<d", 1.7976931348623157e308), b"1.7976931348623157e308"),
    (5, 0, 3, struct.pack("<d", 1e300), b"%.3f" % 1e300),
    (6, 0, 0, None, None),
    (10, 0, 0, b"\x00", b"0000-00-00"),
    (10, 0, 0, b"\x04\xe8\x07\x02\x1d", b"2024-02-29"),
    (12, 0, 0, b"\x00", b"0000-00-00 00:00:00"),
    (12, 0, 0, b"\x04\xe8\x07\x02\x1d", b"2024-02-29 00:00:00"),
    (12, 0, 0, b"\x07\xe8\x07\x02\x1d\x01\x02\x03", b"2024-02-29 01:02:03"),
    (7, 0, 6, b"\x0b\xe8\x07\x02\x1d\x01\x02\x03\x40\xe2\x01\x00", b"2024-02-29 01:02:03.123456"),
    (12, 0, 3, b"\x0b\xe8\x07\x02\x1d\x01\x02\x03\x40\xe2\x01\x00", b"2024-02-29 01:02:03.123"),
    (12, 0, 3, b"\x07\xe8\x07\x02\x1d\x01\x02\x03", b"2024-02-29 01:02:03.000"),
    (11, 0, 0, b"\x00", b"00:00:00"),
    (11, 0, 0, b"\x08\x01\x01\x00\x00\x00\x02\x03\x04", b"-26:03:04"),
    (11, 0, 2, b"\x0c\x00\x22\x00\x00\x00\x16\x3b\x3b\x40\xe2\x01\x00", b"838:59:59.12"),
    (11, 0, 0, b"\x08\x00\xff\xff\xff\xff\xff\xff\xff", b"103079215335:255:255"),
    (246, 0, 2, b"\x051.234", b"1.234"),
    (253, 0, 0, b"\x00", b""),
    (252, 0, 0, b"\xfc\x2c\x01" + b"b" * 300, b"b" * 300),
    (16, 0, 0, b"\x02\x01\xff", b"\x01\xff"),
    (245, 0, 0, b"\x02{}", b"{}"),
    (253, 0, 0, None, None),
]


def test_binary_results(server: FakeMySQL, client: Connection, deprecate_eof: bool) -> None:
    server.reply = [packets(prepared(1, len(VALUES), 0), *definitions(len(VALUES), deprecate_eof))]
    statement = client.prepare("SELECT x")
    columns = [column(kind, flags, decimals, length=10) for kind, flags, decimals, _, _ in VALUES]
    row = binary_row([wire for *_, wire, _ in VALUES])
    texts = tuple(text for *_, text in VALUES)
    for server.reply in cuts(packets(*result_set([row, row], columns, deprecate_eof))):
        outcome = statement.execute()
        assert outcome.failure == NO_ERROR
        assert outcome.rows == [texts, texts]
    statement.release()


def test_parameters(server: FakeMySQL, client: Connection, deprecate_eof: bool) -> None:
    server.reply = [packets(prepared(7, 0, 9), *definitions(9, deprecate_eof))]
    statement = client.prepare("INSERT INTO t VALUES (?,?,?,?,?,?,?,?,?)")
    assert statement.bind(int) == 1
    assert statement.bind(int, float, bytes, bytes, bytes, bytes, int, bytes, float, max_len=70000) == 0
    server.reply = [packets(ok(1))]
    values = (-1, 1.5, b"", b"a" * 250, b"b" * 251, b"c" * 65536, None, None, None)
    assert statement.execute(*values).failure == NO_ERROR
    head = b"\x17\x07\0\0\0\0\x01\0\0\0"
    kinds = b"".join(bytes([kind, 0]) for kind in (8, 5, 253, 253, 253, 253, 8, 253, 5))
    strings = b"".join(map(string, (b"", b"a" * 250, b"b" * 251, b"c" * 65536)))
    sent = b"\xff" * 8 + struct.pack("<d", 1.5) + strings
    assert server.commands[-1] == head + b"\xc0\x01\x01" + kinds + sent
    assert statement.execute(*values).failure == NO_ERROR
    assert server.commands[-1] == head + b"\xc0\x01\x00" + sent
    server.reply = [packets(error(1213, "40001", "Deadlock"))]
    assert statement.execute(*values).failure == (1, 1213, "40001", "Deadlock")
    statement.bind(int, int, int, int, int, int, int, int, int)
    server.reply = [packets(ok(1))]
    statement.execute(*[None] * 9)
    assert server.commands[-1] == head + b"\xff\x01\x01" + b"\x08\0" * 9
    statement.release()


def test_what_cannot_be_prepared_is_emulated(server: FakeMySQL, client: Connection) -> None:
    server.reply = [packets(error(1295, "HY000", "This command is not supported"))]
    statement = client.prepare("LOCK TABLES t READ")
    server.reply = [packets(ok())]
    assert statement.execute().failure == NO_ERROR
    assert server.commands[-1] == b"\x03LOCK TABLES t READ"
    assert statement.close() == 1
    statement.release()


def test_closing_a_statement_leaves_another_result_alone(server: FakeMySQL, deprecate_eof: bool) -> None:
    client = Core(*server.args).connect()
    server.reply = [packets(prepared(1, 0, 0))]
    statement = client.prepare("DO 1")
    server.reply = [packets(*multi(deprecate_eof))]
    assert client.query("CALL p()").rows == [(b"1",)]
    statement.release()
    assert client.next_result().failure == NO_ERROR
    assert client.next_result().rows == []
    assert client.next_result().rows == [(b"a", b"b"), (None, b"c")]
    client.release()


@pytest.mark.parametrize("changed", [False, True])
@pytest.mark.parametrize("deprecate_eof", [False, True])
def test_definitions_that_mariadb_leaves_out(deprecate_eof: bool, changed: bool) -> None:
    with FakeMySQL(deprecate_eof=deprecate_eof, mariadb=True) as server:
        client = Core(*server.args).connect()
        assert server.login[28:32] == b"\x10\0\0\0"
        end = ok(header=0xFE) if deprecate_eof else eof()
        separator = [] if deprecate_eof else [eof()]
        server.reply = [packets(prepared(1, 1, 0), column(3), *separator)]
        statement = client.prepare("SELECT c")
        payloads = [b"\x01\x00", *separator, binary_row([b"\xff\xff\xff\xff"]), end]
        for server.reply in cuts(packets(*payloads)):
            assert statement.execute().rows == [(b"-1",)]
        if changed:
            payloads = [b"\x01\x01", column(2), *separator, binary_row([b"\xfe\xff"]), end]
            for server.reply in cuts(packets(*payloads)):
                assert statement.execute().rows == [(b"-2",)]
            payloads = [b"\x01\x00", *separator, binary_row([b"\xfd\xff"]), end]
            server.reply = [packets(*payloads)]
            assert statement.execute().rows == [(b"-3",)]
        server.reply = [packets(b"\x01\x01", column(), *separator, string(b"text"), end)]
        assert client.query("SELECT c").rows == [(b"text",)]
        statement.release()
        for broken in (b"\x02\x00", b"\x01\x00\x00"):
            server.reply = [packets(prepared(1, 1, 0), column(3), *separator)]
            statement = client.prepare("SELECT c")
            server.reply = [packets(broken)]
            assert statement.execute().failure == MALFORMED
            statement.release()
            client.reconnect()
        server.reply = [packets(b"\x01\x00")]
        assert client.query("SELECT c").failure == MALFORMED
        client.release()


# -- payloads of 16 MiB and more


@pytest.mark.parametrize("length", [0xFFFFFF - 10, 0xFFFFFF - 4, 0xFFFFFF, 0xFFFFFF + 1, 2 * 0xFFFFFF - 20])
def test_long_rows(server: FakeMySQL, client: Connection, deprecate_eof: bool, length: int) -> None:
    value = random.Random(length).randbytes(1000) * (length // 1000 + 1)
    rows = [(b"1", value[:length]), (value[: length // 2], None)]
    reply = packets(*text_result(rows, 2, deprecate_eof=deprecate_eof))
    for at in (1, 80, 0xFFFFFF + 50, len(reply) - 20):
        server.reply = [reply[:at], reply[at:]]
        assert client.query("SELECT 1").rows == rows


def test_long_rows_of_prepared_statements(server: FakeMySQL, client: Connection, deprecate_eof: bool) -> None:
    server.reply = [packets(prepared(1, 1, 0), *definitions(1, deprecate_eof))]
    statement = client.prepare("SELECT c")
    value = b"0123456789" * 3_500_000
    server.reply = [packets(*result_set([binary_row([string(value)])] * 2, [column()], deprecate_eof))]
    assert statement.execute().rows == [(value,), (value,)]
    statement.release()


@pytest.mark.parametrize("length", [0xFFFFFF - 2, 0xFFFFFF - 1, 0xFFFFFF, 2 * 0xFFFFFF - 1, 2 * 0xFFFFFF + 7])
def test_long_commands(server: FakeMySQL, client: Connection, length: int) -> None:
    query = (b"0123456789" * (length // 10 + 1))[:length]
    server.reply = [packets(ok(1), first=1 + (length + 1) // 0xFFFFFF)]
    assert client.query(query).failure == NO_ERROR
    assert server.commands[-1] == b"\x03" + query
    server.reply = [packets(ok())]
    assert client.query("DO 1").failure == NO_ERROR


# -- the descriptor


def test_a_descriptor_that_does_not_block(
    server: FakeMySQL, monkeypatch: pytest.MonkeyPatch, deprecate_eof: bool
) -> None:
    """receive returns where bytes are missing and goes on from there; send waits for room."""
    hand_over = mysql_login.Login.hand_over

    def without_blocking(self: mysql_login.Login) -> mysql_login.Session:
        session = hand_over(self)
        os.set_blocking(session.fd, False)
        return session._replace(polled=False)

    monkeypatch.setattr(mysql_login.Login, "hand_over", without_blocking)
    client = Core(*server.args).connect()
    for server.reply in cuts(packets(*multi(deprecate_eof))):
        assert client.query("CALL p()").rows == [(b"1",)]
    server.reply = [packets(ok())]
    assert client.query(b"x" * 3_000_000).failure == NO_ERROR
    assert len(server.commands[-1]) == 3_000_001
    client.release()
