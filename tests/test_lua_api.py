"""Scripts that use the whole Lua API print the same under the reference and under our command."""

import re
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.support.proc import Result
from tests.support.reference import Program, ours, reference

LUA = Path(__file__).parent / "lua"
QUIET = "--verbosity=2"

# (script, arguments); scripts are in tests/lua/api, and read there what they print and why.
CASES = [
    ("root", ()),
    ("root", ("prepare",)),
    ("root", ("--events=1", "run")),
    ("root", ("--events=1", "--threads=2", "prepare")),
    ("states", ("--events=5", "run")),
    ("states", ("prepare",)),
    ("states", ("cleanup",)),
    ("states", ("help",)),
    *(
        ("events", (f"--mode={mode}", "--events=4", "run"))
        for mode in ("zero", "none", "no", "table", "third", "restart", "nested", "exit")
    ),
    ("thread_run", ("--events=3", "run")),
    ("wrapped_run", ("--events=3", "run")),
    ("options", ("help",)),
    ("options", ("list",)),
    *(
        ("options", (*typed, "values"))
        for typed in (
            (),
            ("--num=12", "--fraction=7.25", "--int=-3", "--size=2M", "--double=1e3", "--big=5"),
            ("--str=", "--list="),
            ("--str", "--list", "--str-none"),
            ("--str=a=b c", "--str-none=x", "--str_empty=y"),
            ("--on=off", "--off", "--bool_text=0"),
            ("--on=0", "--off=true", "--bool-text=off"),
            ("--list=x,,y,", "--list-numbers=7", "--list_text=a b,c"),
            ("--mixed-na-me=3",),
            ("--mixed_na_me=4", "--mixed_na-me=5"),
            ("--int=x",),
            ("--int=5.5",),
            ("--int=99999999999",),
            ("--on=maybe",),
            ("--on=",),
            ("--nosuch=1",),
            ("--mixed_na=1",),
        )
    ),
    *(
        ("options", (command,))
        for command in ("constants", "writable", "defined", "zero", "no", "none", "text", "table")
    ),
    *(("options", (command,)) for command in ("number", "parallel", "one", "run")),
    *(("options", ("--threads=3", command)) for command in ("parallel", "one", "none", "text")),
    *(
        ("exported", (*typed, "prepare"))
        for typed in (
            (),
            ("--foo=7",),
            ("--foo", "--bar-baz=x"),
            ("--foo=1", "--foo=2", "--threads=2"),
            ("--foo=",),
            ("--mysql-table-engine=myisam", "--myisam-max-rows=5"),
            ("--print=1", "--string=2"),
            ("--max-time=7", "--num-threads=2"),
        )
    ),
    ("validators", ("--level=5", "show")),
    ("validators", ("--level=13", "show")),
    ("validators", ("--level=x", "show")),
    ("validators", ("show",)),
    ("rand", ("prepare",)),
    ("rand", ("--events=1", "--rand-seed=7", "run")),
    ("rand", ("--rand-type=pareto", "prepare")),
    ("histogram", ()),
    ("reports", ("prepare",)),
    ("reports", ("--percentile=0", "prepare")),
    ("stat_fields", ("--time=3", "--report-interval=2", "run")),
    ("late_hooks", ("--events=1", "run")),
    ("ffi", ()),
    *(("ffi_types", (command,)) for command in ("prepare", "cleanup", "help")),
    ("ffi", ("run",)),
]
FAILURES = [
    *(
        (where, command)
        for where in ("body", "table", "nil", "options number", "options list", "options text", "options nil")
        for command in ("prepare", "run", "help")
    ),
    *((where, "prepare") for where in ("prepare", "prepare nil", "prepare number", "options bool", "options table")),
    *(
        (where, "run")
        for where in (
            "init",
            "thread_init",
            "thread_done",
            "done",
            "no event",
            "event number",
            "event table",
            "late event",
            "init number",
            "done text",
            "thread_init text",
            "thread_done table",
        )
    ),
]


def run(
    program: Program, script: str, *args: str, env: Mapping[str, str | None] | None = None, stdin: str = ""
) -> Result:
    """The script's output, without what none can rely on: internal lines, addresses, numbers of types."""
    result = program(*([f"api/{script}.lua"] if script else []), *args, cwd=LUA, env=env, stdin=stdin)
    return Result(neutral(result.stdout), neutral(result.stderr), result.status)


def neutral(text: str) -> str:
    text = re.sub(r'(\[string "sysbench[\w.]*"\]):\d+:', r"\1:N:", text)
    text = re.sub(r"0x[0-9a-f]{6,}", "ADDRESS", text)
    text = re.sub(r"(struct|enum) \d+", r"\1 N", text)
    # Ours knows what the object is called.
    text = re.sub(r"(?:'struct N'|a \w+) (has no member named '\w+')(?: \(.*\))?", r"OBJECT \1", text)
    return re.sub(r"sysbench 1\.0\.20\S* \(using .*\)", "sysbench (VERSION)", text)


def assert_same(script: str, *args: str, env: Mapping[str, str | None] | None = None, stdin: str = "") -> None:
    """Both print the same; to what stands on standard error we may add advice."""
    expected = run(reference, script, QUIET, *args, env=env, stdin=stdin)
    result = run(ours, script, QUIET, *args, env=env, stdin=stdin)
    assert (result.stdout, result.status) == (expected.stdout, expected.status)
    assert result.stderr.startswith(expected.stderr.removesuffix("\n"))


def name_of(value: str | tuple[str, ...]) -> str:
    return value if isinstance(value, str) else " ".join(value)


@pytest.mark.parametrize(("script", "args"), CASES, ids=name_of)
def test_same_output(script: str, args: tuple[str, ...]) -> None:
    assert_same(script, *args)


@pytest.mark.parametrize(("where", "command"), FAILURES)
def test_same_failure(where: str, command: str) -> None:
    assert_same("failing", "--events=1", command, env={"FAIL": where})


def test_debug_is_the_highest_verbosity(tmp_path: Path) -> None:
    script = tmp_path / "debug.lua"
    script.write_text("function prepare() print(verbosity, sysbench.opt.verbosity, debug) end")
    for options in ("--debug", "--verbosity=1"), ("--verbosity=9", "--debug"), ("--debug=off", "--verbosity=1"):
        expected = reference(str(script), *options, "prepare").stdout.splitlines()[-1]
        assert ours(str(script), *options, "prepare").stdout.splitlines()[-1] == expected
