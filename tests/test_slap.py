"""The slap test: what it sends and reports, on every driver."""

from __future__ import annotations

import re
import signal
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from sysbench_py.sinks.json_document import read
from tests.support.mariadb import MariaDB
from tests.support.on_path import sysbench_on_path
from tests.support.postgres import PostgreSQL
from tests.support.proc import Result, Run, wait_until
from tests.support.reference import ours
from tests.support.slap import SCHEMA, add_user, driver

GENERATED = [
    *("--auto-generate-sql", "--number-int-cols=2:1", "--number-char-cols=2:1"),
    *("--auto-generate-sql-secondary-indexes=1", "--auto-generate-sql-write-number=20"),
    *("--concurrency=1,4", "--number-of-queries=80"),
]
NUMBER = r"[\d.]+"
BLOCK = re.compile(
    rf"""Benchmark
(\tRunning for engine \w+
)?\tAverage number of seconds to run all queries: {NUMBER} seconds
\tMinimum number of seconds to run all queries: {NUMBER} seconds
\tMaximum number of seconds to run all queries: {NUMBER} seconds
\tNumber of clients running queries: (?P<clients>\d+)
\tAverage number of queries per client: (?P<queries>\d+)
\tQueries per second: (?P<rate>{NUMBER})
\tLatency of a query \(ms\): min {NUMBER}, avg {NUMBER}, 50% {NUMBER}, 95% {NUMBER}, 99% {NUMBER}, max {NUMBER}
(\tIgnored errors: \d+, reconnects: \d+
)?
"""
)


def slap(*arguments: str) -> Result:
    return ours("slap", *arguments, "run")


def steps(result: Result) -> list[tuple[str, str]]:
    """(clients, queries of each) of every step of a report, and nothing but that is in it."""
    assert (result.status, result.stderr) == (0, ""), result.stdout
    head, _, report = result.stdout.partition("\n\n")
    assert head.startswith("sysbench 1.0.20")
    assert BLOCK.sub("", report) == ""
    return [(match["clients"], match["queries"]) for match in BLOCK.finditer(report)]


@pytest.fixture
def slapped(mariadb: MariaDB) -> MariaDB:
    add_user(mariadb)
    return mariadb


@pytest.mark.parametrize(
    ("load_type", "key"),
    [
        ("read", "add-autoincrement"),
        ("key", "add-autoincrement"),
        ("key", "guid-primary"),
        ("write", "add-autoincrement"),
        ("update", "guid-primary"),
        ("mixed", "guid-primary"),
    ],
)
def test_generated(request: pytest.FixtureRequest, tmp_path: Path, load_type: str, key: str) -> None:
    mysql: MariaDB = request.getfixturevalue("slapped")
    pgsql: PostgreSQL = request.getfixturevalue("postgres")
    generated = [*GENERATED, f"--auto-generate-sql-load-type={load_type}", f"--auto-generate-sql-{key}"]
    file = tmp_path / "slap.db"
    for database in (driver(mysql), pgsql.args, ["--db-driver=sqlite", f"--sqlite-db={file}"]):
        assert steps(slap(*database, *generated)) == [("1", "80"), ("4", "20")]
    assert mysql.sql(f"SHOW SCHEMAS LIKE '{SCHEMA}'") == []
    assert pgsql.sql(f"SELECT 1 FROM pg_namespace WHERE nspname = '{SCHEMA}'") == []
    assert objects_in(file) == []


def objects_in(file: Path) -> list[str]:
    with closing(sqlite3.connect(file)) as connection:
        return sorted(name for (name,) in connection.execute("SELECT name FROM sqlite_master"))


def test_generated_without_a_key(slapped: MariaDB, postgres: PostgreSQL, tmp_path: Path) -> None:
    generated = ["--auto-generate-sql", "--auto-generate-sql-load-type=update", "--concurrency=2", "--commit=3"]
    for database in (driver(slapped), postgres.args, ["--db-driver=sqlite", f"--sqlite-db={tmp_path / 'slap.db'}"]):
        assert steps(slap(*database, *generated)) == [("2", "11")]
    assert steps(slap("--db-driver=null", *generated)) == [("2", "11")]


def test_what_the_server_sees(slapped: MariaDB, tmp_path: Path) -> None:
    with slapped.query_log() as entries:
        result = slap(
            *driver(slapped),
            *("--auto-generate-sql", "--auto-generate-sql-load-type=key", "--auto-generate-sql-guid-primary"),
            *("--auto-generate-sql-write-number=3", "--number-of-queries=4", "--commit=2", "--detach=3"),
            *("--pre-query=SET @before = 1", "--post-query=SET @after = 1", "--init-command=SET @first = 1"),
            *(f"--pre-system=echo before > {tmp_path}/out", f"--post-system=echo after >> {tmp_path}/out"),
        )
    assert steps(result) == [("1", "4")]
    assert (tmp_path / "out").read_text() == "before\nafter\n"
    seen: dict[int, list[str]] = {}
    for entry in entries:
        text = re.sub(r"'[\w-]+'", "'S'", re.sub(r"\(uuid\(\),.*", "(...)", entry.text))
        seen.setdefault(entry.connection, []).append(text if entry.command == "Query" else entry.command)
    control, client, anew = seen.values()
    assert control == [
        "Connect",
        f"CREATE SCHEMA `{SCHEMA}`",
        f"use {SCHEMA}",
        "CREATE TABLE `t1` (id varchar(36) primary key,intcol1 INT(32) ,charcol1 VARCHAR(128))",
        *2 * ["INSERT INTO t1 VALUES (...)"],
        "SELECT id from t1",
        "SET @before = 1",
        "SET @after = 1",
        f"DROP SCHEMA IF EXISTS `{SCHEMA}`",
        "Quit",
    ]
    begin = ["Connect", f"use {SCHEMA}", "SET @first = 1", "SET AUTOCOMMIT=0"]
    query = "SELECT intcol1,charcol1 FROM t1 WHERE id =  'S'"
    assert client == [*begin, query, query, "COMMIT", query, "Quit"]
    assert anew == [*begin, query, "COMMIT", "COMMIT", "Quit"]


def test_keys_are_those_of_rows(slapped: MariaDB) -> None:
    """Every query of the load type key finds a row."""
    by_key = ["--auto-generate-sql", "--auto-generate-sql-load-type=key", "--auto-generate-sql-add-autoincrement"]
    with slapped.query_log() as entries:
        assert steps(slap(*driver(slapped), *by_key, "--auto-generate-sql-write-number=6", "--number-of-queries=60"))
    asked = {match[1] for entry in entries if (match := re.search(r"WHERE id =  '(\d+)'", entry.text))}
    assert asked == {"1", "2", "3", "4", "5"}


def test_given_queries(slapped: MariaDB, postgres: PostgreSQL, tmp_path: Path) -> None:
    (tmp_path / "q.sql").write_text("INSERT INTO a VALUES (1)|SELECT COUNT(*) FROM a|\n")
    given = [f"--query={tmp_path / 'q.sql'}", "--create=CREATE TABLE a (i int)", "--delimiter=|", "--concurrency=3"]
    for database in (driver(slapped), postgres.args, ["--db-driver=sqlite", f"--sqlite-db={tmp_path / 'slap.db'}"]):
        assert steps(slap(*database, *given, "--number-of-queries=9")) == [("3", "3")]
        assert steps(slap(*database, "--query=SELECT 1")) == [("1", "1")]
    assert objects_in(tmp_path / "slap.db") == []


def test_what_was_there_before_stays(postgres: PostgreSQL, tmp_path: Path) -> None:
    file = tmp_path / "slap.db"
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("CREATE TABLE mine (i int)")
    sqlite = ["--db-driver=sqlite", f"--sqlite-db={file}"]
    assert steps(slap(*sqlite, "--auto-generate-sql")) == [("1", "11")]
    assert objects_in(file) == ["mine"]
    failed = slap(*sqlite, "--query=SELECT 1", "--create=CREATE TABLE mine (i int)")
    assert (failed.status, failed.stdout.count("FATAL")) == (1, 1)
    assert objects_in(file) == ["mine"]
    postgres.sql("CREATE SCHEMA mine")
    failed = slap(*postgres.args, "--auto-generate-sql", "--create-schema=mine")
    assert "FATAL: schema 'mine' exists, and slap uses and drops only what it made itself (" in failed.stdout
    assert postgres.sql("DROP SCHEMA mine RESTRICT") == []


def test_no_drop(slapped: MariaDB) -> None:
    assert steps(slap(*driver(slapped), "--auto-generate-sql", "--auto-generate-sql-write-number=8", "--no-drop"))
    # Six of eleven mixed queries write.
    assert slapped.sql("SELECT COUNT(*) FROM t1", SCHEMA) == [(7 + 6,)]
    slapped.sql(f"DROP SCHEMA {SCHEMA}")


def test_lost_connection(slapped: MariaDB) -> None:
    """One that is made anew is in the schema again."""
    statements = ["--query=SELECT COUNT(*) FROM a;DO SLEEP(1)", "--create=CREATE TABLE a (i int)", "--delimiter=;"]
    arguments = [*driver(slapped), *statements, "--number-of-queries=8", "--mysql-ignore-errors=all"]
    asleep = "SELECT id FROM information_schema.processlist WHERE info = 'DO SLEEP(1)'"
    with ours.start("slap", *arguments, "run") as run:
        wait_until(lambda: _killed(slapped, asleep), "the end of the connection")
        result = run.result()
    assert steps(result) == [("1", "8")]
    assert "\tIgnored errors: 0, reconnects: 1\n" in result.stdout


def _killed(server: MariaDB, query: str) -> bool:
    for (number,) in server.sql(query):
        server.sql(f"KILL {number}")
        return True
    return False


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("when", ["query", "pre-query"])
def test_interrupted(slapped: MariaDB, number: signal.Signals, when: str) -> None:
    slow = "SELECT SLEEP(0.05)"
    statements = {"query": "SELECT 1", "pre-query": "SELECT 1"} | {when: ";".join(1000 * [slow])}
    arguments = [f"--{name}={text}" for name, text in statements.items()]
    with ours.start(
        "slap", *driver(slapped), *arguments, "--create=CREATE TABLE a (i int)", "--delimiter=;", "run"
    ) as run:
        asleep = f"SELECT 1 FROM information_schema.processlist WHERE info = '{slow}'"
        wait_until(lambda: bool(slapped.sql(asleep)), "the query")
        run.process.send_signal(number)
        result = run.result()
    assert result.status == 128 + number
    assert result.stdout.count(f"FATAL: interrupted by {number.name}") == 1
    assert slapped.sql(f"SHOW SCHEMAS LIKE '{SCHEMA}'") == []


def test_usual_outputs(slapped: MariaDB, tmp_path: Path) -> None:
    arguments = [*driver(slapped), "--query=SELECT SLEEP(0.4)", "--number-of-queries=6", "--concurrency=2"]
    result = slap(
        *arguments, "--report-interval=1", "--histogram", "--percentile=90,99.9", f"--output=json:{tmp_path}/r.json"
    )
    assert result.status == 0
    assert re.search(r"^\[ 1s \] thds: 2 tps: ", result.stdout, re.MULTILINE)
    rows = re.findall(r"^ +(\d+\.\d+) \|[* ]+ (\d+)$", result.stdout.partition(" distribution ")[2], re.MULTILINE)
    # A bucket has the name of its middle, which may be below what is in it.
    assert all(float(latency) > 390 for latency, _ in rows)
    assert sum(int(count) for _, count in rows) == 6
    # However slow the machine is, they are not quicker than their sleep.
    found = re.search(r"\tQueries per second: (.*)\n\tLatency .* 90% (.*), 99\.9% (.*), max", result.stdout)
    assert found and 0 < float(found[1]) <= 5
    saved = read((tmp_path / "r.json").read_bytes()).total.latency.percentiles
    assert [f"{each.latency_ns / 1e6:.2f}" for each in saved] == [found[2], found[3]]
    several = slap(*arguments, "--iterations=2", f"--output=json:{tmp_path}/s.json")
    assert several.stdout.endswith("FATAL: --output takes the results of one run (use one step and --iterations=1)\n")


def test_rows_are_the_same_in_every_run_unless_asked() -> None:
    arguments = ["--auto-generate-sql", "--only-print"]
    first, again = slap(*arguments), slap(*arguments)
    assert first == again
    assert slap(*arguments, "--rand-seed=7").stdout != first.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("--auto-generate-sql --threads=4", "--threads is not for the slap test (use --concurrency)"),
        ("--auto-generate-sql --time=4", "--time is not for the slap test (use --number-of-queries)"),
        ("--auto-generate-sql --db-driver=sqlite --engine=innodb", "--engine=innodb is for MySQL and MariaDB only"),
        (
            "--auto-generate-sql --db-driver=sqlite --create-schema=x",
            "--create-schema=x is not for SQLite (name a file with --sqlite-db)",
        ),
        (
            "--auto-generate-sql --db-driver=none",
            "invalid database driver name: 'none' (use mysql, pgsql, sqlite, dbapi, null)",
        ),
        (
            "--query=x --db-driver=dbapi",
            "the slap test does not run on --db-driver=dbapi (use mysql, pgsql, sqlite, null)",
        ),
        (
            "--auto-generate-sql --auto-generate-sql-write-number=1 --auto-generate-sql-guid-primary",
            "Invalid value for --auto-generate-sql-write-number: '1' (use at least 2, as queries look for a row)",
        ),
        (
            "--auto-generate-sql --db-driver=null --auto-generate-sql-guid-primary",
            "the table has no rows whose keys the queries could use",
        ),
        ("--query=x --db-driver=sqlite --pre-system=false", "--pre-system 'false' ended with status 1"),
    ],
)
def test_mistakes(arguments: str, message: str, tmp_path: Path) -> None:
    result = ours("slap", *arguments.split(), "run", cwd=tmp_path)
    assert (result.status, result.stderr) == (1, "")
    assert result.stdout.partition("\n\n")[2] == f"FATAL: {message}\n"


COLUMNS = "(--number-int-cols, --number-char-cols, --auto-generate-sql-secondary-indexes)"
LONG = "9" * 5000
PREFIX = "--auto-generate-sql"


@pytest.mark.parametrize(
    ("driver_name", "option", "message"),
    [
        (
            "null",
            "--number-int-cols=99999",
            "'99999' (use a number of columns from 0 to 4096, N:1 if they have indexes)",
        ),
        ("null", f"--number-char-cols={LONG}", "(use a number of columns from 0 to 4096, N:1 if they have indexes)"),
        ("null", f"--number-char-cols=1:{LONG}", "(use a number of columns from 0 to 4096, N:1 if they have indexes)"),
        ("null", "--number-int-cols=4096", f"4097 columns, and a table of null has 4096 at most {COLUMNS}"),
        (
            "mysql",
            "--number-int-cols=64:1 --number-char-cols=1:1",
            "65 indexes, and a table of mysql has 64 at most ",
        ),
        ("pgsql", "--number-char-cols=1600", f"1601 columns, and a table of pgsql has 1600 at most {COLUMNS}"),
        (
            "sqlite",
            f"{PREFIX}-secondary-indexes=1999",
            "2001 columns, and a table of sqlite has 2000 at most ",
        ),
        ("null", f"{PREFIX}-secondary-indexes=5000", "'5000' (use a number from 0 to 4096)"),
        ("null", f"{PREFIX}-write-number=2000000000", "'2000000000' (use a number from 1 to 10000000)"),
        ("null", f"{PREFIX}-unique-write-number=2000000000", "'2000000000' (use a number from 1 to 10000000)"),
        ("null", f"{PREFIX}-unique-query-number=2000000000", "'2000000000' (use a number from 0 to 10000000)"),
        ("null", f"--concurrency={LONG}", "(use numbers from 1 to 2147483647, with commas between them)"),
        ("null", "--commit=99999999999", "'99999999999' (use a whole number from -2147483648 to 2147483647)"),
    ],
    ids=lambda value: value[:40],
)
def test_numbers_that_are_too_large(driver_name: str, option: str, message: str) -> None:
    result = ours("slap", f"--db-driver={driver_name}", PREFIX, *option.split(), "run")
    assert (result.status, result.stderr.count("\n") + result.stdout.partition("\n\n")[2].count("\n")) == (1, 1)
    assert (result.stdout + result.stderr).endswith(f"{message}{COLUMNS if message.endswith(' ') else ''}\n")


def test_example(tmp_path: Path) -> None:
    example = Path(__file__).parent.parent / "examples" / "slap.sh"
    with Run("sh", str(example), str(tmp_path / "slap.db"), env=sysbench_on_path(tmp_path)) as run:
        result = run.result()
    generated, own = (part.partition("\n\n")[2] for part in result.stdout.split("sysbench 1.0.20")[1:])
    assert (result.status, result.stderr) == (0, "")
    assert [match["clients"] for match in BLOCK.finditer(generated)] == ["1", "4"]
    assert [match["queries"] for match in BLOCK.finditer(own)] == ["500"]
    assert objects_in(tmp_path / "slap.db") == []


def test_help_lists_the_options() -> None:
    assert "  --auto-generate-sql-load-type=STRING " in ours("slap", "help").stdout
