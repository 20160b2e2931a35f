"""The line that shows progress at a terminal, and that it is nowhere else."""

from __future__ import annotations

import re
from pathlib import Path

from tests.support.reference import ours
from tests.support.terminal import on_terminal, screen, without_numbers

RUN = ("cpu", "--time=3", "--report-interval=1", "--rand-seed=1", "run")
# Contents that can be validated take their time.
FILES = ("fileio", "--file-num=2", "--file-total-size=200M", "--validate")
LOADS = """
function prepare()
   local con = sysbench.sql.driver():connect()
   con:query("CREATE TABLE t (id INTEGER)")
   con:bulk_insert_init("INSERT INTO t VALUES")
   for i = 1, 200000 do con:bulk_insert_next("(" .. i .. ")") end
   con:bulk_insert_done()
   ffi.cdef("int usleep(unsigned)")
   for i = 1, 5 do ffi.C.usleep(500000) end
   print("loaded")
end
"""


def test_a_run_tells_the_time_left_and_never_mixes_with_output(tmp_path: Path) -> None:
    stdout, terminal = on_terminal(*RUN, cwd=tmp_path, stdout_too=False)
    assert re.findall(r"\x1b\[Krun: [12] s left, [\d,]+ events/s, p95 [\d.]+ ms\r", terminal)
    assert "\x1b" not in stdout
    assert "run:" not in stdout
    assert screen(terminal) == [""]
    _, terminal = on_terminal(*RUN, cwd=tmp_path, stdout_too=True)
    assert "\x1b[Krun: " in terminal
    plain = stdout.split("\n")
    assert without_numbers(screen(terminal)) == without_numbers(plain)


def test_events_are_counted_down_if_they_are_limited(tmp_path: Path) -> None:
    limits = ("--rate=20", "--arrival=uniform", "--events=60", "--time=0")
    _, terminal = on_terminal("cpu", *limits, "run", cwd=tmp_path, stdout_too=False)
    assert re.search(r"run: [12] s, \d+ of 60 events, ", terminal)


def test_a_command_tells_its_time_and_the_rows_that_it_has_loaded(tmp_path: Path) -> None:
    script = tmp_path / "loads.lua"
    script.write_text(LOADS)
    stdout, terminal = on_terminal(str(script), "--db-driver=sqlite", "prepare", cwd=tmp_path, stdout_too=False)
    assert stdout.endswith("loaded\n")
    assert re.search(r"\x1b\[Kprepare: \d+ s, [\d,]+ rows, [\d,]+ rows/s\r", terminal)
    assert screen(terminal) == [""]


def test_fileio_tells_how_much_of_its_files_is_there(tmp_path: Path) -> None:
    stdout, terminal = on_terminal(*FILES, "prepare", cwd=tmp_path, stdout_too=False)
    assert re.search(r"\x1b\[K\[#* *\] +\d+% +[\d.]+ MiB/s, \d+ s left\r", terminal)
    assert "209715200 bytes written" in stdout
    assert screen(terminal) == [""]


def test_progress_can_be_turned_off_and_is_drawn_on_terminals_only(tmp_path: Path) -> None:
    _, terminal = on_terminal(*FILES, "--progress=off", "prepare", cwd=tmp_path, stdout_too=False)
    assert terminal == ""
    for file in tmp_path.iterdir():
        file.unlink()
    assert ours(*FILES, "prepare", cwd=tmp_path).stderr == ""
