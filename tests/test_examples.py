"""Every example prints what it says, and the reference of the Lua API names them and all that there is."""

import re
import shlex
from pathlib import Path

import pytest

from tests.support.mariadb import MariaDB
from tests.support.reference import ours, report

ROOT = Path(__file__).parent.parent
EXAMPLES = sorted((ROOT / "examples").glob("*.lua"))


def commands_of(example: Path) -> list[list[str]]:
    """The command lines in the comment at its head."""
    head = example.read_text().split("\n\n")[0]
    lines = re.findall(r"^--    sysbench (examples/.*)$", head, re.MULTILINE)
    return [shlex.split(line) for line in lines]


def expected_of(example: Path) -> list[str]:
    """What it prints: what stands behind the arrows."""
    return re.findall(r"--> ?(.*)$", example.read_text(), re.MULTILINE)


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_example_prints_what_it_says(example: Path, request: pytest.FixtureRequest) -> None:
    printed = []
    commands = commands_of(example)
    assert commands != []
    for command in commands:
        if "--db-driver=mysql" in command:
            server: MariaDB = request.getfixturevalue("mariadb")
            command[1:1] = server.args
        result = ours(*command, cwd=ROOT)
        assert result.status == 0, result.stdout + result.stderr
        printed += [line for line in result.stdout.splitlines() if not re.match(r"FATAL: |ALERT: |\(last", line)]
    assert printed == expected_of(example)


PAGE = (ROOT / "docs" / "lua_api.md").read_text()
ROWS = re.findall(r"^\| (`.*?) \| .* \| \[(\w+)\]\(\.\./examples/(\w+)\.lua\) \|$", PAGE, re.MULTILINE)
# Prints every name that a script finds, by walking through what there is.
WALK = """
local function walk(prefix, t)
   for name, value in pairs(t) do
      if type(value) == "table" and name ~= "argv" then walk(prefix .. name .. ".", value)
      elseif type(name) == "string" then print(prefix .. name) end
   end
end
walk("", sysbench)
local con = sysbench.sql.driver():connect()
local stmt = con:prepare("SELECT ?")
walk("param.", stmt:bind_create(sysbench.sql.type.INT))
for name, value in pairs(_G) do
   if name:match("^db_") or name:match("^sb_") or name:match("^DB_") then print(name) end
end
"""


def names_of(cell: str) -> list[str]:
    """What is named in a cell: `con:query(sql)` is query, `sysbench.rand.default(a, b)` is default."""
    return [re.split(r"[.:]", code.split("(")[0])[-1] for code in re.findall(r"`([^`]+)`", cell)]


def test_every_row_of_the_reference_has_its_example() -> None:
    assert len(ROWS) == len(re.findall(r"^\| `", PAGE, re.MULTILINE))
    for cell, label, file in ROWS:
        assert label == file
        text = (ROOT / "examples" / f"{file}.lua").read_text()
        assert re.search(rf"\b{names_of(cell)[0]}\b", text), f"{file}.lua does not show {cell}"


def test_every_function_of_the_reference_is_in_an_example() -> None:
    examples = "".join(example.read_text() for example in EXAMPLES)
    functions = [
        name
        for cell, _, _ in ROWS
        for code, name in zip(re.findall(r"`([^`]+)`", cell), names_of(cell), strict=True)
        if "(" in code
    ]
    assert len(functions) > 60
    assert [name for name in functions if not re.search(rf"\b{name}\b", examples)] == []


def test_reference_names_all_that_there_is() -> None:
    result = ours("--verbosity=0", "--db-driver=null", stdin=WALK)
    assert result.status == 0, result.stdout
    found = {line.split(".")[-1] for line in result.stdout.splitlines()}
    # Methods of C types cannot be walked through.
    sql = (ROOT / "lua" / "internal" / "sysbench.sql.lua").read_text()
    found |= set(re.findall(r"^function \w+:(\w+)", sql, re.MULTILINE))
    assert len(found) > 100
    named = set(re.findall(r"\w+", PAGE))
    # The second names of what stands there: without db_, and C types of the same numbers.
    assert {name for name in found if name not in named and f"db_{name}" not in named} == set()


def test_reference_names_every_function_for_scripts() -> None:
    """Those of ext/abi.h that are only for internal Lua begin with other letters or are named by their family."""
    header = (ROOT / "ext" / "abi.h").read_text()
    counters = re.findall(r"\bSB_CNT_\w+", header)
    events = re.findall(r"\b(sb_(?:more_events|event_start|event_stop|counter_\w+))\(", header)
    assert [name for name in counters + events if not re.search(rf"\b{name}\b", PAGE)] == []


def test_first_script_of_the_guide_runs(tmp_path: Path) -> None:
    guide = (ROOT / "docs" / "scripting.md").read_text()
    blocks = re.findall(r"^```(?:lua)?\n(.*?)^```$", guide, re.MULTILINE | re.DOTALL)
    (tmp_path / "first.lua").write_text(blocks[0])
    command = shlex.split(blocks[1])
    result = ours(*command[1:-1], "--events=20", command[-1], cwd=tmp_path)
    assert command[0] == "sysbench"
    assert report(result.stdout)["read"] == 20
