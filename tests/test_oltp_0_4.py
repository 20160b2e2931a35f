"""`--test=oltp`, the test of sysbench 0.4: what each mode sends, as the servers' own logs show it."""

import re
from pathlib import Path
from typing import Any

import pytest

from tests.support.compat import compat
from tests.support.mariadb import MariaDB
from tests.support.postgres import PostgreSQL
from tests.support.proc import Result
from tests.support.querylog import Entry
from tests.support.reference import ours, report
from tests.support.server import Server

POINT = "SELECT c from sbtest where id=N"
RANGES = [
    "SELECT c from sbtest where id between N and N",
    "SELECT SUM(K) from sbtest where id between N and N",
    "SELECT c from sbtest where id between N and N order by c",
    "SELECT DISTINCT c from sbtest where id between N and N order by c",
]
UPDATE_KEY = "UPDATE sbtest set k=k+N where id=N"
UPDATE_NOKEY = "UPDATE sbtest set c=S where id=N"
DELETE = "DELETE from sbtest where id=N"
INSERT_AGAIN = "INSERT INTO sbtest (id, k, c, pad) values (N,N,S,S)"
READS = [POINT] * 10 + RANGES
WRITES = [UPDATE_KEY, UPDATE_NOKEY, UPDATE_KEY, DELETE, INSERT_AGAIN]


def transaction(*statements: str) -> list[str]:
    return ["BEGIN", *statements, "COMMIT"]


# What one event sends with these options; the texts in which databases differ are in the tests.
EVENTS: dict[str, list[str]] = {
    "": transaction(*READS, *WRITES),
    "--oltp-test-mode=complex --oltp-read-only": transaction(*READS),
    "--oltp-write-only=on": transaction(*WRITES),
    "--oltp-skip-trx": READS + WRITES,
    "--oltp-range-selects=off": transaction(*[POINT] * 10, *WRITES),
    "--oltp-point-selects=2 --oltp-simple-ranges=0 --oltp-sum-ranges=2 --oltp-order-ranges=0 --oltp-distinct-ranges=0 "
    "--oltp-index-updates=2 --oltp-non-index-updates=0 --oltp-delete-inserts=0": transaction(
        POINT, POINT, RANGES[1], RANGES[1], UPDATE_KEY, UPDATE_KEY
    ),
    "--oltp-test-mode=simple": [POINT],
    "--oltp-test-mode=simple --oltp-point-select-all-cols": ["SELECT id, k, c, pad from sbtest where id=N"],
    "--oltp-test-mode=nontrx": ["SELECT pad from sbtest where id=N"],
    "--oltp-test-mode=nontrx --oltp-nontrx-mode=update_key": [UPDATE_KEY],
    "--oltp-test-mode=nontrx --oltp-nontrx-mode=update_nokey": [UPDATE_NOKEY],
    "--oltp-test-mode=nontrx --oltp-nontrx-mode=delete": [DELETE],
    "--oltp-test-mode=nontrx --oltp-nontrx-mode=insert --oltp-auto-inc=off": [
        "TRUNCATE TABLE sbtest",
        "INSERT INTO sbtest (id, k, c, pad) values (N,N,S,S)",
    ],
}


def oltp(database: list[str], *options: str) -> Result:
    result = ours("--test=oltp", *database, "--oltp-table-size=200", "--oltp-connect-delay=0", *options)
    assert result.status == 0, result.stdout + result.stderr
    return result


def sent(log: list[Entry]) -> list[str]:
    """The statements that were executed, numbers and texts left open."""
    statements = []
    for entry in log:
        if entry.command in ("Query", "Execute"):
            text = re.sub(r"^s\d+: | \[.*\]$", "", entry.text)
            # What PostgreSQL calls a parameter is a number unless it is compared with no number.
            text = re.sub(r"c=\$1\b|,\$\d+,\$\d+\)$", lambda match: re.sub(r"\$\d+", "S", match[0]), text)
            statements.append(re.sub(r"\$\d+|\b\d+\b", "N", re.sub(r"'[^']*'", "S", text)))
    return statements


def logged(server: Server, *options: str) -> list[str]:
    with server.query_log() as log:
        oltp(server.args, *options, "run")
    return sent(log)


def test_statements_of_each_mode(server: Server) -> None:
    oltp(server.args, "prepare")
    seen = {options: logged(server, *options.split(), "--max-requests=1") for options in EVENTS}
    assert seen == EVENTS


def test_generated_ids(server: Server) -> None:
    oltp(server.args, "prepare")
    insert = logged(server, "--oltp-test-mode=nontrx", "--oltp-nontrx-mode=insert", "--max-requests=3")
    generated = "(id, k, c, pad) values (NULL,N,S,S)" if isinstance(server, MariaDB) else "(k, c, pad) values (N,S,S)"
    assert insert == ["TRUNCATE TABLE sbtest", *[f"INSERT INTO sbtest {generated}"] * 3]
    assert server.sql("SELECT COUNT(*), COUNT(DISTINCT id), COUNT(DISTINCT c) FROM sbtest")[0] == (3, 3, 3)


def test_without_prepared_statements(server: Server) -> None:
    oltp(server.args, "prepare")
    plain = ("--db-ps-mode=disable", "--max-requests=1")
    assert logged(server, *plain) == transaction(*READS, *WRITES)
    inserted = report(oltp(server.args, *plain, "--oltp-test-mode=nontrx", "--oltp-nontrx-mode=insert", "run").stdout)
    assert inserted["write"] == 1


def test_prepared_table_of_mariadb(mariadb: MariaDB) -> None:
    mariadb.empty_database()
    with mariadb.query_log() as log:
        result = oltp(
            mariadb.args, "--mysql-table-engine=MyISAM", "--myisam-max-rows=5000", "--mysql-create-options=CHECKSUM=1",
            "--oltp-table-name=other", "prepare",
        )  # fmt: skip
    assert "Creating table 'other'...\nCreating 200 records in table 'other'...\n" in result.stdout
    create, index, insert = [entry.text for entry in log if entry.command == "Query"]
    assert " ".join(create.split()) == (
        "CREATE TABLE other ( id INTEGER UNSIGNED NOT NULL AUTO_INCREMENT, k integer UNSIGNED DEFAULT '0' NOT NULL,"
        " c char(120) DEFAULT '' NOT NULL, pad char(60) DEFAULT '' NOT NULL, PRIMARY KEY (id) )"
        " CHECKSUM=1 /*! ENGINE=myisam MAX_ROWS=5000 */"
    )
    assert index == "CREATE INDEX k ON other(k)"
    row = "(0,' ','qqqqqqqqqqwwwwwwwwwweeeeeeeeeerrrrrrrrrrtttttttttt')"
    assert insert == f"INSERT INTO other(k, c, pad) VALUES {','.join([row] * 200)}"
    engine = mariadb.sql("SELECT engine FROM information_schema.tables WHERE table_name = 'other'")
    assert engine[0][0] == "MyISAM"
    dropped = oltp(mariadb.args, "--oltp-table-name=other", "--verbosity=4", "cleanup")
    assert dropped.stdout.endswith("Dropping table 'other'...\nDone.\n")
    assert mariadb.sql("SHOW TABLES") == []


def test_prepared_rows_and_blocks_of_them(database: list[str], tmp_path: Path) -> None:
    size = "--oltp-table-size=25000"
    for options in ((), ("--oltp-auto-inc=off",)):
        oltp(database, size, *options, "prepare")
        check = tmp_path / "check.lua"
        check.write_text(
            "function help() print(sysbench.sql.driver():connect():query_row('SELECT COUNT(*), MIN(id), MAX(id), "
            "SUM(k), COUNT(DISTINCT c), MIN(length(pad)) FROM sbtest')) end"
        )
        rows = ours(str(check), "--verbosity=0", *database, "help").stdout
        assert rows == "25000\t1\t25000\t0\t1\t50\n"
        oltp(database, size, *options, "cleanup")


def test_engine_without_transactions(mariadb: MariaDB) -> None:
    """Tables are locked instead, and --mysql-engine-trx says so of engines that are not known."""
    mariadb.empty_database()
    engine = "--mysql-table-engine=myisam"
    oltp(mariadb.args, engine, "prepare")
    locked = ["LOCK TABLES sbtest WRITE", *READS, *WRITES, "UNLOCK TABLES"]
    assert logged(mariadb, engine, "--max-requests=1") == locked
    read_locked = ["LOCK TABLES sbtest READ", *READS, "UNLOCK TABLES"]
    assert logged(mariadb, engine, "--oltp-read-only", "--max-requests=1") == read_locked
    assert logged(mariadb, "--mysql-engine-trx=no", "--max-requests=1") == locked
    assert logged(mariadb, engine, "--mysql-engine-trx=yes", "--max-requests=1") == transaction(*READS, *WRITES)
    assert logged(mariadb, "--mysql-table-engine=x", "--mysql-engine-trx=no", "--max-requests=1") == locked


def test_handler_and_secondary_key(mariadb: MariaDB) -> None:
    mariadb.empty_database()
    oltp(mariadb.args, "--oltp-auto-inc=off", "--oltp-secondary", "prepare")
    key = mariadb.sql("SHOW KEYS FROM sbtest WHERE column_name = 'id'")
    assert (key[0][2], key[0][1]) == ("xid", 1)
    options = ("--oltp-point-select-mysql-handler", "--max-requests=1")
    expected = ["HANDLER sbtest OPEN", "HANDLER sbtest READ xid=(N)", "HANDLER sbtest CLOSE"]
    simple = ("--oltp-test-mode=simple", *options)
    assert logged(mariadb, "--oltp-auto-inc=off", "--oltp-secondary", *simple) == expected
    mariadb.empty_database()
    oltp(mariadb.args, "prepare")
    reads = ["HANDLER sbtest OPEN", *["HANDLER sbtest READ `PRIMARY`=(N)"] * 10, "HANDLER sbtest CLOSE", *RANGES]
    assert logged(mariadb, "--oltp-read-only", *options) == transaction(*reads)
    assert report(oltp(mariadb.args, *simple, "--max-requests=30", "run").stdout)["read"] == 30


def test_stored_procedure(server: Server) -> None:
    server.sql("CREATE TABLE called (thread BIGINT, threads BIGINT)")
    if isinstance(server, PostgreSQL):
        server.sql("CREATE PROCEDURE note(a BIGINT, b BIGINT) LANGUAGE sql AS 'INSERT INTO called VALUES (a, b)'")
        server.sql("GRANT ALL ON called TO sbtest")
    else:
        server.sql("CREATE PROCEDURE note(a BIGINT, b BIGINT) INSERT INTO called VALUES (a, b)")
    result = oltp(
        server.args, "--oltp-test-mode=sp", "--oltp-sp-name=note", "--num-threads=3", "--max-requests=60", "run"
    )
    assert "Running stored procedure test\nRunning the test with" in result.stdout
    rows = server.sql("SELECT thread, threads, COUNT(*) FROM called GROUP BY thread, threads")
    assert {row[0] for row in rows} <= {0, 1, 2}
    assert ({row[1] for row in rows}, sum(row[2] for row in rows)) == ({3}, 60)


def connections(server: Server, *options: str) -> list[list[str]]:
    """What was executed in each connection of ten events."""
    with server.query_log() as log:
        oltp(server.args, *options, "--max-requests=10", "run")
    found: dict[int, list[Entry]] = {}
    for entry in log:
        found.setdefault(entry.connection, []).append(entry)
    return [sent(entries) for entries in found.values()]


def test_reconnect_modes(server: Server) -> None:
    oltp(server.args, "prepare")
    whole = transaction(*READS, *WRITES)
    assert connections(server) == [whole * 10]
    # The last connection is made after the last transaction.
    assert connections(server, "--oltp-reconnect-mode=transaction") == [*[whole] * 10, []]
    few = ("--oltp-range-selects=off", "--oltp-point-selects=1", "--oltp-non-index-updates=0")
    by_query = connections(server, *few, "--oltp-reconnect-mode=query")
    tail = [DELETE, INSERT_AGAIN, "COMMIT"]
    event = [["BEGIN", POINT], [UPDATE_KEY], [UPDATE_KEY], tail]
    assert by_query[:3] == event[:3]
    assert by_query[3] == [*tail, "BEGIN", POINT]
    assert len(by_query) == 31
    simple = connections(server, "--oltp-test-mode=simple", "--oltp-reconnect-mode=query")
    assert simple == [*[[POINT]] * 10, []]


@compat("old-oltp")
def test_random_reconnects_are_counted(database: list[str]) -> None:
    oltp(database, "prepare")
    result = oltp(database, "--oltp-reconnect-mode=random", "--max-requests=20", "run")
    # A third of the transactions does so once, another third after each of 17 queries.
    assert 20 < report(result.stdout)["reconnects"] < 20 * 17
    simple = oltp(database, "--oltp-reconnect-mode=random", "--oltp-test-mode=simple", "--max-requests=60", "run")
    assert 10 < report(simple.stdout)["reconnects"] < 50


def test_mix_of_a_transaction(database: list[str]) -> None:
    """14 reads, 5 writes and 2 others, with the 10000 transactions that were the default."""
    oltp(database, "prepare")
    values = report(oltp(database, "--max-requests=50", "run").stdout)
    assert (values["read"], values["write"], values["other"]) == (14 * 50, 5 * 50, 2 * 50)
    assert (values["transactions"], values["events"]) == (50, 50)


def test_default_limits_and_seed(tmp_path: Path) -> None:
    database = ["--db-driver=sqlite", f"--sqlite-db={tmp_path / 'test.db'}", "--oltp-test-mode=simple"]
    result = oltp(database, "--num-threads=2", "prepare", "run")
    assert "Maximum number of requests for OLTP test is limited to 10000\n" in result.stdout
    assert "Initializing random number generator from seed (1).\n" in result.stdout
    assert report(result.stdout)["events"] == 10000
    timed = oltp(database, "--max-requests=0", "--max-time=1", "--init-rng=on", "run").stdout
    assert "Maximum number" not in timed
    assert "Initializing random number generator from current time\n" in timed
    assert report(timed)["total_time_s"] >= 1
    seeded = oltp(database, "--seed-rng=42", "--max-requests=5", "--tx-jitter=3", "run").stdout
    assert "Initializing random number generator from seed (42).\n" in seeded
    assert seeded.startswith("WARNING: --tx-jitter has no effect")


@pytest.mark.parametrize("kind", ["uniform", "gaussian", "special"])
def test_distributions(mariadb: MariaDB, kind: str) -> None:
    mariadb.empty_database()
    oltp(mariadb.args, "prepare")
    with mariadb.query_log() as log:
        oltp(mariadb.args, "--oltp-test-mode=simple", f"--oltp-dist-type={kind}", "--oltp-dist-pct=10",
             "--oltp-dist-res=60", "--oltp-dist-iter=6", "--max-requests=2000", "run")  # fmt: skip
    ids = [int(entry.text.split("=")[1]) for entry in log if entry.command == "Execute"]
    assert len(ids) == 2000
    assert 1 <= min(ids) <= max(ids) <= 200
    middle = sum(91 <= each <= 110 for each in ids) / 2000
    # Of the gaussian sum of six, 0.34 are within a tenth of the middle: six times 1/12 is its variance.
    least, most = {"uniform": (0.07, 0.13), "gaussian": (0.27, 0.40), "special": (0.65, 0.80)}[kind]
    assert least < middle < most


def test_ranges_stay_inside_of_the_table(mariadb: MariaDB) -> None:
    mariadb.empty_database()
    oltp(mariadb.args, "prepare")
    for size in (60, 500):
        with mariadb.query_log() as log:
            result = oltp(mariadb.args, f"--oltp-range-size={size}", "--oltp-dist-type=uniform", "--max-requests=30",
                          "--validate", "--oltp-read-only", "run")  # fmt: skip
        assert "Validation mode enabled\n" in result.stdout
        assert "mismatch" not in result.stdout
        ranges = [
            list(map(int, re.findall(r"\d+", e.text))) for e in log if "between" in e.text and e.command == "Execute"
        ]
        assert len(ranges) == 120
        assert {last - first for first, last in ranges} == {size - 1, size}
        assert min(first for first, _ in ranges) >= 1
        assert max(first for first, _ in ranges) <= max(200 - size, 1)


def test_validation_tells_of_missing_rows(database: list[str]) -> None:
    oltp(database, "--oltp-table-size=100", "prepare")
    result = oltp(
        database, "--validate", "--oltp-test-mode=simple", "--oltp-dist-type=uniform", "--max-requests=50", "run"
    )
    assert "WARNING: Number of received rows mismatch, expected: 1, actual: 0\n" in result.stdout


def test_unique_ids_are_all_ids(database: list[str], tmp_path: Path) -> None:
    options = (*database, "--num-threads=4", "--oltp-test-mode=nontrx", "--oltp-auto-inc=off")
    oltp([*options], "--oltp-nontrx-mode=insert", "prepare")
    delete = report(oltp([*options], "--oltp-nontrx-mode=delete", "--max-requests=150", "run").stdout)
    assert (delete["write"], delete["other"]) == (150, 0)
    # The same ids again: 50 rows are left.
    again = report(oltp([*options], "--oltp-nontrx-mode=delete", "--max-requests=300", "run").stdout)
    assert (again["write"], again["other"]) == (50, 250)
    oltp([*options], "--oltp-nontrx-mode=insert", "--max-requests=200", "run")
    too_many = ours("--test=oltp", *options, "--oltp-table-size=200", "--oltp-nontrx-mode=insert", "run")
    assert too_many.status == 1
    assert "all 200 ids of --oltp-table-size have been inserted: use a larger one" in too_many.stdout


def test_think_time_and_connect_delay(tmp_path: Path) -> None:
    database = ["--db-driver=sqlite", f"--sqlite-db={tmp_path / 'test.db'}", "--oltp-test-mode=simple"]
    oltp(database, "prepare")
    thinking = ("--oltp-user-delay-min=20000", "--oltp-user-delay-max=30000", "--max-requests=10")
    values = report(oltp(database, *thinking, "run").stdout)
    assert values["latency_min_ms"] >= 20
    plain = ("--oltp-connect-delay=15000", "--oltp-reconnect-mode=query", "--max-requests=10")
    assert report(oltp(database, *plain, "run").stdout)["latency_min_ms"] >= 15


def test_deadlocks_start_the_transaction_again(mariadb: MariaDB) -> None:
    mariadb.empty_database()
    small = ("--oltp-table-size=5", "--oltp-dist-type=uniform", "--num-threads=8", "--max-requests=400")
    oltp(mariadb.args, *small, "--oltp-range-size=2", "prepare")
    values: dict[str, Any] = report(oltp(mariadb.args, *small, "--oltp-range-size=2", "run").stdout)
    assert values["events"] == 400
    assert values["ignored_errors"] > 0


@pytest.mark.parametrize(
    ("options", "line"),
    [
        ("--oltp-test-mode=x", "Invalid value for --oltp-test-mode: 'x' (use simple, complex, nontrx, sp)"),
        (
            "--oltp-nontrx-mode=x",
            "Invalid value for --oltp-nontrx-mode: 'x' (use select, update_key, update_nokey, insert, delete)",
        ),
        (
            "--oltp-reconnect-mode=x",
            "Invalid value for --oltp-reconnect-mode: 'x' (use session, transaction, query, random)",
        ),
        ("--oltp-dist-type=pareto", "Invalid value for --oltp-dist-type: 'pareto' (use uniform, gaussian, special)"),
        ("--oltp-dist-pct=101", "Invalid value for --oltp-dist-pct: '101' (use 0 to 100)"),
        ("--oltp-table-size=0", "Invalid value for --oltp-table-size: '0' (use at least 1)"),
        ("--oltp-sum-ranges=-1", "Invalid value for --oltp-sum-ranges: '-1' (use at least 0)"),
        ("--mysql-engine-trx=maybe", "Invalid value for --mysql-engine-trx: 'maybe' (use yes, no, auto)"),
        (
            "--db-driver=mysql --mysql-table-engine=rocksdb",
            "Invalid value for --mysql-table-engine: 'rocksdb' (an engine that is not known here: "
            "say --mysql-engine-trx=yes or no, whether it has transactions)",
        ),
        ("--oltp-test-mode=sp", "--oltp-test-mode=sp needs --oltp-sp-name, the stored procedure to call"),
        (
            "--oltp-test-mode=sp --oltp-sp-name=p",
            "--oltp-test-mode=sp is not for --db-driver=sqlite: it has no stored procedures",
        ),
        ("--oltp-read-only --oltp-write-only", "--oltp-read-only and --oltp-write-only are mutually exclusive"),
        ("--oltp-secondary", "Cannot set both --oltp-auto-inc and --oltp-secondary (use --oltp-auto-inc=off)"),
        (
            "--oltp-secondary --oltp-auto-inc=off",
            "--oltp-secondary is for --db-driver=mysql only, not sqlite",
        ),
        (
            "--oltp-point-select-mysql-handler",
            "--oltp-point-select-mysql-handler is for --db-driver=mysql only, not sqlite",
        ),
    ],
)
def test_bad_input(options: str, line: str) -> None:
    result = ours("--test=oltp", "--db-driver=sqlite", *options.split(), "--verbosity=0", "run")
    assert (result.stdout, result.status) == (f"FATAL: `init' function failed: {line}\n", 1)


@pytest.mark.parametrize("command", ["prepare", "cleanup"])
def test_bad_input_of_other_commands(command: str, tmp_path: Path) -> None:
    result = ours("--test=oltp", "--db-driver=sqlite", "--oltp-test-mode=x", "--verbosity=0", command, cwd=tmp_path)
    assert result.stdout.startswith(f"FATAL: `{command}' function failed: Invalid value for --oltp-test-mode: 'x'")
    assert result.status == 1


@pytest.mark.parametrize("options", ["--oltp-table-size=many", "--oltp-nosuch=1", "--oltp-auto-inc=perhaps"])
def test_options_that_are_none(options: str) -> None:
    result = ours("--test=oltp", "--db-driver=sqlite", options, "--verbosity=0", "run")
    assert result.status == 1
    assert options.lstrip("-").split("=")[0].replace("-", "_") in result.stderr.replace("-", "_")
