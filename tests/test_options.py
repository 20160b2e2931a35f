"""Options: how texts become values, compared with the reference, and what registration does."""

from __future__ import annotations

import math
import pickle
import re
import subprocess
from pathlib import Path

import pytest

from sysbench_py.drivers import DRIVERS, find_driver
from sysbench_py.errors import UsageError
from sysbench_py.options import Kind, Option, OptionSet, Value, format_option_list
from tests.support.compat import compat

ROWS = (
    Option("b", Kind.BOOL, "off", "bool"),
    Option("d", Kind.DOUBLE, "0.5", "dbl"),
    Option("empty-list", Kind.LIST, "", "el"),
    Option("f", Kind.FILE, None, "file"),
    Option("i", Kind.INT, "3", "int"),
    Option("l", Kind.LIST, "a,b", "list"),
    Option("my-opt", Kind.STRING, None, "dash"),
    Option("s", Kind.SIZE, "10K", "size"),
    Option("str", Kind.STRING, "x", "string"),
)

SCRIPT = """
local arg = sysbench.cmdline
sysbench.cmdline.options = {
  b = {"bool", false}, d = {"dbl", 0.5}, ["empty-list"] = {"el", {}}, f = {"file", nil, arg.ARG_FILE},
  i = {"int", 3, arg.ARG_INT}, l = {"list", {"a", "b"}}, ["my-opt"] = {"dash"},
  s = {"size", "10K", arg.ARG_SIZE}, str = {"string", "x"},
}
function prepare()
  for _, name in ipairs{"b", "d", "empty_list", "i", "l", "my_opt", "s", "str"} do
    local value = sysbench.opt[name]
    if type(value) == "table" then value = table.concat(value, "|")
    elseif type(value) == "number" then value = string.format("%.17g", value) end
    print(name .. "=" .. tostring(value))
  end
end
"""


def reference(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["/usr/bin/sysbench", *arguments],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture(scope="module")
def script(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("options") / "options.lua"
    path.write_text(SCRIPT)
    return path


def as_lua_prints(value: Value) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple):
        return "|".join(value)
    return f"{value:.17g}" if isinstance(value, int | float) else str(value)


TYPED = [
    ("--b", "--b=on", "--b=true", "--b=1", "--b=off", "--b=false", "--b=0"),
    ("--b=", "--b=ON", "--b=yes", "--b=2"),
    ("--i=010", "--i=+5", "--i=-5", "--i= 5", "--i=\v5", "--i=2147483647", "--i=-2147483648"),
    ("--i=5 ", "--i= ", "--i=-", "--i=0x10", "--i=1.5", "--i=4K", "--i=2147483648", "--i=-2147483649"),
    ("--s=7", "--s=5k", "--s=5K", "--s=5M", "--s=5g", "--s=5T", "--s=5KB", "--s=5GiB", "--s=05"),
    ("--d=1e3", "--d= 1.5 ", "--d=-.5e1", "--d=0x1p4", "--d=inf", "--d=-Infinity", "--d=1e999", "--d=0.1"),
    ("--str", "--str=", "--str=a=b", "--str= a", '--str=a"b', "--my-opt=1", "--my_opt=2"),
    ("--l", "--l=", "--l=x,,y", "--l=,a,", "--l= a, b", "--empty-list=1", "--empty_list=1,2"),
    ("--my-opt", "--my_opt=", "--B=on", "--unknown", "--unknown=1", "--", "--=1"),
]
NO_NUMBERS = [
    ("--i", "--i="),
    ("--s", "--s=", "--s=5P", "--s=12x", "--s=1.5G", "--s= 5K", "--s=+5", "--s=-5", "--s=0x10", "--s=5 K", "--s=abc"),
    ("--d", "--d=", "--d= ", "--d=abc", "--d= 1.5x", "--d=10k", "--d=1e", "--d=.", "--d=1,5"),
]


@pytest.mark.parametrize("typed", [argument for group in TYPED for argument in group])
def test_values_are_those_of_the_reference(script: Path, typed: str) -> None:
    theirs = reference(typed, str(script), "prepare")
    name, equals, text = typed[2:].partition("=")
    options = OptionSet(ROWS)
    if not options.set(name, text if equals else None):
        assert (theirs.returncode, theirs.stderr) == (1, f"invalid option: {typed}\n")
        return
    try:
        exported = options.exported()
    except UsageError as error:
        assert error.stream == "stderr"
        assert (theirs.returncode, theirs.stderr) == (1, f"{error}\n")
        return
    assert theirs.returncode == 0
    assert theirs.stdout.splitlines()[2:] == [f"{key}={as_lua_prints(exported[key])}" for key in exported]


@compat("no-numbers")
@pytest.mark.parametrize("typed", [argument for group in NO_NUMBERS for argument in group])
def test_what_is_no_number_is_an_error(script: Path, typed: str) -> None:
    assert reference(typed, str(script), "prepare").returncode == 0
    name, equals, text = typed[2:].partition("=")
    options = OptionSet(ROWS)
    assert options.set(name, text if equals else None)
    with pytest.raises(UsageError) as raised:
        options.exported()
    assert re.fullmatch(rf"Invalid value for the '{name}' option: '{re.escape(text)}' \(use .*\)", raised.value.line)


def test_numeric_option_without_a_default_is_zero() -> None:
    options = OptionSet([Option(kind.name, kind, None, "") for kind in (Kind.INT, Kind.SIZE, Kind.DOUBLE)])
    assert options.exported() == {"INT": 0, "SIZE": 0, "DOUBLE": 0.0}


def test_not_a_number_is_read_like_strtod() -> None:
    options = OptionSet(ROWS)
    options.set("d", "nan")
    assert math.isnan(options.get("d", float))


def test_help_layout_is_that_of_the_reference(script: Path) -> None:
    theirs = reference(str(script), "help")
    assert theirs.returncode == 0
    assert theirs.stdout.split("options:\n")[1] == format_option_list(ROWS)


def test_help_of_no_options_is_an_empty_line() -> None:
    assert format_option_list([]) == "\n"


def test_help_shows_a_suffix_of_its_own() -> None:
    row = Option("file-block-size", Kind.SIZE, "16384", "block size", suffix="=N")
    assert format_option_list([row]) == "  --file-block-size=N block size [16384]\n\n"


def test_bad_number_is_an_error_when_read_and_is_repaired_by_a_later_setting() -> None:
    options = OptionSet(ROWS)
    assert options.set("i", "x")
    with pytest.raises(UsageError, match="Invalid value for the 'i' option: 'x'"):
        options["i"]
    with pytest.raises(UsageError):
        options.exported()
    assert options.set("i", "4")
    options.exported()
    assert options["i"] == 4


def test_message_for_a_bad_number_has_underscores() -> None:
    options = OptionSet([Option("rand-seed", Kind.INT, "0", "")])
    options.set("rand-seed", "x")
    with pytest.raises(UsageError) as raised:
        options["rand-seed"]
    assert raised.value.line == "Invalid value for the 'rand_seed' option: 'x' (use a whole number)"


@pytest.mark.parametrize(
    ("kind", "text", "advice"),
    [
        (Kind.INT, "2147483648", "use a whole number from -2147483648 to 2147483647"),
        (Kind.INT, "9" * 5000, "use a whole number from -2147483648 to 2147483647"),
        (Kind.SIZE, "8388608T", "use less than 8388608T"),
        (Kind.SIZE, "1X", "use K, M, G, T or no unit instead of 'X', as in 64K"),
        (Kind.SIZE, "1.5 bytes", "use K, M, G, T or no unit instead of 'bytes', as in 64K"),
        (Kind.SIZE, "1kk", "use K, M, G, T or no unit instead of 'kk', as in 64K"),
        (Kind.SIZE, "1.5K", "use a whole number and perhaps K, M, G or T, as in 64K"),
        (Kind.SIZE, "X", "use a whole number and perhaps K, M, G or T, as in 64K"),
    ],
)
def test_a_number_that_is_too_large_is_told_the_range(kind: Kind, text: str, advice: str) -> None:
    options = OptionSet([Option("n", kind, "0", "")])
    options.set("n", text)
    with pytest.raises(UsageError) as raised:
        options["n"]
    assert raised.value.advice == advice


@pytest.mark.parametrize("text", ["8388608T", "99999999999999999999", "9223372036854775808"])
def test_size_that_no_machine_word_holds_is_an_error(text: str) -> None:
    options = OptionSet(ROWS)
    options.set("s", text)
    with pytest.raises(UsageError, match=f"'s' option: '{text}'"):
        options["s"]


def test_largest_size() -> None:
    options = OptionSet(ROWS)
    options.set("s", "9223372036854775807")
    assert options["s"] == 2**63 - 1


def test_unset_strings_are_none_and_exported_as_empty() -> None:
    options = OptionSet(ROWS)
    assert options["my-opt"] is None
    assert options.get("my-opt", str) == ""
    assert options.exported()["my_opt"] == ""
    assert options["f"] is None
    assert "f" not in options.exported()


def test_registering_again_resets_the_value_and_may_change_the_kind() -> None:
    options = OptionSet([Option("table-size", Kind.INT, "1", "general")])
    options.set("table_size", "7")
    options.register([Option("table_size", Kind.STRING, "nine", "of the script")])
    assert options["table-size"] == "nine"
    assert options.row("table-size").help == "of the script"
    assert list(options.exported()) == ["table_size"]


def test_option_without_a_kind_cannot_be_registered() -> None:
    with pytest.raises(UsageError, match="Unknown argument type: 0"):
        OptionSet([Option("x", Kind.NULL, "1", "")])


def test_default_must_be_a_value() -> None:
    with pytest.raises(UsageError, match="Invalid value for the 'x' option: 'maybe'"):
        OptionSet([Option("x", Kind.BOOL, "maybe", "")])
    options = OptionSet([Option("x", Kind.INT, "zz", "")])
    with pytest.raises(UsageError, match="Invalid value for the 'x' option: 'zz'"):
        options["x"]
    options.set("x", "1")
    assert options["x"] == 1


def test_each_validator_judges_its_own_option() -> None:
    seen = []

    def not_bad(name: str, text: str) -> str | None:
        seen.append((name, text))
        return "use something good" if text == "bad" else None

    options = OptionSet([Option("a-b", Kind.STRING, "bad", "", validate=not_bad), Option("c", Kind.STRING, "", "")])
    assert options["a_b"] == "bad"
    assert not options.set("a-b", "bad")
    assert options.set("a-b", "good")
    assert options.set("a-b", None)
    assert options.set("c", "bad")
    assert seen == [("a_b", "bad"), ("a_b", "good"), ("a_b", "")]
    assert options.refusal("a-b") == "use something good"
    assert options.refusal("c") == ""


def test_choices_ignore_case_and_name_themselves() -> None:
    options = OptionSet([Option("mode", Kind.STRING, "wal", "", choices=("wal", "off"))])
    options.set("mode", "OFF")
    assert options["mode"] == "off"
    for bad in ("on", ""):
        options.set("mode", bad)
        with pytest.raises(UsageError) as raised:
            options["mode"]
        assert raised.value.line == f"FATAL: Invalid value for --mode: '{bad}' (use wal, off)"
        assert raised.value.stream == "stdout"


def test_get_checks_the_kind() -> None:
    options = OptionSet(ROWS)
    assert options.get("l", tuple) == ("a", "b")
    with pytest.raises(TypeError):
        options.get("b", int)
    with pytest.raises(KeyError):
        options["none"]


def test_usage_error_survives_pickling() -> None:
    error = pickle.loads(pickle.dumps(UsageError.fatal("no")))
    assert (error.line, error.stream) == ("FATAL: no", "stdout")


def test_every_driver_has_its_rows() -> None:
    assert [driver.name for driver in DRIVERS] == ["mysql", "pgsql", "sqlite", "dbapi", "null"]
    for driver in DRIVERS:
        assert all(row.name.startswith(f"{driver.name}-") for row in driver.options)
        OptionSet(driver.options).exported()


@pytest.mark.parametrize(
    ("typed", "mode"),
    [(None, True), ("on", True), ("1", True), ("off", False), ("DISABLED", "disabled"), ("VERIFY_CA", "verify_ca")],
)
def test_mysql_ssl_is_a_switch_and_a_mode(typed: str | None, mode: bool | str) -> None:
    options = OptionSet(find_driver("mysql").options)
    assert options["mysql-ssl"] is False
    options.set("mysql-ssl", typed)
    assert options["mysql-ssl"] == mode


@pytest.mark.parametrize(("typed", "meant"), [("mariadb", "mysql"), ("Postgres", "pgsql"), ("sqlite3", "sqlite")])
def test_other_names_of_drivers(typed: str, meant: str) -> None:
    with pytest.raises(UsageError) as raised:
        find_driver(typed)
    assert raised.value.advice == f"did you mean '{meant}'?"


def test_unknown_driver() -> None:
    with pytest.raises(UsageError) as raised:
        find_driver("oracle")
    assert raised.value.line == "FATAL: invalid database driver name: 'oracle' (use mysql, pgsql, sqlite, dbapi, null)"
    with pytest.raises(UsageError, match="Multiple DB drivers are available"):
        find_driver("")
