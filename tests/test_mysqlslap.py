"""mysqlslap-py against mariadb-slap: the SQL, the report, the command line."""

from __future__ import annotations

import os
import re
import time
from pathlib import Path

import pytest

from tests.support.compat import compat
from tests.support.mariadb import MariaDB
from tests.support.proc import wait_until
from tests.support.slap import (
    DROP,
    PASSWORD,
    SCHEMA,
    USER,
    add_user,
    in_any_order,
    login,
    masked,
    our_slap,
    our_slap_as_typed,
    reference_slap,
    shape,
    without_first_drop,
)

LOAD_TYPES = ("read", "key", "write", "update", "mixed")
KEYS = (
    "",
    "--auto-generate-sql-add-autoincrement",
    "--auto-generate-sql-guid-primary",
    "--auto-generate-sql-secondary-indexes=2",
    "--auto-generate-sql-add-autoincrement --auto-generate-sql-secondary-indexes=1",
    "--auto-generate-sql-guid-primary --auto-generate-sql-secondary-indexes=2 -x 2:1 -y 3:2 -e innodb,myisam:b=1",
)
SMALL = (
    "--auto-generate-sql-write-number=4 --auto-generate-sql-unique-write-number=2"
    " --auto-generate-sql-unique-query-number=4 --number-of-queries=12 --iterations=2"
)


@pytest.fixture
def slapped(mariadb: MariaDB) -> MariaDB:
    add_user(mariadb)
    return mariadb


def assert_same_statements(*arguments: str, several: str = "1,2") -> None:
    """In the same order with one client, in any with several."""
    for clients, compared in (("1", list[str]), (several, in_any_order)):
        theirs, mine = (
            slap(*arguments, f"--concurrency={clients}", "--only-print") for slap in (reference_slap, our_slap)
        )
        assert mine.status == theirs.status
        assert compared(masked(mine.stdout)) == compared(without_first_drop(masked(theirs.stdout)))


@compat("slap-first-drop")
@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize("load_type", LOAD_TYPES)
def test_generated_statements(load_type: str, key: str) -> None:
    arguments = ["-a", f"--auto-generate-sql-load-type={load_type}", *SMALL.split(), *key.split()]
    if load_type == "key" and "primary" not in key and "autoincrement" not in key:
        assert "without a primary key" in reference_slap(*arguments, "--only-print").stderr
        assert "needs a primary key" in our_slap(*arguments, "--only-print").stdout
        return
    assert_same_statements(*arguments)


@pytest.mark.parametrize(
    "arguments",
    [
        ["-a"],
        ["-a", "--auto-generate-sql-execute-number=3"],
        ["-q", "SELECT 1;SELECT 2", "-F;", "--number-of-queries=6"],
        ["--query=SELECT 1\nSELECT 2"],
        [
            *("-q", "SELECT 1", "--create=CREATE TABLE a (i int);INSERT INTO a VALUES (1)", "-F;", "-i2"),
            *("-e", "innodb,myisam", "--pre-query=SELECT 3", "--post-query=SELECT 4;SELECT 5"),
        ],
    ],
)
def test_other_statements(arguments: list[str]) -> None:
    assert_same_statements(*arguments)


def test_no_drop() -> None:
    arguments = ("-q", "SELECT 1", "--create=CREATE TABLE a (i int)", "--no-drop", "--create-schema=other")
    assert_same_statements(*arguments, several="2")


def test_statements_in_files(tmp_path: Path) -> None:
    (tmp_path / "q.sql").write_text("SELECT 1;\nSELECT 2")
    (tmp_path / "c.sql").write_text("CREATE TABLE a (i int);INSERT INTO a VALUES (1)")
    arguments = [f"-q{tmp_path}/q.sql", f"--create={tmp_path}/c.sql", "-F;", "--only-print"]
    theirs, mine = (" ".join(slap(*arguments).stdout.split()) for slap in (reference_slap, our_slap))
    assert mine == theirs.removeprefix(f"{DROP} ")


@compat("slap-statements")
def test_delimiters_and_empty_statements() -> None:
    mine = our_slap("-q", "SELECT 1 END SELECT 2 END\n END SELECT 3", "--delimiter=END", "--only-print")
    assert mine.stdout == "SELECT 1;\nSELECT 2;\nSELECT 3;\n"
    create = our_slap(
        "-q", "SELECT 1", "--create=CREATE TABLE a(i int);create table b(i int)", "-F;", "-ex", "--only-print"
    )
    assert "CREATE TABLE a(i int) Engine = x;\ncreate table b(i int) Engine = x;\n" in create.stdout


@compat("slap-commit")
def test_transactions() -> None:
    arguments = ["-a", "--auto-generate-sql-write-number=1", "--commit=2", "--number-of-queries=3", "--only-print"]
    theirs, mine = (masked(slap(*arguments).stdout) for slap in (reference_slap, our_slap))
    assert theirs.count("SET AUTOCOMMIT=0;") == 2
    theirs.remove("SET AUTOCOMMIT=0;")
    assert mine == without_first_drop(theirs)


@compat("slap-few-queries")
def test_fewer_queries_than_clients() -> None:
    arguments = ["-q", "SELECT 1;SELECT 2", "-F;", "-c4", "--number-of-queries=2", "--only-print"]
    assert reference_slap(*arguments).stdout.count("SELECT") == 8
    assert our_slap(*arguments).stdout.count("SELECT") == 4


def test_report_and_csv(slapped: MariaDB, tmp_path: Path) -> None:
    arguments = [*login(slapped), "-a", "-e", "myisam,memory", "-c1,2", "--number-of-queries=20"]
    for more in (["-i2"], ["--silent"], ["--csv", "-s"]):
        theirs, mine = reference_slap(*arguments, *more), our_slap(*arguments, *more)
        assert (mine.status, mine.stderr) == (0, "")
        assert shape(mine.stdout) == shape(theirs.stdout)
    for slap in (reference_slap, our_slap):
        assert slap(*arguments, f"--csv={tmp_path}/slap.csv").stdout == ""
    rows = shape((tmp_path / "slap.csv").read_text()).splitlines()
    assert rows == 2 * [
        f"{engine},mixed,S,S,S,{clients}" for engine in ("myisam", "memory") for clients in ("1,20", "2,10")
    ]


@compat("slap-report")
def test_report_tells_what_was_run(slapped: MariaDB) -> None:
    arguments = [*login(slapped), "-a", "--auto-generate-sql-unique-query-number=4"]
    assert "Average number of queries per client: 0\n" in reference_slap(*arguments).stdout
    mine = our_slap(*arguments, "-v").stdout
    assert "\tAverage number of queries per client: 5\n\tQueries per second: " in mine
    assert re.search(r"\tLatency of a query \(ms\): min .*, avg .*, 50% .*, 95% .*, 99% .*, max [\d.]+\n\n$", mine)
    query = our_slap(*login(slapped), "-q", "SELECT 1", "--create-schema=mysql", "--csv")
    assert shape(query.stdout) == ",query,S,S,S,1,1\n"


@compat("slap-clock")
def test_clients_connect_before_the_clock_starts(slapped: MariaDB) -> None:
    arguments = [*login(slapped), "-q", "DO 1", "--create-schema=mysql", "--csv", "--init-command=SELECT SLEEP(2)"]
    assert float(reference_slap(*arguments).stdout.split(",")[2]) >= 2
    started_s = time.monotonic()
    seconds = float(our_slap(*arguments).stdout.split(",")[2])
    # The time of the sleep is not in it.
    assert seconds <= time.monotonic() - started_s - 2


@compat("slap-schema")
def test_a_schema_that_was_there_stays(slapped: MariaDB) -> None:
    slapped.sql(f"CREATE SCHEMA {SCHEMA}")
    slapped.sql(f"CREATE TABLE {SCHEMA}.precious (i int)")
    mine = our_slap(*login(slapped), "-a")
    assert (mine.status, mine.stderr) == (1, "")
    assert mine.stdout.startswith(
        f"FATAL: schema '{SCHEMA}' exists, and slap uses and drops only what it made itself ("
    )
    assert mine.stdout.count("\n") == 1
    assert slapped.sql("SHOW TABLES", SCHEMA) == [("precious",)]
    assert reference_slap(*login(slapped), "-a").status == 0
    assert slapped.sql(f"SHOW SCHEMAS LIKE '{SCHEMA}'") == []


@compat("slap-errors")
def test_a_query_that_fails(slapped: MariaDB) -> None:
    arguments = [*login(slapped), "-a", "--post-query=SELECT nothing"]
    mine = our_slap(*arguments)
    assert (mine.status, mine.stderr) == (1, "")
    assert mine.stdout == "FATAL: error 1054: Unknown column 'nothing' in 'SELECT' (in 'SELECT nothing')\n"
    # The schema is gone all the same.
    assert slapped.sql(f"SHOW SCHEMAS LIKE '{SCHEMA}'") == []
    query = ["-q", "SELECT nothing", "--create-schema=mysql"]
    assert reference_slap(*login(slapped), *query).status == 0
    mine = our_slap(*login(slapped), *query)
    assert mine.status == 1
    assert re.fullmatch(
        r"FATAL: .*1054 \(Unknown column 'nothing' in 'SELECT'\) for query 'SELECT nothing'\n", mine.stdout
    )


@compat("slap-bad-values")
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            "-a --auto-generate-sql-load-type=reed",
            "FATAL: Invalid value for --auto-generate-sql-load-type: 'reed' (did you mean 'read'?)",
        ),
        ("-a -c 0", "FATAL: Invalid value for --concurrency: '0' (use numbers from 1"),
        ("-a -c two", "FATAL: Invalid value for --concurrency: 'two' (use numbers from 1"),
        ("-a -i 0", "FATAL: Invalid value for --iterations: '0' (use a number from 1)"),
        ("-a -i x", "mysqlslap-py: Invalid value for --iterations: 'x' (use a number)"),
        ("-a -x 1:x", "FATAL: Invalid value for --number-char-cols: '1:x' (use a number of columns from 0 to "),
        ("-a -x 0 -y 0", "FATAL: the generated table needs a column"),
        ("-q nowhere.sql", "FATAL: Cannot read --query 'nowhere.sql': no such file"),
        ("-q DO/**/1 --create=/nowhere/c", "FATAL: Cannot read --query 'DO/**/1': no such file"),
        ("-a --no-drop -i 2", "FATAL: --no-drop leaves the schema where it is, so there can be one run only"),
        ("-a -S /nowhere", "FATAL: cannot connect: Can't connect to local server through socket '/nowhere' (2): "),
        ("-a -h 127.0.0.1 -P 1", "FATAL: cannot connect: Can't connect to server on '127.0.0.1' (111): "),
        ("--auto-generate-sql-load-type=read", "FATAL: there is no query to run (use --query or --auto-generate-sql)"),
        ("-a -q DO", "FATAL: --auto-generate-sql and --query exclude each other"),
        ("-a --csv=/nowhere/x.csv", "FATAL: Cannot write --csv '/nowhere/x.csv': No such file or directory"),
        ("-a --detache=2", "mysqlslap-py: unknown option '--detache' (did you mean --detach?)"),
        ("-a -Z", "mysqlslap-py: unknown option '-Z'"),
        ("-a -c", "mysqlslap-py: option '-c' requires an argument"),
        ("-a --silent=perhaps", "mysqlslap-py: option '--silent' takes no argument such as 'perhaps' (use 0 or 1)"),
        ("-a --protocol=memory", "mysqlslap-py: Invalid value for --protocol: 'memory' (use tcp or socket)"),
        ("-a --defaults-file=/x", "mysqlslap-py: unknown option '--defaults-file' (it must be the first option)"),
    ],
)
def test_mistakes_are_one_line(arguments: str, message: str) -> None:
    result = our_slap(*arguments.split())
    assert (result.status, (result.stdout + result.stderr).count("\n")) == (1, 1)
    assert (result.stdout + result.stderr).startswith(message)


def test_as_typed(slapped: MariaDB, tmp_path: Path) -> None:
    """The command line of many pages on the web, with an option file that has more in it than is for mysqlslap."""
    (tmp_path / "more").mkdir()
    (tmp_path / "more" / "socket.cnf").write_text(f"[client]\nsocket = '{slapped.socket}' # local\n")
    (tmp_path / "my.cnf").write_text(
        f"[client]\nuser=nobody\ndefault-character-set = utf8mb4\n!includedir {tmp_path}/more\n"
        "[mysqld]\nport=1\n[mysqlslap]\nloose-no-such-option\niterations=2\n"
    )
    result = our_slap_as_typed(
        *f"--defaults-file={tmp_path}/my.cnf --concurrency=4,8 --iterations=1 --number-int-cols=20".split(),
        *("--number-char-cols=30", "--auto-generate-sql", "--auto-generate-sql-add-autoincrement"),
        *("--auto-generate-sql-load-type=mixed", "--engine=myisam,innodb", "--number-of-queries=200"),
        *f"-u{USER} -p{PASSWORD} --verbose".split(),
    )
    assert (result.status, result.stderr) == (0, "")
    blocks = result.stdout.split("Benchmark\n")[1:]
    assert [
        re.findall(r"engine (\w+)|clients running queries: (\d+)|per client: (\d+)", block) for block in blocks
    ] == [
        [(engine, "", ""), ("", clients, ""), ("", "", queries)]
        for engine in ("myisam", "innodb")
        for clients, queries in (("4", "50"), ("8", "25"))
    ]


def test_option_files(tmp_path: Path) -> None:
    (tmp_path / "my.cnf").write_text(
        "[mysqlslap]\nquery = 'SELECT \"#\\s1\"'\n[mysqlslap_b]\nconcurrency=2\n[client]\npassword=secret\n"
    )
    (tmp_path / "bad.cnf").write_text("[mysqlslap]\n\nno-such-option\n")
    file = f"--defaults-file={tmp_path}/my.cnf"
    assert our_slap_as_typed(file, "--only-print").stdout == 'SELECT "# 1";\n'
    assert our_slap_as_typed(file, "--defaults-group-suffix=_b", "--only-print").stdout == 2 * 'SELECT "# 1";\n'
    printed = our_slap_as_typed("--print-defaults", file).stdout
    assert printed.endswith('--query=SELECT "# 1" --password=*****\n')
    bad = our_slap_as_typed(f"--defaults-file={tmp_path}/bad.cnf")
    assert bad.stderr == f"mysqlslap-py: {tmp_path}/bad.cnf:3: unknown option '--no-such-option'\n"
    missing = our_slap_as_typed("--defaults-file=/nowhere/my.cnf", "-a")
    assert missing.stderr == "mysqlslap-py: Cannot read the option file '/nowhere/my.cnf': No such file or directory\n"
    home = our_slap_as_typed("-a", "-c2", "--only-print", env={"HOME": os.fspath(tmp_path)})
    assert home.status == 0


@pytest.mark.parametrize(
    "arguments",
    [
        ["--query", "SELECT 1", "--concurrency", "2", "--only-print"],
        ["-qSELECT 1", "-c2", "--only-print"],
        ["--quer=SELECT 1", "--conc=2", "--only_print=1"],
        ["-sq", "SELECT 1", "--skip-only-print", "-c", "2", "--only-print", "word"],
    ],
)
def test_spellings(arguments: list[str]) -> None:
    theirs, mine = reference_slap(*arguments), our_slap(*arguments)
    assert mine.stdout == theirs.stdout == "SELECT 1;\nSELECT 1;\n"


def test_help_and_version() -> None:
    text = our_slap("--help").stdout
    named = set(re.findall(r"--([a-z-]+)", reference_slap("--help").stdout.partition("\nVariables")[0]))
    missing = {name for name in named if f"--{name}" not in text}
    assert missing == {"ssl-capath", "ssl-crl", "ssl-crlpath", "tls-version", "skip-ssl"}
    assert re.fullmatch(r"mysqlslap-py  Ver [\d.]+\n", our_slap("-V").stdout)


def test_password_cannot_be_seen(slapped: MariaDB) -> None:
    with our_slap.start(*login(slapped), "-q", "SELECT SLEEP(20)", "--create-schema=mysql") as run:
        sleeping = "SELECT 1 FROM information_schema.processlist WHERE info LIKE 'SELECT SLEEP%'"
        wait_until(lambda: bool(slapped.sql(sleeping)), "the query")
        shown = Path(f"/proc/{run.process.pid}/cmdline").read_bytes().split(b"\0")
    assert b"-pxxx" in shown
    assert f"-p{PASSWORD}".encode() not in shown
