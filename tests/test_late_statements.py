"""Events that are late name the statements that they wait for."""

import re
import signal
import socket
from pathlib import Path

import pytest

from sysbench_py import core
from sysbench_py.late import late_statements, late_threads
from tests.support.compat import compat
from tests.support.mariadb import MariaDB
from tests.support.reference import ours
from tests.support.server import Server

SLEEP = {"mariadbd": "SELECT SLEEP(60)", "postgres": "SELECT pg_sleep(60)"}
WITH_MARKER = {"mariadbd": "SELECT SLEEP(?)", "postgres": "SELECT pg_sleep(?)"}
# Threads 0 and 3 wait for a query, 1 for a prepared statement, 2 is in no statement, 4 in a long one.
SCRIPT = """
ffi.cdef('int sleep(unsigned)')
function thread_init()
   con = sysbench.sql.driver():connect()
   stmt = con:prepare("{with_marker}")
   seconds = stmt:bind_create(sysbench.sql.type.INT)
   stmt:bind_param(seconds)
   seconds:set(60)
end
function event(id)
   con:query("SELECT 1")
   io.write("in event\\n")
   if id == 1 then
      stmt:execute()
   elseif id == 2 then
      ffi.C.sleep(60)
   elseif id == 4 then
      con:query("{sleep}\\n,\\t " .. ("1, "):rep(1000) .. "2")
   end
   con:query("{sleep}")
end
"""


def write_script(server: Server, folder: Path) -> None:
    text = SCRIPT.format(sleep=SLEEP[server.name], with_marker=WITH_MARKER[server.name])
    (folder / "script.lua").write_text(text)


def statements(server: Server) -> str:
    sleep = SLEEP[server.name]
    long = f"{sleep} , {'1, ' * 100}"[:130]
    return (
        f"  #0, #3: {re.escape(sleep)}\n"
        f"  #1: {re.escape(WITH_MARKER[server.name])}\n"
        f"  #2: in the script, in no statement\n"
        f"  #4: {re.escape(long)}[1, ]+\\.\\.\\.\n"
    )


@compat("late-events")
@compat("late-threads")
def test_statements_are_named(mariadb: MariaDB, tmp_path: Path) -> None:
    write_script(mariadb, tmp_path)
    words = ("--threads=5", "--time=1", "--forced-shutdown=6", "run")
    result = ours("script.lua", *mariadb.args, *words, cwd=tmp_path)
    assert result.status == 2
    named = r"Threads inside of an event: (#\d for \d+\.\d s(, )?){5}"
    late = rf"The time limit was 5 s ago\. {named} \(--forced-shutdown would end them\)\n"
    assert re.fullmatch(late + statements(mariadb), result.stderr)
    assert re.search(f"{named}\n{statements(mariadb)}", result.stdout)


@compat("late-threads")
@compat("interrupted-run")
def test_statements_are_named_after_a_signal(server: Server, tmp_path: Path) -> None:
    write_script(server, tmp_path)
    with ours.start("script.lua", *server.args, "--threads=5", "--time=100", "run", cwd=tmp_path) as run:
        run.wait_for("in event\n" * 5)
        run.process.send_signal(signal.SIGINT)
        result = run.result()
    assert result.status == 130
    assert re.search(statements(server), result.stdout)


def test_connecting_is_no_statement_but_named(tmp_path: Path) -> None:
    (tmp_path / "script.lua").write_text("function event() sysbench.sql.driver():connect() end")
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        port = silent.getsockname()[1]
        words = ("--mysql-host=127.0.0.1", f"--mysql-port={port}", "--time=1", "--forced-shutdown=0", "run")
        result = ours("script.lua", *words, cwd=tmp_path)
    assert result.status == 2
    assert "\n  #0: (connecting)\n" in result.stdout


def test_long_lists_are_shortened() -> None:
    core.run_setup([(1, 1)] * 30, 0, False, True)
    ids = dict.fromkeys(range(30), 10**9)
    shown = ", ".join(f"#{thread_id}" for thread_id in range(10))
    assert list(late_statements(ids)) == [f"  {shown} and 20 more: in the script, in no statement"]
    assert late_threads(ids).endswith("#9 for 1.0 s and 20 more")


@pytest.mark.parametrize(
    ("kept", "length", "shown"),
    [
        (b"SELECT  1\n\tFROM t", 17, "SELECT 1 FROM t"),
        ("SELECT 'ä'".encode(), 11, "SELECT 'ä'"),
        ("SELECT 'ä".encode()[:-1], 100, "SELECT '..."),
        (b"SELECT \x1b[2J\0 \xff", 13, "SELECT [2J \ufffd"),
    ],
)
def test_statements_are_printable(monkeypatch: pytest.MonkeyPatch, kept: bytes, length: int, shown: str) -> None:
    monkeypatch.setattr(core, "worker_statement", lambda _: (kept, length))
    assert list(late_statements({7: 0})) == [f"  #7: {shown}"]
