"""One contract for all drivers, in native and emulated statements, over every transport."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.dbapi import dbapi, dbapi_file
from tests.support.mariadb import MariaDB
from tests.support.postgres import PostgreSQL
from tests.support.reference import ours

SCRIPT = Path(__file__).parent / "lua/contract.lua"
EXPECTED = """\
create: true
insert: true
rows: <sql_result> 3 3 1,10,a;2,NULL,NULL;3,30,
end of rows: nil
free: true db_free_results() failed
no rows: 0
row: 2 nil nil
row without match: nil
percent sign: 100%s %d ?
null result: <sql_result> true
bind: 0
prepared rows: 1 2 30,
again 1: 1
again 2: 1
again 3: 1
null parameter matches nothing: 0
after null: 1
wrong number: true
put 10: true
put 11: true
put 12: true
put 13: true
put 14: true
put 15: true
stored 10: 9007199254740992 0.1 ab'c
stored 11: -5 -1e+10 back\\slash "quote" % ? $1
stored 12: nil nil nil
stored 13: 0 0 (empty)
stored 14: 1 2.5 300
stored 15: 1 1 300
random string: true
without parameters: true true
marker in string: 1
bulk: true
bulk done: true 3000
bulk next without init: db_bulk_insert_next() failed
rollback: 3000
commit: 0
syntax: SQL error, errno true
usable after an error: 1
missing table: SQL error, errno
bad prepare: SQL error, errno
unsupported type: Unsupported argument type: 8
close: true
closed statement: SQL API error: execute() of a closed statement
reconnect: true 1
statement after reconnect: true after reconnect
second connection: after reconnect
disconnect: true true
closed connection: SQL API error SQL API error
statement of a closed connection: SQL API error
connections are collected: 7
"""

Args = Callable[[pytest.FixtureRequest, Path], list[str]]


def of_server(name: str, *more: str) -> Args:
    def args(request: pytest.FixtureRequest, _tmp_path: Path) -> list[str]:
        server: MariaDB | PostgreSQL = request.getfixturevalue(name)
        return [*server.args, *more]

    return args


def sqlite(*more: str) -> Args:
    return lambda _request, tmp_path: ["--db-driver=sqlite", f"--sqlite-db={tmp_path}/contract.db", *more]


def of_dbapi(name: str, module: str, *more: str) -> Args:
    return lambda request, _tmp_path: [*dbapi(request.getfixturevalue(name), module), *more]


EMULATED = "--db-ps-mode=disable"
CASES: dict[str, Args] = {
    "mysql": of_server("mariadb"),
    "mysql emulated": of_server("mariadb", EMULATED),
    "mysql tls": of_server("mariadb_tls", "--mysql-ssl=REQUIRED"),
    "mysql compressed": of_server("mariadb", "--mysql-compression"),
    "mysql tls compressed": of_server("mariadb_tls", "--mysql-compression"),
    "pgsql": of_server("postgres"),
    "pgsql emulated": of_server("postgres", EMULATED),
    "pgsql tls": of_server("postgres_tls", "--pgsql-sslmode=require"),
    "sqlite": sqlite(),
    "sqlite emulated": sqlite(EMULATED),
    "sqlite memory": sqlite("--sqlite-db=:memory:"),
    "sqlite as pgsql": sqlite("--sqlite-dialect=pgsql"),
    "dbapi sqlite3, qmark": lambda _request, tmp_path: dbapi_file("sqlite3", tmp_path),
    "dbapi duckdb, qmark": lambda _request, tmp_path: dbapi_file("duckdb", tmp_path),
    "dbapi psycopg2, pyformat": of_dbapi("postgres", "psycopg2"),
    "dbapi PyMySQL, pyformat": of_dbapi("mariadb", "pymysql"),
    "dbapi PyMySQL emulated": of_dbapi("mariadb", "pymysql", EMULATED),
    "dbapi pg8000, format": of_dbapi("postgres", "pg8000.dbapi"),
    "dbapi pg8000, numeric": of_dbapi("postgres", "tests.support.pg8000_numeric", "--dbapi-dialect=pgsql"),
    "dbapi pg8000, named": of_dbapi("postgres", "tests.support.pg8000_named", "--dbapi-dialect=pgsql"),
}


@pytest.mark.parametrize("case", CASES)
def test_contract(case: str, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    result = ours(str(SCRIPT), *CASES[case](request, tmp_path), "prepare")
    lines = [line.removeprefix("case ") for line in result.stdout.splitlines() if line.startswith("case ")]
    assert lines == EXPECTED.splitlines(), result.stdout
    assert result.status == 0
