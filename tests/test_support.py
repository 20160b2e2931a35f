"""The harness itself: runs, the reader of reports, and the readers of the servers' logs."""

import csv
import io
import os
import signal
import sys
from pathlib import Path

import pytest

from tests.support.proc import Run, find_program, wait_until
from tests.support.querylog import Entry, from_mariadb, from_postgres, open_connections, read_csvlog
from tests.support.reference import intermediate, reference, report, reports
from tests.support.slap import in_any_order
from tests.support.tls import make_certificates

ROOT = Path(__file__).parents[1]
README_COMMANDS = ("sh examples/quickstart.sh", "sh tests/run.sh")

SQL_REPORT = """\
SQL statistics:
    queries performed:
        read:                            14
        write:                           4
        other:                           2
        total:                           20
    transactions:                        1      (81.63 per sec.)
    queries:                             20     (1632.60 per sec.)
    ignored errors:                      0      (0.00 per sec.)
    reconnects:                          0      (0.00 per sec.)

General statistics:
    total time:                          0.0116s
    total number of events:              1

Latency (ms):
         min:                                   11.31
         avg:                                   11.31
         max:                                   11.31
         95th percentile:                       11.24
         sum:                                   11.31

Threads fairness:
    events (avg/stddev):           1.0000/0.00
    execution time (avg/stddev):   0.0113/0.00

"""


@pytest.fixture
def empty_script(tmp_path: Path) -> str:
    script = tmp_path / "empty.lua"
    script.write_text("function event() end\n")
    return str(script)


def test_a_missing_program_fails_and_names_its_package() -> None:
    with pytest.raises(pytest.fail.Exception, match="apt-get install some-package"):
        find_program("no-such-program", "some-package")


def test_a_run_takes_input_environment_and_directory(tmp_path: Path) -> None:
    code = (
        "import os, sys; print(os.getcwd(), os.environ['A'], 'HOME' in os.environ, input()); sys.exit('bad')"
    )
    with Run(sys.executable, "-c", code, cwd=tmp_path, env={"A": "1", "HOME": None}, stdin="x\n") as run:
        result = run.result()
    assert (result.stdout, result.stderr, result.status) == (f"{tmp_path} 1 False x\n", "bad\n", 1)


def test_a_run_that_hangs_is_killed_and_fails() -> None:
    with Run("sh", "-c", "echo begun; sleep 1000") as run:
        run.wait_for("begun")
        with pytest.raises(pytest.fail.Exception, match=r"killed after 0\.1 s: sh -c(.|\n)*begun"):
            run.result(timeout_s=0.1)
        assert run.process.returncode == -signal.SIGKILL


def test_a_run_is_killed_with_its_children_when_the_block_ends() -> None:
    with Run("sh", "-c", "sleep 1000 & echo $!; wait") as run:
        run.wait_for("\n")
        child = int(run.stdout)
    status = Path(f"/proc/{child}/stat")
    wait_until(lambda: not status.exists() or " Z " in status.read_text(), "the child to end")


def test_waiting_for_a_text_ends_with_the_program() -> None:
    with (
        Run("sh", "-c", "echo one") as run,
        pytest.raises(pytest.fail.Exception, match="never printed 'two'"),
    ):
        run.wait_for("two")


def test_a_result_can_be_a_signal() -> None:
    with Run("sleep", "1000") as run:
        os.kill(run.process.pid, signal.SIGTERM)
        assert run.result().status == -signal.SIGTERM


def test_the_report_of_the_reference_is_read(empty_script: str) -> None:
    result = reference(empty_script, "--threads=2", "--events=1000", "--percentile=5", "run")
    values = report(result.stdout)
    assert result.status == 0
    assert values["events"] == 1000
    assert values["events_avg"] == 500
    assert values["percentile"] == 5
    assert values["latency_min_ms"] <= values["latency_avg_ms"] <= values["latency_max_ms"]
    assert values["intermediate"] == []
    assert "read" not in values


def test_the_reference_draws_the_same_numbers_in_every_run(tmp_path: Path) -> None:
    script = tmp_path / "draw.lua"
    script.write_text(
        "function prepare() print(sysbench.rand.uniform_uint64(), sysbench.rand.unique()) end\n"
    )
    # Known values of libc's default seed.
    assert reference(str(script), "prepare").stdout.endswith("\n14972179374201007161ULL\t2672933100\n")


def test_intermediate_and_checkpoint_reports_of_the_reference_are_read(empty_script: str) -> None:
    timing = ("--time=2", "--rate=100", "--report-interval=1", "--report-checkpoints=1", "--percentile=0")
    output = reference(empty_script, *timing, "run").stdout
    first, last = reports(output)
    assert 0 < first["total_time_s"] < last["total_time_s"]
    assert "latency_percentile_ms" not in last
    lines = [line for line in intermediate(output) if line["time_s"] == 1]
    assert [line["threads"] for line in lines if "eps" in line] == [1]
    assert [line["concurrency"] for line in lines if "queue_length" in line] == [0]
    assert {"time_s": 1} in lines
    with pytest.raises(ValueError, match="2 reports instead of one"):
        report(output)


def test_a_report_with_sql_is_read() -> None:
    timed = (
        "[ 10s ] thds: 4 tps: 1.00 qps: 20.03 (r/w/o: 14.00/4.00/2.00)"
        " lat (ms,95%): 11.24 err/s: 0.00 reconn/s: 0.50\n"
    )
    values = report(timed + SQL_REPORT)
    assert {name: values[name] for name in ("read", "write", "other", "total")} == {
        "read": 14,
        "write": 4,
        "other": 2,
        "total": 20,
    }
    assert values["queries_per_s"] == 1632.60
    assert values["latency_percentile_ms"] == 11.24
    assert values["intermediate"] == [
        {
            "time_s": 10,
            "threads": 4,
            "tps": 1.0,
            "qps": 20.03,
            "reads_per_s": 14.0,
            "writes_per_s": 4.0,
            "other_per_s": 2.0,
            "percentile": 95,
            "latency_ms": 11.24,
            "errors_per_s": 0.0,
            "reconnects_per_s": 0.5,
        }
    ]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("    ignored errors:                      0      (0.00 per sec.)\n", ""),
        ("total:                           20", "total:                          20"),
        ("queries:                             20     (", "queries:                             20 ("),
        ("(81.63 per sec.)", "(81.6 per sec.)"),
        ("0.0116s", "0.0116"),
        ("events:              1\n", "events:              1.0\n"),
        ("events:              1\n", "events:              \n"),
        ("         95th percentile:                       11.24\n", ""),
        (
            "sum:                                   11.31\n\n",
            "sum:                                   11.31\n",
        ),
        ("1.0000/0.00\n", "1.0000/0.0\n"),
        ("0.0113/0.00\n\n", "0.0113/0.00\n"),
        (
            "reconnects:                          0      (0.00 per sec.)\n\n",
            "reconnects:                          0      (0.00 per sec.)\n",
        ),
        ("General statistics:", "General statistics"),
        ("SQL statistics:", "[ 1s ] SQL statistics:"),
    ],
)
def test_a_report_in_another_shape_is_refused(old: str, new: str) -> None:
    assert SQL_REPORT.count(old) == 1
    with pytest.raises(ValueError):
        report(SQL_REPORT.replace(old, new))


def test_general_log_rows_become_entries() -> None:
    rows = [(71, "Connect", "sbtest@127.0.0.1 on sbtest"), (99, "Query", "BEGIN"), (71, "Quit", "")]
    assert from_mariadb(rows) == [
        Entry(1, "Connect", "sbtest@127.0.0.1 on sbtest"),
        Entry(1, "Quit", ""),
        Entry(2, "Query", "BEGIN"),
    ]
    assert open_connections(from_mariadb(rows[:2])) == {1}
    assert open_connections(from_mariadb(rows)) == set()


def test_csvlog_rows_become_entries() -> None:
    def row(session: str, message: str, detail: str = "") -> str:
        fields = ["now", "sbtest", "sbtest", "1", "host", session, "1", "tag", "then", "1/2", "0", "LOG", "0"]
        line = io.StringIO()
        csv.writer(line, lineterminator="\n").writerow([*fields, message, detail, *[""] * 8])
        return line.getvalue()

    text = (
        row("a", "connection authorized: user=sbtest database=sbtest")
        + row("a", "duration: 0.077 ms  parse sbstmt77: SELECT 1")
        + row("a", "duration: 0.077 ms  parse sbstmt12: SELECT\n $1")
        + row("b", "duration: 0.077 ms  parse sbstmt9: SELECT 3")
        + row("a", "duration: 0.077 ms  bind sbstmt12: SELECT\n $1", "parameters: $1 = '5'")
        + row("a", "execute sbstmt12: SELECT\n $1", "parameters: $1 = 'a \"b\"', $2 = NULL")
        + row("a", "duration: 0.077 ms")
        + row("b", "statement: SELECT ':'")
        + row("b", "disconnection: session time: 0:00:00.004")
    )
    unfinished = row("b", "statement: SELECT 4")[:-20]
    assert from_postgres(read_csvlog(text + unfinished)) == [
        Entry(1, "Connect", "user=sbtest database=sbtest"),
        Entry(1, "Prepare", "s1: SELECT 1"),
        Entry(1, "Prepare", "s2: SELECT\n $1"),
        Entry(1, "Execute", "s2: SELECT\n $1 [$1 = 'a \"b\"', $2 = NULL]"),
        Entry(2, "Prepare", "s1: SELECT 3"),
        Entry(2, "Query", "SELECT ':'"),
        Entry(2, "Quit", ""),
    ]


def test_certificates_are_signed_by_their_authority(tmp_path: Path) -> None:
    directory = tmp_path / "tls"
    make_certificates(directory)
    for party in ("server", "client"):
        command = ("openssl", "verify", "-x509_strict", "-CAfile", "cacert.pem", f"{party}-cert.pem")
        with Run(*command, cwd=directory) as run:
            assert run.result().stdout == f"{party}-cert.pem: OK\n"


def test_the_readme_gives_the_commands_that_ci_runs() -> None:
    readme = (ROOT / "README.md").read_text().splitlines()
    ci = (ROOT / ".ci" / "run").read_text().splitlines()
    for command in README_COMMANDS:
        assert command in readme
        assert command in ci


def test_statements_of_clients_in_any_order() -> None:
    """As mariadb-slap has printed them, once in some hundred runs, and as it does usually."""
    rare, usual = (
        ["CREATE SCHEMA a;", "use a;", "INSERT 1;", *queries, "DROP SCHEMA a;", "INSERT 1;"]
        for queries in (["INSERT 2;", "INSERT 2;", "SELECT;", "SELECT;"], ["INSERT 2;", "SELECT;"] * 2)
    )
    assert in_any_order(rare) == in_any_order(usual)
    assert in_any_order(usual[:-1]) != in_any_order(usual)
    assert in_any_order(usual[::-1]) != in_any_order(usual)
