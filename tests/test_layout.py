"""Who may import whom inside of the package, and how long a file may be."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "sysbench_py"
MODULES = sorted(PACKAGE.rglob("*.py"))

# Modules, or folders with a slash, and what each may import of the package (folders include their own modules).
ALLOWED = {
    "stats/": {"stats"},
    "sinks/": {"errors", "sinks", "stats", "writing"},
    "experiments/": {"api", "command_line", "errors", "experiments", "own_process", "sinks", "stats", "system"},
    "drivers/": {"drivers", "core", "errors", "log", "options", "passwords", "reading", "suggest"},
    "builtin/": {
        *("builtin", "core", "drivers", "errors", "log", "options", "plan", "progress", "sinks", "stats", "suggest"),
        *("system", "workload"),
    },
    "mysqlslap/": {
        "builtin",
        "cli",
        "errors",
        "mysqlslap",
        "options",
        "passwords",
        "reading",
        "suggest",
        "version",
        "writing",
    },
    "options": {"errors", "suggest"},
    "suggest": set(),
    "plan": set(),
    "errors": set(),
    "writing": set(),
    "tool_names": set(),
    "log": {"core"},
    "late": {"core", "stats"},
    "worker": {"core", "log", "system"},
    "workload": {"plan", "stats"},
    "script": {"core", "errors", "options", "resources", "version"},
    "shared_state": {"core", "errors", "script"},
    "lua_team": {"core", "errors", "log", "plan", "script", "shared_state", "system", "worker"},
    "lua_workload": {"core", "drivers", "log", "lua_team", "plan", "script", "stats", "workload"},
    "rates": {"errors", "options", "plan"},
    "runner": {
        *("client_meter", "core", "errors", "interrupts", "late", "live", "log", "plan"),
        *("processes", "progress", "rates", "recording"),
        *("sinks", "stats", "worker", "workload"),
    },
    "processes": {"core", "drivers", "log", "system", "worker"},
    "client_meter": {"core", "stats"},
    "live": {"core", "log", "stats"},
    "progress": {"core", "stats"},
    "stock_needs": set(),
    "server_facts": {"core", "script"},
    "preflight": {"core", "errors", "log", "plan", "script", "server_facts", "stock_needs"},
    "recording": {"errors", "log", "sinks", "stats"},
}
# Only the top of the program may import these.
TOP = {"cli", "script_commands", "builtin_commands", "runner"}
IMPORTS_TOP = {"cli", "__main__", "inspection", "mysqlslap", "script_commands", "builtin_commands", "tools"}


def imported(path: Path) -> Iterator[str]:
    """Names of the package's own modules that a file imports, without the package."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            module = node.module or ""
            names = [f"{module}.{alias.name}" for alias in node.names] if module == "sysbench_py" else [module]
        else:
            continue
        yield from (name.split(".")[1] for name in names if name.startswith("sysbench_py."))


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports(path: Path) -> None:
    name = path.relative_to(PACKAGE).with_suffix("").as_posix()
    found = set(imported(path))
    for rule, allowed in ALLOWED.items():
        if name == rule or (rule.endswith("/") and name.startswith(rule)):
            assert found <= allowed
    if name.split("/")[0] not in IMPORTS_TOP:
        assert not found & TOP
    assert ("_core" in found) == (name == "core")


def sources() -> list[Path]:
    folders = ("sysbench_py", "ext", "lua", "benchmarks", "examples")
    suffixes = {".py", ".pyx", ".pxi", ".lua", ".h"}
    found = [path for folder in folders for path in (ROOT / folder).rglob("*") if path.suffix in suffixes]
    return [path for path in found if path.name not in ("_core.h",)]


def test_no_file_is_too_long() -> None:
    assert {path.name: n for path in sources() if (n := len(path.read_text().splitlines())) > 500} == {}


def test_every_package_is_installed() -> None:
    """A checkout finds a folder that setup.py does not name, an installed package does not."""
    calls = [node for node in ast.walk(ast.parse((ROOT / "setup.py").read_text())) if isinstance(node, ast.Call)]
    listed = next(word.value for call in calls for word in call.keywords if word.arg == "packages")
    names = {".".join(path.parent.relative_to(ROOT).parts) for path in PACKAGE.rglob("__init__.py")}
    assert names <= set(ast.literal_eval(listed))
