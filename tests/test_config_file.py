"""The config file: its syntax compared with the reference, and what it repairs."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from sysbench_py.command_line import CommandLine, apply_test_options, parse
from sysbench_py.config_file import read_config_file
from sysbench_py.errors import UsageError
from sysbench_py.options import Kind, Option
from tests.support.compat import compat

SHOW = """
function prepare()
  for _, name in ipairs{"threads", "mysql_host", "mysql_user", "pgsql_user", "pgsql_db"} do
    local value = sysbench.opt[name]
    if type(value) == "table" then value = table.concat(value, "|") end
    print(name .. "=" .. tostring(value))
  end
end
"""

TABLES = Option("tables", Kind.INT, "1", "number of tables")


@pytest.fixture
def config(tmp_path: Path) -> Path:
    return tmp_path / "bench.cnf"


def parse_with(config: Path, content: str, *arguments: str) -> CommandLine:
    config.write_text(content)
    return parse(["sysbench", f"--config-file={config}", *arguments])


@pytest.mark.parametrize(
    "content",
    [
        "threads=3\n# comment=1\n\n[mysql]\nmysql-host=a",
        "mysql_host=a, b 'c, d', \"e#f\" # x\nmysql-user=u # x, y\n",
        "mysql-host=h1\nmysql-host=h2,h3\nthreads=1\nthreads=2 5\n",
        "mysql-user='x y' z\npgsql-user=\"it's\"\npgsql-db=a=b\n",
        "mysql-user=a#b\nmysql-host=d'e,f\"g\npgsql-user=''\npgsql-db= \t b\t\n",
        "mysql-host=\npgsql-db=\n",
        "mysql-user=  # nothing\nthreads=010\n",
    ],
)
def test_syntax_is_that_of_the_reference(config: Path, tmp_path: Path, content: str) -> None:
    ours = parse_with(config, content).options.exported()
    script = tmp_path / "show.lua"
    script.write_text(SHOW)
    theirs = subprocess.run(
        ["/usr/bin/sysbench", f"--config-file={config}", str(script), "prepare"],
        capture_output=True,
        text=True,
        check=True,
    )
    lines = [line for line in theirs.stdout.splitlines()[2:] if not line.startswith("WARNING: Global option")]
    shown = {key: "|".join(value) if isinstance(value, tuple) else value for key, value in ours.items()}
    names = [line.partition("=")[0] for line in lines]
    assert len(names) == 5
    assert lines == [f"{name}={shown[name]}" for name in names]


def test_blank_separates_after_a_quote_too(config: Path) -> None:
    assert parse_with(config, "mysql-host = 'a' \"b\" c # d, e").options["mysql-host"] == ("a", "b", "c")


@compat("config-file-names")
def test_names_are_trimmed(config: Path) -> None:
    assert parse_with(config, " threads = 4\r\n").options["threads"] == 4


@compat("config-file-switches")
@pytest.mark.parametrize(("text", "value"), [("off", False), ("on", True), ("0", False), ("true", True)])
def test_switches_are_read_as_on_the_command_line(config: Path, text: str, value: bool) -> None:
    assert parse_with(config, f"debug={text}").options["debug"] is value


def test_the_later_setting_wins(config: Path) -> None:
    config.write_text("threads=2")
    file = f"--config-file={config}"
    assert parse(["sysbench", "--threads=5", file]).options["threads"] == 2
    assert parse(["sysbench", file, "--threads=5"]).options["threads"] == 5


@compat("config-file-test-options")
@pytest.mark.parametrize(("arguments", "tables"), [((), 7), (("--tables=9",), 9)])
def test_options_of_the_test_can_be_set(config: Path, arguments: tuple[str, ...], tables: int) -> None:
    cmdline = parse_with(config, "tables = 7", *arguments, "x.lua", "run")
    apply_test_options(cmdline, [TABLES], accept_unknown=False)
    assert cmdline.options["tables"] == tables


def test_script_without_options_gets_every_entry(config: Path) -> None:
    cmdline = parse_with(config, "oltp-table-size = 7 8", "x.lua", "run")
    apply_test_options(cmdline, [], accept_unknown=True)
    assert cmdline.options["oltp_table_size"] == "7"


@compat("config-file-unknown")
@pytest.mark.parametrize("entry", ["tabels = 7", "--tables = 7", "debug = yes"])
def test_unknown_entry_names_file_and_line(config: Path, entry: str) -> None:
    cmdline = parse_with(config, f"threads = 2\n{entry}\n", "x.lua", "run")
    with pytest.raises(UsageError) as raised:
        apply_test_options(cmdline, [TABLES], accept_unknown=False)
    raised.value.advice = ""
    assert raised.value.line == f"{config}:2: invalid option: {entry.replace(' ', '')}"


def test_misspelt_entry_says_what_it_may_mean(config: Path) -> None:
    cmdline = parse_with(config, "tabels = 7", "x.lua", "run")
    with pytest.raises(UsageError, match="invalid option: tabels=7") as raised:
        apply_test_options(cmdline, [TABLES], accept_unknown=False)
    assert raised.value.line.endswith(" (did you mean --tables?)")


def test_bad_value_names_file_and_line(config: Path) -> None:
    cmdline = parse_with(config, "\nthreads = many")
    with pytest.raises(UsageError) as raised:
        cmdline.options.exported()
    assert raised.value.line == f"{config}:2: Invalid value for the 'threads' option: 'many' (use a whole number)"


@compat("config-file-lines")
@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("threads 4", "expected 'name = value', found 'threads 4'"),
        ("= 4", "expected 'name = value', found '= 4'"),
        ("mysql-user = 'abc", "unexpected EOL on line 1"),
        ("mysql-user = 'abc'd", "expected a blank or a comma after the closing quote"),
        ("mysql-user = 'a'b c'", "expected a blank or a comma after the closing quote"),
    ],
)
def test_wrong_line(config: Path, line: str, message: str) -> None:
    config.write_text(line)
    with pytest.raises(UsageError) as raised:
        read_config_file(str(config))
    assert raised.value.line == f"{config}:1: {message}"


@compat("config-file-unreadable")
def test_unreadable_file(config: Path, tmp_path: Path) -> None:
    for path, reason in ((config, "No such file or directory"), (tmp_path, "Is a directory")):
        with pytest.raises(UsageError) as raised:
            parse(["sysbench", f"--config-file={path}"])
        assert raised.value.line == f"Cannot read the config file '{path}': {reason}"


def test_option_without_a_file_reads_none() -> None:
    assert parse(["sysbench", "--config-file"]).options["config-file"] is None
    assert parse(["sysbench", "--config-file="]).options["config-file"] is None


def test_config_file_cannot_name_another(config: Path) -> None:
    with pytest.raises(UsageError, match=r"bench.cnf:1: a config file cannot name another one"):
        parse_with(config, f"config-file={config}")


def test_bytes_that_are_no_text_are_kept(config: Path) -> None:
    config.write_bytes(b"mysql-password = p\xff\n")
    assert parse(["sysbench", f"--config-file={config}"]).options["mysql-password"] == "p\udcff"
