"""Command lines that people have published for sysbench 0.4, 0.5 and 1.0, as typed but for host, user and sizes."""

import shlex
from pathlib import Path

import pytest

from tests.support.compat import compat
from tests.support.mariadb import MariaDB
from tests.support.postgres import PostgreSQL
from tests.support.reference import intermediate, ours, report
from tests.support.report_0_4 import read_report
from tests.support.server import DATABASE, PASSWORD, PASSWORD_USER


def typed(line: str, folder: Path) -> str:
    """What the command prints; it must succeed."""
    result = ours(*shlex.split(line), cwd=folder)
    assert result.status == 0, result.stdout + result.stderr
    return result.stdout


def login(server: MariaDB) -> str:
    """Options of a user with a password."""
    address = f"--mysql-host=127.0.0.1 --mysql-port={server.port}"
    return f"{address} --mysql-user={PASSWORD_USER} --mysql-password={PASSWORD}"


def test_oltp_on_myisam(mariadb: MariaDB, tmp_path: Path) -> None:
    mariadb.empty_database()
    test = "--test=oltp --mysql-table-engine=myisam --oltp-table-size=2000"
    line = f"{test} --mysql-user=root --mysql-socket={mariadb.socket}"
    assert "Creating 2000 records in table 'sbtest'...\n" in typed(f"{line} prepare", tmp_path)
    assert mariadb.sql("SELECT engine FROM information_schema.tables WHERE table_name = 'sbtest'") == [("MyISAM",)]
    run = typed(f"{line} --max-requests=100 run", tmp_path)
    assert 'Using "LOCK TABLES WRITE" for starting transactions\n' in run
    values = report(run)
    assert (values["read"], values["write"], values["other"]) == (1400, 500, 200)
    assert "Dropping table 'sbtest'...\n" in typed(f"{line} cleanup", tmp_path)
    assert mariadb.sql("SHOW TABLES") == []


def test_oltp_with_a_table_type(mariadb: MariaDB, tmp_path: Path) -> None:
    """The example of the manuals up to 0.4.7."""
    mariadb.empty_database()
    test = f"--test=oltp --oltp-table-size=1000 --mysql-user=root --mysql-socket={mariadb.socket}"
    typed(f"{test} --mysql-table-type=myisam prepare", tmp_path)
    assert mariadb.sql("SELECT engine FROM information_schema.tables WHERE table_name = 'sbtest'") == [("MyISAM",)]
    run = typed(f"--num-threads=16 --max-requests=100 {test} --oltp-read-only run", tmp_path)
    assert 'Using "BEGIN" for starting transactions\n' in run
    run = typed(f"--max-requests=10 {test} --mysql-table-type=MyISAM run", tmp_path)
    assert 'Using "LOCK TABLES WRITE" for starting transactions\n' in run
    unknown = ours(*shlex.split(f"{test} --mysql-table-type=x run"))
    assert "Invalid value for --mysql-table-type: 'x' (an engine that is not known here: " in unknown.stdout


@compat("old-options")
def test_duplicate_keys_are_ignored(mariadb: MariaDB, tmp_path: Path) -> None:
    mariadb.empty_database()
    mariadb.sql("CREATE TABLE one (id INT PRIMARY KEY)")
    (tmp_path / "own.lua").write_text(
        "i = 0 function event() i = i + 1 db_query('INSERT INTO one VALUES (' .. math.floor(i / 2) .. ')') end"
    )
    line = f"--test=own.lua --mysql-db={DATABASE} {login(mariadb)} --max-requests=3"
    values = report(typed(f"{line} --mysql-ignore-duplicates=on run", tmp_path))
    assert (values["events"], values["ignored_errors"]) == (3, 1)
    assert mariadb.sql("SELECT id FROM one") == [(0,), (1,), (2,)]
    failed = ours(*shlex.split(f"{line} --mysql-ignore-duplicates=off run"), cwd=tmp_path)
    assert "Duplicate entry" in failed.stdout
    assert failed.status == 1


def test_oltp_for_a_time(mariadb: MariaDB, tmp_path: Path) -> None:
    mariadb.empty_database()
    line = f"--test=oltp --oltp-table-size=2000 --mysql-db={DATABASE} {login(mariadb)}"
    typed(f"{line} prepare", tmp_path)
    limits = "--max-time=1 --max-requests=0 --num-threads=8"
    output = typed(f"{line} {limits} run", tmp_path)
    values = report(output)
    assert values["total_time_s"] >= 1
    assert values["events"] > 8
    # An ignored error leaves part of a transaction behind.
    assert values["total"] >= 21 * values["events"]
    styled = typed(f"{line} {limits} --report-style=0.4 run", tmp_path)
    assert read_report(styled)["events"] > 8
    typed(f"{line} cleanup", tmp_path)


def test_common_library_prepares(mariadb: MariaDB, tmp_path: Path) -> None:
    mariadb.empty_database()
    # The first is Debian's file, the second is where another system has it.
    for folder in ("/usr/share/sysbench", "/opt/share/sysbench"):
        line = f"{login(mariadb)} {folder}/oltp_common.lua --tables=10 --table_size=100"
        typed(f"{line} prepare", tmp_path)
        assert mariadb.sql("SELECT COUNT(*) FROM sbtest10")[0][0] == 100
        typed(f"{line} cleanup", tmp_path)


def test_read_write_on_postgres(postgres: PostgreSQL, tmp_path: Path) -> None:
    postgres.empty_database()
    address = f"--pgsql-host=127.0.0.1 --pgsql-port={postgres.port} --pgsql-user=sbtest --pgsql-db=sbtest"
    line = f"oltp_read_write --db-driver=pgsql {address} --report-interval=1 --table_size=500 --tables=12 --threads=4"
    typed(f"{line} --time=2 --warmup-time=1 prepare", tmp_path)
    output = typed(f"{line} --time=2 --warmup-time=1 run", tmp_path)
    assert "Warming up for 1 seconds...\n" in output
    assert intermediate(output) != []
    assert report(output)["events"] > 0


@pytest.mark.parametrize("folder", ["tests/db", "/usr/share/sysbench/tests/include/oltp_legacy"])
def test_oltp_of_0_5(mariadb: MariaDB, folder: str, tmp_path: Path) -> None:
    mariadb.empty_database()
    tables = "--mysql-table-engine=innodb --oltp-table-size=500 --oltp-tables-count=3 --rand-init=on"
    typed(f"--test={folder}/parallel_prepare.lua {login(mariadb)} {tables} --num-threads=3 run", tmp_path)
    run = (
        f"--test={folder}/oltp.lua {login(mariadb)} {tables} --oltp-read-only=off --rand-type=uniform --max-requests=60"
    )
    values = report(typed(f"{run} --num-threads=2 run", tmp_path))
    assert values["events"] == 60
    assert values["total"] >= 60 * 20
    typed(f"--test={folder}/oltp.lua {login(mariadb)} {tables} cleanup", tmp_path)
    assert mariadb.sql("SHOW TABLES") == []


def test_the_way_out_is_as_it_was_typed(tmp_path: Path) -> None:
    line = "--test=oltp --db-driver=sqlite --sqlite-db=t.db --oltp-table-size=10 prepare"
    typed(line, tmp_path)
    again = ours(*shlex.split(line), cwd=tmp_path)
    assert again.status == 1
    assert "remove them with 'sysbench --test=oltp cleanup' and the same options" in again.stderr
