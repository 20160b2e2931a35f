"""MySQL connections that end at any byte, and replies that make no sense: an error, no crash, no hang."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from tests.support import mysql_fixtures
from tests.support.core_sql import Connection, Core
from tests.support.fake_mysql import (
    FakeMySQL,
    binary_row,
    column,
    definitions,
    eof,
    error,
    lenenc,
    multi,
    ok,
    packets,
    prepared,
    result_set,
    text_result,
)
from tests.support.fake_server import cuts
from tests.support.mysql_fixtures import LOST, MALFORMED, NO_ERROR, ROWS

deprecate_eof, server, client = mysql_fixtures.deprecate_eof, mysql_fixtures.server, mysql_fixtures.client


def fresh(server: FakeMySQL) -> Connection:
    return Core(*server.args).connect()


def test_a_reply_that_ends_at_any_byte(server: FakeMySQL, deprecate_eof: bool) -> None:
    reply = packets(*multi(deprecate_eof))
    server.hang_up = True
    client = fresh(server)
    for at in range(len(reply)):
        server.reply = [reply[:at]]
        assert client.query("CALL p()").failure == LOST
        assert client.query("CALL p()").failure == (2, 0, None, None)
        assert client.reconnect()
    client.release()


def test_a_prepare_that_ends_at_any_byte(server: FakeMySQL, deprecate_eof: bool) -> None:
    reply = packets(prepared(1, 1, 1), *definitions(1, deprecate_eof), *definitions(1, deprecate_eof))
    server.hang_up = True
    client = fresh(server)
    for at in range(len(reply)):
        server.reply = [reply[:at]]
        with pytest.raises(ConnectionError):
            client.prepare("SELECT ?")
        assert client.reconnect()
    client.release()


def test_an_ignored_loss_reconnects(server: FakeMySQL) -> None:
    core = Core(*server.args, "--mysql-ignore-errors=2013,2006")
    client = core.connect()
    server.hang_up = True
    for _ in range(5):
        server.reply = [b"\x07"]
        assert client.query("SELECT 1").failure == (1, *LOST[1:])
    server.hang_up = False
    server.reply = [packets(ok())]
    assert client.query("SELECT 1").failure == NO_ERROR
    assert core.counters == {"reconnects": 5, "other": 1}
    client.release()


def test_a_statement_survives_a_reconnect(server: FakeMySQL, client: Connection) -> None:
    server.reply = [packets(prepared(5, 0, 0))]
    statement = client.prepare("DO 1")
    assert client.reconnect()
    server.commands.clear()
    # Both the new prepare and the execute get an answer that begins with this byte and fits.
    server.reply = [packets(prepared(9, 0, 0))]
    assert statement.execute().failure == NO_ERROR
    assert server.commands == [b"\x16DO 1", b"\x17\x09\0\0\0\0\x01\0\0\0"]
    statement.release()


def test_a_server_that_went_away_between_commands(server: FakeMySQL) -> None:
    client = fresh(server)
    server.reply = [packets(ok())]
    server.hang_up = True
    assert client.query("DO 1").failure == NO_ERROR
    assert client.query("DO 1").errno in (2006, 2013)
    client.release()


def test_last_words_of_a_server(server: FakeMySQL) -> None:
    """An error that no command has asked for, numbered 0, after a reply or in its place."""
    client = fresh(server)
    last_words = packets(error(4031, "HY000", "Inactive"), first=0)
    for server.reply in cuts(last_words):
        assert client.query("DO 1").failure == (2, 4031, "HY000", "Inactive")
        assert client.reconnect()
    server.reply = [packets(ok()) + last_words]
    assert client.query("DO 1").failure == NO_ERROR
    assert client.query("DO 1").failure == (2, 4031, "HY000", "Inactive")
    client.release()


def test_last_words_of_a_server_that_has_gone(server: FakeMySQL) -> None:
    client = fresh(server)
    server.reply = [packets(ok())]
    assert client.query("DO 1").failure == NO_ERROR
    server.leave(packets(error(1927, "70100", "Connection was killed"), first=0))
    assert client.query("DO 1").failure == (2, 1927, "70100", "Connection was killed")
    client.release()


@pytest.mark.parametrize("number", [1053, 1152, 1159, 1160, 1161, 1927, 4031])
def test_errors_after_which_the_server_closes(server: FakeMySQL, number: int) -> None:
    core = Core(*server.args, "--mysql-ignore-errors=all")
    client = core.connect()
    server.reply = [packets(error(number, "08S01", "Bye"))]
    assert client.query("DO 1").failure == (1, number, "08S01", "Bye")
    assert core.counters == {"reconnects": 1}
    client.release()


# -- replies that make no sense

BROKEN = {
    "empty packet": packets(b""),
    "wrong number": packets(ok(), first=2),
    "wrong second number": packets(b"\x01") + packets(column(), first=3),
    "short OK": packets(b"\x00\x00"),
    "OK with a length that is none": packets(b"\x00\xff\x00\x02\x00\x00\x00"),
    "OK with a cut length": packets(b"\x00\xfe\x00\x00\x00\x00"),
    "short error": packets(b"\xff\x01"),
    "no columns": packets(lenenc(300)[:2]),
    "too many columns": packets(lenenc(2**40)),
    "bytes after the number of columns": packets(b"\x01\x00\x00"),
    "end instead of a column": packets(b"\x01", eof()),
    "empty column": packets(b"\x01", b""),
    "request to change the login": packets(b"\xfe"),
    "column of 16 MiB": packets(b"\x01", b"\x03" * 0xFFFFFF),
}


@pytest.mark.parametrize("name", BROKEN)
def test_broken_replies(server: FakeMySQL, name: str) -> None:
    client = fresh(server)
    server.reply = [BROKEN[name]]
    assert client.query("SELECT 1").failure == MALFORMED
    assert client.query("SELECT 1").failure == (2, 0, None, None)
    assert client.reconnect()
    server.reply = [packets(ok())]
    assert client.query("SELECT 1").failure == NO_ERROR
    client.release()


def test_broken_ends(server: FakeMySQL, deprecate_eof: bool) -> None:
    client = fresh(server)
    payloads = text_result(ROWS, 2, deprecate_eof=deprecate_eof)
    for end in (b"\xfe", b"\xfe\x00", b"\xfe\x00\x00", b"\xfe\xfc\x00\x00", b"\x01"):
        server.reply = [packets(*payloads[:-1], end)]
        assert client.query("SELECT 1").failure == MALFORMED
        assert client.reconnect()
    client.release()


@pytest.mark.parametrize("reply", [b"\x01", b"\x00\x01\x00\x00\x00", ok(), b"\xfb", b"\x00" * 11])
def test_broken_replies_to_prepare(server: FakeMySQL, reply: bytes, capfd: pytest.CaptureFixture[str]) -> None:
    client = fresh(server)
    server.reply = [packets(reply)]
    with pytest.raises(ConnectionError):
        client.prepare("SELECT ?")
    assert 'FATAL: MySQL error: 2027 "Malformed packet"' in capfd.readouterr().out
    client.release()


BROKEN_ROWS = [b"\x02x", b"\x01xx", b"\xff", b"\xfd\xff\xff\xff", b"\xfc\x01", b"\x00\x00"]


@pytest.mark.parametrize("row", BROKEN_ROWS)
def test_broken_rows(server: FakeMySQL, deprecate_eof: bool, row: bytes) -> None:
    client = fresh(server)
    server.reply = [packets(*result_set([b"\x01a", row], [column()], deprecate_eof))]
    assert client.query("SELECT 1").failure == MALFORMED
    client.release()


def test_broken_rows_of_prepared_statements(server: FakeMySQL, deprecate_eof: bool) -> None:
    client = fresh(server)
    for kind, wire in (
        (3, b"\x01\x02\x03"),
        (3, b"\x01\x02\x03\x04\x05"),
        (12, b"\x05\x01\x02\x03\x04\x05"),
        (12, b"\x0b\x01"),
        (11, b"\x04\x01\x02\x03\x04"),
        (253, b"\x05abc"),
        (253, b"\xfe" + b"\xff" * 8),
        (253, b"\xfb"),
        (200, b"\xff"),
    ):
        server.reply = [packets(prepared(1, 1, 0), *definitions(1, deprecate_eof))]
        statement = client.prepare("SELECT c")
        server.reply = [packets(*result_set([b"\x00\x00" + wire], [column(kind)], deprecate_eof))]
        assert statement.execute().errno == 2027
        statement.release()
        assert client.reconnect()
    for broken in (b"\x00", b"\x01\x00", column()[:-4], b"\xfe"):
        server.reply = [packets(prepared(1, 1, 0), *definitions(1, deprecate_eof))]
        statement = client.prepare("SELECT c")
        payloads = result_set([binary_row([b"\x01a"])], [column()], deprecate_eof)
        payloads[payloads.index(column())] = broken
        server.reply = [packets(*payloads)]
        assert statement.execute().errno == 2027
        statement.release()
        assert client.reconnect()
    client.release()


def test_lengths_that_lie_cost_nothing(server: FakeMySQL) -> None:
    client = fresh(server)
    server.hang_up = True
    before = resident_kib()
    for claimed in (b"\xff\xff\xff\x01", b"\xfe\xff\xff\x01\x01"):
        server.reply = [claimed]
        assert client.query("SELECT 1").failure == LOST
        assert client.reconnect()
    assert resident_kib() - before < 4096
    client.release()


def resident_kib() -> int:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS"))


def test_garbage(server: FakeMySQL, deprecate_eof: bool) -> None:
    """Random bytes, and good replies with random bytes in them: an outcome, but no crash and no hang."""
    draw = random.Random(1)
    client = fresh(server)
    server.hang_up = True
    good = packets(*multi(deprecate_eof))
    seen = set()
    for _ in range(1500):
        reply = bytearray(good if draw.random() < 0.9 else draw.randbytes(100))
        for _ in range(draw.randrange(1, 4)):
            reply[draw.randrange(len(reply))] = draw.choice((0, 1, 0xFB, 0xFC, 0xFE, 0xFF, draw.randrange(256)))
        server.reply = [bytes(reply)]
        outcome = client.query("SELECT 1")
        while outcome.error == 0 and client.more_results:
            outcome = client.next_result()
        seen.add(outcome.errno)
        assert client.reconnect()
    assert {0, 2013, 2027} <= seen
    client.release()


def test_a_local_file_is_never_sent(server: FakeMySQL, client: Connection) -> None:
    # The second packet answers the empty one that refuses.
    server.reply = [packets(b"\xfb/etc/passwd"), packets(ok(), first=3)]
    assert client.query("LOAD DATA").errno == 2068
    server.reply = [packets(b"\xfb/etc/passwd") + packets(error(1148, "42000", "No"), first=3)]
    assert client.query("LOAD DATA").failure == (2, 1148, "42000", "No")
    server.reply = [packets(ok())]
    assert client.query("DO 1").failure == NO_ERROR
    assert server.commands == [b"\x03LOAD DATA", b"", b"\x03LOAD DATA", b"", b"\x03DO 1"]
