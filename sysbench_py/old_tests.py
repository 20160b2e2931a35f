"""The tests of older generations by the names that people give them, where this machine has no such file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from sysbench_py.command_line import CommandLine
from sysbench_py.resources import LUA

if TYPE_CHECKING:
    from sysbench_py.script import Script

# The last two folders of the paths at which packages of sysbench install scripts.
_OF_0_5 = ("tests/db", "include/oltp_legacy")
_OF_1_0 = ("share/sysbench",)


class StandIn(NamedTuple):
    """The script of ours at `path` that is run for a name that was typed; it is one of sysbench `generation`.

    `notice` is a line that says so, empty if the name can mean nothing else.
    """

    path: Path
    generation: str
    notice: str

    @property
    def old(self) -> bool:
        """Whether it comes from before sysbench 1.0."""
        return self.generation != "1.0"


def find_stand_in(cmdline: CommandLine) -> StandIn | None:
    """What is run for the test of the command line, if the name alone leads nowhere.

    A file or a module of that name is the test itself, as in sysbench 1.0.20. Else `--test=oltp` is the test of
    0.4; and a path stands for our script of the same base name, if it comes after --test= or names a folder in
    which sysbench's packages install scripts.
    """
    name = cmdline.testname or ""
    if not _may_be_old(cmdline, name):
        return None
    # Late, as it brings LuaJIT along.
    from sysbench_py.script import Script

    if Path(name).is_file() or _is_module(name, Script(name, cmdline.argv).search_path()):
        return None
    if name == "oltp":
        return StandIn(LUA / "compat/0.4/oltp.lua", "0.4", "")
    folders = {"0.5": LUA / "compat/0.5", "1.0": LUA}
    newest_first = "/".join(Path(name).parts[-3:-1]) in _OF_1_0
    for generation, folder in sorted(folders.items(), reverse=newest_first):
        path = folder / Path(name).name
        if path.is_file() and not (generation == "0.5" and path.name == "common.lua"):
            notice = f"{name} is not here: running our own {path.name} of sysbench {generation}"
            return StandIn(path, generation, notice)
    return None


def names_beside(cmdline: CommandLine) -> list[str]:
    """Names that differ from that of the test in their last part only, and that lead to one of our scripts."""
    name = Path(cmdline.testname or "")
    found = [str(name.with_name(path.name)) for path in sorted((LUA / "compat/0.5").glob("*.lua")) if name.name]
    found += ["oltp"] if cmdline.test_option else []
    return [each for each in found if _may_be_old(cmdline, each) and Path(each).name != "common.lua"]


def script_of(cmdline: CommandLine, luajit_cmd: str) -> Script:
    """The script that the command line names."""
    from sysbench_py.script import Script

    stand_in = find_stand_in(cmdline)
    if stand_in is None:
        return Script(cmdline.testname, cmdline.argv, luajit_cmd)
    return Script(str(stand_in.path), cmdline.argv, luajit_cmd, typed=cmdline.testname)


def _may_be_old(cmdline: CommandLine, name: str) -> bool:
    """Whether it is worth a look, which other command lines need not pay for."""
    if cmdline.test_option and (name == "oltp" or name.endswith(".lua")):
        return True
    return name.endswith(".lua") and "/".join(Path(name).parts[-3:-1]) in (*_OF_0_5, *_OF_1_0)


def _is_module(name: str, search_path: str) -> bool:
    patterns = [pattern for pattern in search_path.split(";") if pattern]
    return any(Path(pattern.replace("?", name.replace(".", "/"))).is_file() for pattern in patterns)
