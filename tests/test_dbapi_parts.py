"""The parts of the driver dbapi, each on its own."""

from collections.abc import Callable
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from sysbench_py.drivers.dbapi_connect import parse_connect
from sysbench_py.drivers.dbapi_dialects import DIALECTS, dialect_of
from sysbench_py.drivers.dbapi_errors import facts
from sysbench_py.drivers.dbapi_paramstyle import prepare
from sysbench_py.drivers.dbapi_transactions import control_word, set_up
from sysbench_py.drivers.dbapi_values import text_maker
from sysbench_py.errors import UsageError

# -- --dbapi-connect


@pytest.mark.parametrize(
    ("text", "positional", "named"),
    [
        ("", (), {}),
        ('{"host": "h", "port": 1, "tls": true}', (), {"host": "h", "port": 1, "tls": True}),
        ('["dsn", 2]', ("dsn", 2), {}),
        ('"DSN=x;UID=y"', ("DSN=x;UID=y",), {}),
        ("host=h,port=3306,ssl=false", (), {"host": "h", "port": 3306, "ssl": False}),
        ('port="3306",a=1.5,b=null,c=', (), {"port": "3306", "a": 1.5, "b": None, "c": ""}),
        ("a=x=y, b = z", (), {"a": "x=y", "b": "z"}),
        ("a=[1]", (), {"a": "[1]"}),
    ],
)
def test_connect(text: str, positional: tuple[Any, ...], named: dict[str, Any], tmp_path: Path) -> None:
    assert parse_connect(text) == (positional, named)
    (tmp_path / "f").write_text(f"\n{text}\n")
    assert parse_connect(f"@{tmp_path}/f") == (positional, named)


def test_connect_in_lines_of_a_file(tmp_path: Path) -> None:
    (tmp_path / "f").write_text("host = h\nport = 1\n\nuser=u\n")
    assert parse_connect(f"@{tmp_path}/f").named == {"host": "h", "port": 1, "user": "u"}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"password": "secret"', "--dbapi-connect: bad JSON: "),
        ("secret", "--dbapi-connect: 'secret' is not the name of an argument and its value"),
        ("a=1,7=2", "--dbapi-connect: '7' is not the name"),
        ("@/no/such", "Cannot read --dbapi-connect file '/no/such': No such file or directory"),
    ],
)
def test_bad_connect(text: str, said: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_connect(text)
    assert caught.value.line.startswith(f"FATAL: {said}")
    assert "\n" not in caught.value.line


def test_bad_json_of_a_file_does_not_show_what_is_in_it(tmp_path: Path) -> None:
    (tmp_path / "f").write_text('{"password": "secret"')
    with pytest.raises(UsageError) as caught:
        parse_connect(f"@{tmp_path}/f")
    assert "bad JSON" in caught.value.line
    assert "secret" not in caught.value.line


# -- parameters

STATEMENT = b"SELECT '?', \"a?%\", x % 2 /* ? % */ FROM t -- ?\n WHERE a = ? AND b LIKE '5%' AND c = ?"


@pytest.mark.parametrize(
    ("style", "text", "arguments"),
    [
        ("qmark", STATEMENT.decode(), (7, "x")),
        (
            "numeric",
            "SELECT '?', \"a?%\", x % 2 /* ? % */ FROM t -- ?\n WHERE a = :1 AND b LIKE '5%' AND c = :2",
            (7, "x"),
        ),
        (
            "named",
            "SELECT '?', \"a?%\", x % 2 /* ? % */ FROM t -- ?\n WHERE a = :p1 AND b LIKE '5%' AND c = :p2",
            {"p1": 7, "p2": "x"},
        ),
        (
            "format",
            "SELECT '?', \"a?%%\", x %% 2 /* ? %% */ FROM t -- ?\n WHERE a = %s AND b LIKE '5%%' AND c = %s",
            (7, "x"),
        ),
        (
            "pyformat",
            "SELECT '?', \"a?%%\", x %% 2 /* ? %% */ FROM t -- ?\n WHERE a = %(p1)s AND b LIKE '5%%' AND c = %(p2)s",
            {"p1": 7, "p2": "x"},
        ),
    ],
)
def test_paramstyle(style: str, text: str, arguments: Any) -> None:
    prepared = prepare(STATEMENT, style, False, lambda: True)
    assert prepared.text == text
    assert prepared.arguments((7, "x")) == arguments


def test_percent_in_strings_of_a_module_that_leaves_them_alone() -> None:
    prepared = prepare(b"SELECT '5%', a % 2 WHERE b = ?", "format", False, lambda: False)
    assert prepared.text == "SELECT '5%', a %% 2 WHERE b = %s"


def test_percent_without_parameters_is_never_doubled() -> None:
    def asked() -> bool:
        raise AssertionError

    assert prepare(b"SELECT '5%' % 2", "pyformat", False, asked).text == "SELECT '5%' % 2"


@pytest.mark.parametrize(
    ("backslash", "statement", "text"),
    [(True, rb"SELECT 'it\'s ?', ?", r"SELECT 'it\'s ?', %s"), (False, rb"SELECT 'it\', ?", r"SELECT 'it\', %s")],
)
def test_backslash_escapes_in_strings_of_mysql_only(backslash: bool, statement: bytes, text: str) -> None:
    assert prepare(statement, "format", backslash, lambda: True).text == text


# -- values


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, None),
        (0, b"0"),
        (-(2**100), b"-1267650600228229401496703205376"),
        (0.1, b"0.1"),
        (Decimal("1E+3"), b"1000"),
        (Decimal("0.10"), b"0.10"),
        ("a\u00e9", "a\u00e9".encode()),
        (b"\x00\xff", b"\x00\xff"),
        (bytearray(b"x"), b"x"),
        (memoryview(b"y"), b"y"),
        (date(2024, 2, 29), b"2024-02-29"),
        (datetime(2024, 2, 29, 1, 2, 3), b"2024-02-29 01:02:03"),
        (datetime(2024, 2, 29, 1, 2, 3, 4), b"2024-02-29 01:02:03.000004"),
        (time(1, 2), b"01:02:00"),
        (timedelta(hours=30, seconds=5), b"30:00:05"),
        (timedelta(hours=-1, microseconds=-5), b"-01:00:00.000005"),
        ([1, 2], b"[1, 2]"),
    ],
)
def test_value(value: object, text: bytes | None) -> None:
    assert text_maker(DIALECTS["mysql"])(value) == text


@pytest.mark.parametrize(
    ("dialect", "shown"), [("mysql", (b"1", b"0")), ("pgsql", (b"t", b"f")), ("duckdb", (b"true", b"false"))]
)
def test_boolean(dialect: str, shown: tuple[bytes, bytes]) -> None:
    text_of = text_maker(DIALECTS[dialect])
    assert (text_of(True), text_of(False)) == shown


def test_large_object_is_read() -> None:
    class Locator:
        def read(self) -> str:
            return "long"

    assert text_maker(DIALECTS["oracle"])(Locator()) == b"long"


# -- errors


class OperationalError(Exception):
    """Of a module."""


class DatabaseError(Exception):
    """Of a module."""


class OracleError:
    code, full_code, isrecoverable = 1, "ORA-00001", False

    def __str__(self) -> str:
        return "ORA-00001: unique constraint violated\nHelp: https://docs.oracle.com"


class LostOracle(OracleError):
    code, full_code, isrecoverable = 0, "DPY-4011", True


def with_attributes(error: Exception, **attributes: object) -> Exception:
    vars(error).update(attributes)
    return error


PG8000 = {"S": "ERROR", "C": "40001", "M": "could not serialize access"}
ODBC = "[40001] [Microsoft][ODBC Driver 18 for SQL Server][SQL Server]deadlock victim. (1205) (SQLExecDirectW)"


@pytest.mark.parametrize(
    ("error", "number", "sqlstate", "message", "names", "of_connection"),
    [
        (OperationalError(1213, "Deadlock"), 1213, "", "Deadlock", {"1213", "OperationalError"}, True),
        (with_attributes(DatabaseError("x\ny"), pgcode="40P01"), 0, "40P01", "x", {"40P01"}, False),
        (with_attributes(DatabaseError("x"), sqlstate="57P01"), 0, "57P01", "x", {"57P01"}, True),
        (with_attributes(DatabaseError("x"), errno=1205, sqlstate="HY000"), 1205, "HY000", "x", {"1205"}, False),
        (DatabaseError(PG8000), 0, "40001", "could not serialize access", {"40001", "DatabaseError"}, False),
        (DatabaseError("40001", ODBC), 1205, "40001", str(("40001", ODBC)), {"1205", "40001"}, False),
        (with_attributes(DatabaseError("locked"), sqlite_errorcode=517), 5, "", "locked", {"5"}, False),
        (DatabaseError(OracleError()), 1, "", "ORA-00001: unique constraint violated", {"1", "ORA-00001"}, False),
        (DatabaseError(LostOracle()), 0, "", "ORA-00001: unique constraint violated", {"DPY-4011"}, True),
        (ValueError(), 0, "", "", {"ValueError", "Exception"}, False),
    ],
)  # fmt: skip
def test_facts(
    error: Exception, number: int, sqlstate: str, message: str, names: set[str], of_connection: bool
) -> None:
    found = facts(error)
    assert (found.number, found.sqlstate, found.of_connection) == (number, sqlstate, of_connection)
    assert found.message == f"{type(error).__name__}: {message}"
    assert names <= found.names
    assert not {"", "0"} & found.names


# -- transactions


@pytest.mark.parametrize(
    ("statement", "word"),
    [
        ("BEGIN", "begin"),
        ("start  transaction;", "begin"),
        ("Commit ;", "commit"),
        ("ROLLBACK", "rollback"),
        ("BEGIN x", None),
        ("SELECT 1", None),
        ("ROLLBACK TO SAVEPOINT a_long_name", None),
    ],
)
def test_control_word(statement: str, word: str | None) -> None:
    assert control_word(statement) == word


class Recorder:
    """A connection and its cursor that note what is done to them."""

    def __init__(self, autocommit: object = None) -> None:
        self.done: list[str] = []
        if autocommit is not None:
            self.__dict__["autocommit"] = autocommit

    def __setattr__(self, name: str, value: object) -> None:
        if name not in ("done", "__dict__"):
            self.done.append(f"{name}={value}")
        self.__dict__[name] = value

    def execute(self, statement: str) -> None:
        self.done.append(statement)

    def commit(self) -> None:
        self.done.append("commit()")

    def rollback(self) -> None:
        self.done.append("rollback()")


def life(recorder: Recorder, dialect: str) -> list[str]:
    """A statement, a transaction that commits, one that does not, and an error outside of either."""
    transactions = set_up(recorder, recorder, DIALECTS[dialect])
    for step in ("statement", "begin", "statement", "commit", "begin", "rollback"):
        if step == "statement":
            recorder.done.append("...")
            transactions.after_statement()
        else:
            transactions.control(step, step.upper())
    transactions.after_error()
    return recorder.done


BY_STATEMENT = ["...", "BEGIN", "...", "COMMIT", "BEGIN", "ROLLBACK"]


@pytest.mark.parametrize(
    ("recorder", "dialect", "done"),
    [
        (lambda: Recorder(False), "pgsql", ["autocommit=True", *BY_STATEMENT]),
        (lambda: Recorder(), "duckdb", BY_STATEMENT),
        (
            lambda: Recorder(False),
            "mssql",
            ["autocommit=True", *(each.replace("BEGIN", "BEGIN TRANSACTION") for each in BY_STATEMENT)],
        ),
        (
            lambda: Recorder(False),
            "oracle",
            [
                "autocommit=True", "...", "autocommit=False", "...", "commit()", "autocommit=True",
                "autocommit=False", "rollback()", "autocommit=True",
            ],
        ),
        (lambda: Recorder(), "pgsql", ["...", "commit()", "...", "commit()", "rollback()", "rollback()"]),
        (lambda: Recorder(), "oracle", ["...", "commit()", "...", "commit()", "rollback()", "rollback()"]),
    ],
    ids=["attribute", "always", "mssql", "oracle", "commits", "oracle commits"],
)  # fmt: skip
def test_autocommit(recorder: Callable[[], Recorder], dialect: str, done: list[str]) -> None:
    assert life(recorder(), dialect) == done


def test_autocommit_by_a_method() -> None:
    asked: list[bool] = []
    assert life(Recorder(asked.append), "mysql") == BY_STATEMENT
    assert asked == [True]


# -- dialects


def test_dialects_of_modules() -> None:
    assert {name: dialect.name for name in ("pymysql", "oracledb", "pyodbc") if (dialect := dialect_of(name))} == {
        "pymysql": "mysql",
        "oracledb": "oracle",
        "pyodbc": "mssql",
    }
    assert dialect_of("json") is None
