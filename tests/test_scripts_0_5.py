"""The scripts of sysbench 0.5 as they come with this program: what they send, and how their names find them."""

import re
from pathlib import Path

import pytest

from tests.support.mariadb import MariaDB
from tests.support.proc import Result
from tests.support.querylog import Entry
from tests.support.reference import ours, report
from tests.support.server import Server

DB = "/usr/share/doc/sysbench/tests/db"
SIZE = ("--oltp-table-size=200", "--oltp-tables-count=2")
POINT = "SELECT c FROM sbtestN WHERE id=N"
UPDATE_INDEX = "UPDATE sbtestN SET k=k+N WHERE id=N"
UPDATE_NON_INDEX = "UPDATE sbtestN SET c=S WHERE id=N"
DELETE = "DELETE FROM sbtestN WHERE id=N"
READS = [
    *[POINT] * 10,
    "SELECT c FROM sbtestN WHERE id BETWEEN N AND N",
    "SELECT SUM(K) FROM sbtestN WHERE id BETWEEN N AND N",
    "SELECT c FROM sbtestN WHERE id BETWEEN N AND N ORDER BY c",
    "SELECT DISTINCT c FROM sbtestN WHERE id BETWEEN N AND N ORDER BY c",
]
INSERT = "INSERT INTO sbtestN (id, k, c, pad) VALUES (N, N, S, S)"
WRITES = [UPDATE_INDEX, UPDATE_NON_INDEX, DELETE, INSERT]

# What an event of a script sends, with these options; that of insert.lua depends on the database.
EVENTS: dict[tuple[str, str], list[str]] = {
    ("oltp", ""): ["BEGIN", *READS, *WRITES, "COMMIT"],
    ("oltp", "--oltp-read-only=on"): ["BEGIN", *READS, "COMMIT"],
    ("oltp", "--oltp-write-only=on --oltp-skip-trx=on"): WRITES,
    (
        "oltp",
        "--oltp_range_selects=off --oltp_point_selects=2 --oltp_index_updates=2 --oltp_non_index_updates=0"
        " --oltp_delete_inserts=0",
    ): ["BEGIN", POINT, POINT, UPDATE_INDEX, UPDATE_INDEX, "COMMIT"],
    ("oltp_simple", ""): [POINT],
    ("select", ""): ["SELECT pad FROM sbtestN WHERE id=N"],
    ("update_index", ""): [UPDATE_INDEX],
    ("update_non_index", ""): [UPDATE_NON_INDEX],
    ("delete", ""): [DELETE],
    ("insert", "--oltp-auto-inc=off"): [INSERT],
    ("select_random_points", "--random-points=3"): ["SELECT id, k, c, pad FROM sbtestN WHERE k IN (N, N, N)"],
    ("select_random_ranges", "--number-of-ranges=2 --delta=7"): [
        "SELECT count(k) FROM sbtestN WHERE k BETWEEN N AND N OR k BETWEEN N AND N"
    ],
}


def script(name: str, database: list[str], *options: str) -> Result:
    result = ours(f"--test={DB}/{name}.lua", *database, *SIZE, *options)
    assert result.status == 0, result.stdout + result.stderr
    return result


def sent(log: list[Entry]) -> list[str]:
    """The statements that were executed, numbers and texts left open."""
    texts = [re.sub(r"^s\d+: | \[.*\]$", "", entry.text) for entry in log if entry.command in ("Query", "Execute")]
    return [re.sub(r"\$\d+|\d+", "N", re.sub(r"'[^']*'", "S", text)) for text in texts]


def test_statements_of_each_script(server: Server) -> None:
    script("oltp", server.args, "prepare")
    seen = {}
    for name, options in EVENTS:
        with server.query_log() as log:
            script(name, server.args, *options.split(), "--max-requests=1", "run")
        seen[name, options] = sent(log)
    assert seen == EVENTS


def test_insert_with_generated_ids(database: list[str]) -> None:
    script("oltp", database, "prepare")
    values = report(script("insert", database, "--num-threads=4", "--max-requests=100", "run").stdout)
    assert (values["write"], values["total"]) == (100, 100)


def test_prepare_and_cleanup(server: Server) -> None:
    prepared = script("oltp", server.args, "prepare")
    for number in (1, 2):
        assert (
            f"Creating table 'sbtest{number}'...\nInserting 200 records into 'sbtest{number}'\n"
            f"Creating secondary indexes on 'sbtest{number}'...\n"
        ) in prepared.stdout
        row = server.sql(f"SELECT COUNT(*), MAX(id), MIN(length(c)), MIN(length(pad)) FROM sbtest{number}")[0]
        assert row == (200, 200, 119, 59)
    assert (
        "Dropping table 'sbtest1'...\nDropping table 'sbtest2'...\n" in script("select", server.args, "cleanup").stdout
    )
    script("oltp", server.args, "--oltp-auto-inc=off", "--oltp-create-secondary=off", "prepare")
    assert server.sql("SELECT COUNT(*), MAX(id) FROM sbtest2")[0] == (200, 200)


def test_tables_of_mariadb(mariadb: MariaDB) -> None:
    mariadb.empty_database()
    options = ("--mysql-table-engine=myisam", "--myisam-max-rows=500", "--mysql-table-options=CHECKSUM=1")
    with mariadb.query_log() as log:
        script("oltp", mariadb.args, *options, "prepare")
    create = next(" ".join(entry.text.split()) for entry in log if entry.text.startswith("CREATE TABLE"))
    assert create == (
        "CREATE TABLE sbtest1 ( id INTEGER UNSIGNED NOT NULL AUTO_INCREMENT, k INTEGER UNSIGNED DEFAULT '0' NOT NULL,"
        " c CHAR(120) DEFAULT '' NOT NULL, pad CHAR(60) DEFAULT '' NOT NULL, PRIMARY KEY (id) )"
        " /*! ENGINE = myisam MAX_ROWS = 500 */ CHECKSUM=1"
    )
    with mariadb.query_log() as log:
        script("oltp", mariadb.args, *options, "--max-requests=1", "run")
    locked = ["LOCK TABLES sbtestN WRITE, sbtestN WRITE", *READS, *WRITES, "UNLOCK TABLES"]
    assert sent(log) == locked


def test_parallel_prepare(database: list[str]) -> None:
    """As people call it: with as many requests as threads, with none said, and by `prepare`."""
    six = ("--oltp-tables-count=6", "--oltp-auto-inc=off", "--mysql-table-engine=innodb")
    for command in (("--num-threads=4", "--max-requests=4", "run"), ("--num-threads=8", "run"), ("prepare",)):
        made = script("parallel_prepare", database, *six, *command).stdout
        assert sorted(re.findall(r"^Inserting 200 records into '(\w+)'$", made, re.MULTILINE)) == [
            f"sbtest{number}" for number in range(1, 7)
        ]
        script("parallel_prepare", database, *six, "cleanup")


def test_bulk_insert(database: list[str]) -> None:
    result = script("bulk_insert", database, "--num-threads=3", "--max-requests=5000", "prepare", "run", "cleanup")
    assert re.findall(r"'(sbtest\d)'", result.stdout) == ["sbtest0", "sbtest1", "sbtest2"] * 2
    values = report(result.stdout.partition("Dropping")[0])
    assert values["events"] == 5000
    assert 1 <= values["write"] <= 3


def test_every_script_on_sqlite(tmp_path: Path) -> None:
    database = ["--db-driver=sqlite", f"--sqlite-db={tmp_path / 'test.db'}"]
    script("oltp", database, "prepare")
    for name, options in EVENTS:
        result = script(name, database, *options.split(), "--max-requests=20", "run")
        assert report(result.stdout)["events"] == 20


def test_default_limit_is_that_of_0_5(tmp_path: Path) -> None:
    database = ["--db-driver=sqlite", f"--sqlite-db={tmp_path / 'test.db'}"]
    result = script("select", database, "prepare", "run")
    assert report(result.stdout)["events"] == 10000
    timed = report(script("select", database, "--max-requests=0", "--max-time=1", "--rand-init=on", "run").stdout)
    assert timed["total_time_s"] >= 1


@pytest.mark.parametrize(
    ("options", "line"),
    [
        ("--oltp-table-size=x", "Invalid value for --oltp-table-size: 'x' (use a whole number, at least 1)"),
        ("--oltp-tables-count=0", "Invalid value for --oltp-tables-count: '0' (use a whole number, at least 1)"),
        ("--oltp-auto-inc=no", "Invalid value for --oltp-auto-inc: 'no' (use on or off)"),
        (
            "--oltp-read-only=on --oltp-write-only=on",
            "--oltp-read-only and --oltp-write-only are mutually exclusive",
        ),
        ("--pgsql-variant=x", "Invalid value for --pgsql-variant: 'x' (the only one is redshift)"),
        (
            "--sqlite-dialect=sqlite --oltp-secondary=on",
            "--oltp-secondary is for --db-driver=mysql only: sqlite has no KEY clause in CREATE TABLE",
        ),
    ],
)
def test_bad_input(options: str, line: str) -> None:
    arguments = ["--test=oltp.lua", "--db-driver=sqlite", "--sqlite-db=:memory:", *options.split(), "--verbosity=0"]
    result = ours(*arguments, "run")
    assert result.stdout.startswith(f"FATAL: `thread_init' function failed: {line}\n")
    assert result.status == 1


def test_options_that_no_script_reads_are_told(tmp_path: Path) -> None:
    database = ["--db-driver=sqlite", f"--sqlite-db={tmp_path / 'test.db'}"]
    result = script("oltp", database, "--mysql-engine-trx=yes", "--oltp-range-size=7", "prepare")
    assert "--mysql-engine-trx is unknown, and oltp.lua does not read it either" in result.stderr
    assert "range-size" not in result.stderr
