"""How --mysql-ignore-errors and its like are typed."""

from pathlib import Path

import pytest

from sysbench_py.drivers import DRIVERS
from sysbench_py.drivers.ignored import ignored_errors
from sysbench_py.options import OptionSet
from tests.support.compat import compat
from tests.support.mariadb import MariaDB
from tests.support.reference import ours, reference, report

NAME = "mysql-ignore-errors"
OWN = """
i = 0
function thread_init() con = sysbench.sql.driver():connect() end
function event()
  i = i + 1
  con:query("INSERT INTO one VALUES (" .. math.floor(i / 2) .. ")")
end
"""


@pytest.mark.parametrize(
    ("text", "items"),
    [
        ("1213, 1020", ("1213", "1020")),
        (" 1213 ,, 40001 ,", ("1213", "40001")),
        ("all", ("all",)),
        ("none", ()),
        ("1062,none", ("1062",)),
        ("", ()),
        (" ", ()),
    ],
)
def test_items(text: str, items: tuple[str, ...]) -> None:
    options = OptionSet(row for driver in DRIVERS for row in driver.options)
    assert options.set(NAME, text)
    assert ignored_errors(options, NAME, "[0-9]+", "use numbers") == items


@pytest.mark.parametrize(("text", "ignored"), [("1213, 1062", 1), ("all,none", 1), ("none", None)])
def test_duplicate_keys(text: str, ignored: int | None, mariadb: MariaDB, tmp_path: Path) -> None:
    (tmp_path / "own.lua").write_text(OWN)
    for program in (ours, reference):
        mariadb.empty_database()
        mariadb.sql("CREATE TABLE one (id INT PRIMARY KEY)")
        result = program("own.lua", *mariadb.args, f"--{NAME}={text}", "--events=3", "run", cwd=tmp_path)
        assert result.status == (0 if ignored else 1), result.stdout + result.stderr
        if ignored:
            assert report(result.stdout)["ignored_errors"] == ignored


@compat("ignored-errors")
@pytest.mark.parametrize("word", ["deadlock", "1062x"])
def test_other_words_are_errors(word: str) -> None:
    arguments = ("oltp_point_select", "--db-driver=mysql", f"--{NAME}=1213, {word}", "--mysql-dry-run", "--events=1")
    told = f"FATAL: Invalid value for --{NAME}: '{word}' (use error numbers, SQLSTATEs, or all)\n"
    assert told in ours(*arguments, "run").stdout
    assert reference(*arguments, "run").status == 0
