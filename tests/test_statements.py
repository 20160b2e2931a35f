"""--statements and --errors: what each statement did, and errors by code and what became of them."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from hdrh.histogram import HdrHistogram

from sysbench_py import core
from sysbench_py.stats.collect import total_stats
from sysbench_py.stats.model import HIGHEST_LATENCY_NS, SIGNIFICANT_DIGITS
from sysbench_py.stats.sql import STATEMENT_DIGITS
from tests.support.detail import ERRORS, STATEMENTS, table
from tests.support.proc import Result
from tests.support.reference import ours, reference, report
from tests.support.server import Server

CONNECT = "function thread_init() con = sysbench.sql.driver():connect() end\n"
NULL = "--db-driver=null"


def run(folder: Path, script: str, *options: str) -> Result:
    (folder / "script.lua").write_text(script)
    result = ours("script.lua", *options, "run", cwd=folder)
    assert result.status == 0, result.stdout
    return result


# text, as MySQL reads it, as PostgreSQL does
NORMALISED = [
    ("SELECT  1", "SELECT ?", "SELECT ?"),
    (" \n\tSELECT\r\n a FROM t1 ; ", "SELECT a FROM t1 ;", "SELECT a FROM t1 ;"),
    ("WHERE id=5 AND x1=-.5e-3", "WHERE id=? AND x1=-?", "WHERE id=? AND x1=-?"),
    ("VALUES(0x1F, 1e5,12.50,'it''s')", "VALUES(?, ?,?,?)", "VALUES(?, ?,?,?)"),
    ("1-2+3e+4", "?-?+?", "?-?+?"),
    ("a 'x' -- 'y\nb", "a ? b", "a ? b"),
    ("a/* 1 */b /*! c2 */", "a b /*! c2 */", "a b"),
    (r"x'1f' N'a' q='\'5'", "? ? q=?", r"? ? q=???"),
    (r"E'a\'b' 1", "? ?", "? ?"),
    ('"a1" `b 2`', "? `b 2`", '"a1" `b 2`'),
    ("$1 $$a'1$$ $t$2$$3$t$ c$3", "$1 $$a?", "$1 ? ? c$3"),
    ("tést 7 'ü'", "tést ? ?", "tést ? ?"),
    ("unended 'text 5", "unended ?", "unended ?"),
    ("", "", ""),
]


@pytest.mark.parametrize("number", range(len(NORMALISED)))
@pytest.mark.parametrize("dialect", ["mysql", "pgsql"])
def test_literals_are_replaced(dialect: str, number: int) -> None:
    text, mysql, pgsql = NORMALISED[number]
    core.run_setup([(1, 2)], 0, True, True)
    core.statements_setup()
    core.record_latencies(0, [5], text.encode(), dialect == "mysql")
    ((kind, found),) = core.snapshot(sql_detail=True).statements
    assert (kind, found) == ("literal", mysql if dialect == "mysql" else pgsql)


def test_texts_are_kept_up_to_a_length_but_told_apart_by_all_of_it() -> None:
    core.run_setup([(1, 2)], 0, True, True)
    core.statements_setup()
    for end in ("a", "b"):
        core.record_latencies(0, [5], f"SELECT {'x, ' * 1000}{end}".encode())
    # The reader sees two that look alike as one.
    (counts,) = core.snapshot(sql_detail=True).statements.values()
    assert counts.calls == 2


def test_texts_that_are_too_many_count_together() -> None:
    core.run_setup([(1, 2), (3, 4)], 0, True, True)
    core.statements_setup()
    for thread_id in range(2):
        for i in range(1100):
            core.record_latencies(thread_id, [5], f"SELECT c{i}".encode())
    statements = core.snapshot(sql_detail=True).statements
    assert len(statements) == 1001
    assert statements["other", ""].calls == 200
    assert all(counts.calls == 2 for (kind, _), counts in statements.items() if kind == "literal")


def buckets_of(hdr: HdrHistogram) -> list[tuple[int, int]]:
    return [(hdr.get_value_from_index(index), count) for index, count in enumerate(hdr.counts) if count]


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("digits", [SIGNIFICANT_DIGITS, STATEMENT_DIGITS])
def test_merged_histograms_equal_one_recording(seed: int, digits: int) -> None:
    """Over workers and intervals, count for count."""
    rng = random.Random(seed)
    workers = rng.randint(1, 6)
    core.run_setup([(1, i) for i in range(workers)], 0, True, True)
    core.statements_setup()
    text = b"SELECT 1" if digits == STATEMENT_DIGITS else None
    one = HdrHistogram(1, HIGHEST_LATENCY_NS, digits)
    intervals = HdrHistogram(1, HIGHEST_LATENCY_NS, digits)
    before = core.snapshot(sql_detail=True)
    everything: list[int] = []
    for _ in range(rng.randint(1, 5)):
        for thread_id in range(workers):
            values = [int(2 ** rng.uniform(0, 46.9)) for _ in range(rng.randint(0, 300))]
            core.record_latencies(thread_id, values, text)
            everything += values
            for value in values:
                one.record_value(value)
        now = core.snapshot(sql_detail=True)
        period = now.minus(before)
        counts = period if text is None else period.statements["literal", "SELECT ?"]
        for value, count in counts.buckets():
            intervals.record_value(value, count)
        before = now
    stats = total_stats(before, None, start_ns=before.time_ns, threads_running=0, percentiles=(95,), sql=True)
    total = stats.latency.histogram if text is None else stats.statements[0].latency.histogram
    assert total.buckets_ns() == buckets_of(one) == buckets_of(intervals)
    assert total.count == len(everything)
    ranked = sorted(everything)
    for percentile in (1, 50, 95, 99, 99.9):
        exact = ranked[max(int(len(ranked) * percentile / 100 + 0.5), 1) - 1]
        assert exact <= total.percentile_ns(percentile) <= exact * (1 + 10.0**-digits * 1.01) + 1


STATEMENTS_SCRIPT = """
function thread_init()
   con = sysbench.sql.driver():connect()
   con:query("CREATE TABLE t (a INT, b VARCHAR(20))")
   con:bulk_insert_init("INSERT INTO t VALUES")
   for i = 1, 5 do con:bulk_insert_next("(" .. i .. ", 'x')") end
   con:bulk_insert_done()
   up_to = con:prepare("SELECT a  FROM t WHERE a <= ?")
   local p = up_to:bind_create(sysbench.sql.type.INT)
   up_to:bind_param(p)
   p:set(3)
end
local n = 0
function event(id)
   n = n + 1
   up_to:execute()
   con:query("SELECT a FROM t WHERE a = " .. sysbench.rand.uniform(1, 5) .. " /* " .. id .. " */")
   con:query("UPDATE t SET b = 'x" .. n .. "'")
   pcall(con.query, con, "SELECT nowhere FROM t")
end
"""


@pytest.mark.parametrize("ps_mode", ["auto", "disable"])
def test_every_statement_is_told(database: list[str], tmp_path: Path, ps_mode: str) -> None:
    options = (*database, "--statements=on", f"--db-ps-mode={ps_mode}")
    result = run(tmp_path, STATEMENTS_SCRIPT, *options, "--events=20")
    rows = {(row["kind"], row["statement"]): row for row in table(result.stdout, STATEMENTS)}
    found = {key: (row["calls"], row["errors"], row["rows"]) for key, row in rows.items()}
    assert found == {
        ("literal", "CREATE TABLE t (a INT, b VARCHAR(?))"): ("1", "0", "0"),
        ("bulk", "INSERT INTO t VALUES"): ("1", "0", "5"),
        ("prepared", "SELECT a FROM t WHERE a <= ?"): ("20", "0", "60"),
        ("literal", "SELECT a FROM t WHERE a = ?"): ("20", "0", "20"),
        ("literal", "UPDATE t SET b = ?"): ("20", "0", "100"),
        ("literal", "SELECT nowhere FROM t"): ("20", "20", "0"),
    }
    for row in rows.values():
        latencies = [float(row[name]) for name in ("p50", "p95", "p99", "max")]
        assert latencies == sorted(latencies)
        assert (latencies[0] > 0) == (row["errors"] == "0")
    (error,) = table(result.stdout, ERRORS)
    assert (error["count"], error["fatal"], error["ignored"]) == ("20", "20", "0")
    assert "nowhere" in error["message of the first"]


def test_texts_of_threads_are_one_and_what_comes_before_a_checkpoint_is_not_told_again(tmp_path: Path) -> None:
    options = (NULL, "--statements=on", "--threads=3")
    script = CONNECT + (
        "ffi.cdef('int usleep(unsigned)')\nfunction event()\n"
        "con:query('SELECT ' .. sysbench.rand.uniform(1, 9)) ffi.C.usleep(10000) end"
    )
    result = run(tmp_path, script, *options, "--time=2", "--report-checkpoints=1")
    assert result.stdout.count(STATEMENTS) == 2
    start, end = result.stdout.index("Checkpoint report:"), result.stdout.rindex("SQL statistics:")
    calls = []
    for part in (result.stdout[start:end], result.stdout[end:]):
        (row,) = table(part, STATEMENTS)
        events = report(part)["events"]
        # Statements of events that had not ended when the counts were taken.
        assert events - 3 <= int(row["calls"]) <= events + 3
        calls.append(int(row["calls"]))
    assert min(calls) > 0


def test_errors_and_what_became_of_them(database: list[str], tmp_path: Path) -> None:
    ignore = "--mysql-ignore-errors=1062", "--pgsql-ignore-errors=23505", "--sqlite-ignore-errors=19"
    script = """
    function thread_init()
       con = sysbench.sql.driver():connect()
       con:query("CREATE TABLE t (a INT PRIMARY KEY)")
       con:query("INSERT INTO t VALUES (1)")
    end
    local tries = 0
    sysbench.hooks.sql_error_ignorable = function(err) return err.sql_errmsg:find("later") ~= nil end
    function event()
       tries = tries + 1
       if tries == 1 then con:query("INSERT INTO t VALUES (1)") end        -- begins again
       if tries == 2 then con:query("SELECT * FROM later") end             -- so the hook says
       pcall(con.query, con, "INSERT INTO t VALUES (1)")                   -- the script goes on
       pcall(con.query, con, "SELECT * FROM nowhere")
    end
    """
    result = run(tmp_path, script, *database, *ignore, "--events=3", "--errors=on")
    assert STATEMENTS not in result.stdout
    rows = table(result.stdout, ERRORS)
    found = {
        word: [[int(row[name]) for name in ("count", "ignored", "restarted", "reconnected", "fatal")] for row in rows
               if word in row["message of the first"].lower()]
        for word in ("uplicate", "unique", "later")
    }  # fmt: skip
    duplicates = next(rows for word, rows in found.items() if rows and word != "later")
    assert duplicates == [[4, 3, 1, 0, 0]]
    # One code: the sample is that of the first.
    assert found["later"] == [[4, 0, 1, 0, 3]]
    assert report(result.stdout)["ignored_errors"] == 8


def test_connections_made_again_are_told(server: Server, tmp_path: Path) -> None:
    kind = "mysql" if "mysql" in server.args[0] else "pgsql"
    (tmp_path / "script.lua").write_text(
        CONNECT + "ffi.cdef('int usleep(unsigned)')\nlocal again\n"
        # A worker ends once it has another connection.
        "function event() con:query('SELECT 1') ffi.C.usleep(5000) return again end\n"
        "function sysbench.hooks.before_restart_event() again = true end"
    )
    options = [*server.args, f"--{kind}-ignore-errors=all", "--threads=2", "--time=60", "--errors=on"]
    with ours.start("script.lua", *options, "run", cwd=tmp_path) as run:
        run.wait_for("Threads started!")
        assert server.kill_all_client_connections() == 2
        result = run.result()
    assert result.status == 0, result.stdout
    rows = table(result.stdout, ERRORS)
    assert sum(int(row["reconnected"]) for row in rows) == 2
    assert sum(int(row["count"]) for row in rows) == 2


@pytest.mark.parametrize("options", [(), ("--errors=off",), ("--statements=off",)], ids=" ".join)
def test_plain_runs_do_not_tell(tmp_path: Path, options: tuple[str, ...]) -> None:
    """Not even of errors: the report is the reference's."""
    script = CONNECT + "function event() pcall(con.query, con, 'SELECT nowhere') end"
    sqlite = ("--db-driver=sqlite", "--sqlite-db=:memory:", "--sqlite-ignore-errors=all")
    result = run(tmp_path, script, *sqlite, "--events=5", *options)
    assert report(result.stdout)["ignored_errors"] == 5
    theirs = reference("script.lua", "--db-driver=mysql", "--mysql-dry-run", "--events=5", "run", cwd=tmp_path)
    labels = [[line.split(":")[0] for line in text.splitlines()[3:]] for text in (result.stdout, theirs.stdout)]
    assert labels[0] == labels[1]


def test_without_errors_there_is_no_block(tmp_path: Path) -> None:
    result = run(tmp_path, CONNECT + "function event() con:query('SELECT 1') end", NULL, "--events=5",
                 "--errors=on", "--statements=on")  # fmt: skip
    assert ERRORS not in result.stdout
    assert [row["calls"] for row in table(result.stdout, STATEMENTS)] == ["5"]
