"""A Lua script: how it is found, and the states in which it runs."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from lupa.luajit21 import LuaError, LuaRuntime

from sysbench_py import core
from sysbench_py.errors import UsageError
from sysbench_py.options import Kind, Option, Value, format_option_list
from sysbench_py.resources import ABI, LUA
from sysbench_py.version import REFERENCE

# Options that sysbench 1.0.20 does not have and that scripts see. Scripts for it may use these names for globals.
NEWER_OPTIONS = tuple(
    b"""db_reconnect_timeout dbapi_connect dbapi_dialect dbapi_ignore_errors dbapi_module dbapi_only_print
    dbapi_password dbapi_password_file luajit_cmd multiplex mysql_compression_algorithms mysql_password_file
    mysql_ssl_ca mysql_ssl_cert mysql_ssl_key pgsql_ignore_errors pgsql_password_file pgsql_sslmode
    processes rand_zipfian_exp sqlite_begin sqlite_busy_timeout sqlite_db sqlite_dialect
    sqlite_ignore_errors sqlite_journal sqlite_sync thread_init_timeout warmup_time workers""".split()
)
NEWER_BETWEEN_COMMAS = b",%b," % b",".join(NEWER_OPTIONS)


class Script(NamedTuple):
    """A script and the command line that it sees; `name` is a path or a module name, None for `text`.

    `luajit_cmd` is what --luajit-cmd asks of every state. `typed` is what a user calls the script, if not `name`."""

    name: str | None
    argv: tuple[str, ...]
    luajit_cmd: str = ""
    command: str | None = None
    text: bytes = b""
    typed: str | None = None

    @property
    def title(self) -> str:
        """The name in messages."""
        return os.path.basename(self.typed or self.name or "")  # noqa: PTH119 -- Path drops a trailing slash

    def search_path(self) -> str:
        """`package.path`: LUA_PATH or the default, which ends with the script's own folder and ours."""
        patterns = ["./?.lua", "./?/init.lua", "./src/lua/?.lua"]
        if (home := os.environ.get("HOME")) is not None:
            for folder in (f"{home}/.luarocks/share/lua/5.1", f"{home}/.luarocks/share/lua"):
                patterns += [f"{folder}/?.lua", f"{folder}/?/init.lua"]
        patterns += ["/usr/local/share/lua/5.1/?.lua", "/usr/share/lua/5.1/?.lua"]
        # A script given by its path finds the library that lies beside it before one of ours.
        if self.name and "/" in self.name and Path(self.name).is_file():
            patterns.append(f"{Path(self.name).parent}/?.lua")
        return _environment_path("LUA_PATH", [*patterns, f"{LUA}/?.lua"])

    def search_cpath(self) -> str:
        """`package.cpath`: LUA_CPATH or the default."""
        patterns = ["./?.so"]
        if (home := os.environ.get("HOME")) is not None:
            patterns += [f"{home}/.luarocks/lib/lua/5.1/?.so", f"{home}/.luarocks/lib/lua/?.so"]
        return _environment_path("LUA_CPATH", [*patterns, "/usr/local/lib/lua/5.1/?.so", "/usr/lib/lua/5.1/?.so"])


def _environment_path(variable: str, patterns: Sequence[str]) -> str:
    default = "".join(f"{pattern};" for pattern in patterns)
    typed = os.environ.get(variable)
    if typed is None:
        return default
    # As in standard Lua: `;;` stands for the default path.
    return typed.replace(";;", f";{default};")


def _new_runtime() -> LuaRuntime:
    return LuaRuntime(encoding=None, register_eval=False, register_builtins=False)


def _chunk(name: str, *, part: bool = False, stripped: bool = False) -> bytes:
    """lua/<name>.lua as byte code, which every state loads faster than text; `stripped` of lines and names.

    Of a part, it returns what the file has as a function, so that a state can have that more than once."""
    compiler = b"function(text, name, strip) return string.dump(assert(loadstring(text, name)), strip) end"
    path = LUA / f"{name}.lua"
    text = path.read_bytes()
    if part:
        text = b"return function(...) %b\nend" % text
    code: bytes = _new_runtime().eval(compiler)(text, path.name.encode(), stripped)
    return code


class _Shared(NamedTuple):
    """What each state executes at its start: a chunk, with the prototype of sb_stored."""

    prototype: bytes
    environment: bytes


@cache
def _shared() -> _Shared:
    """Compiled once; what states load later, if at all, is left with the core."""
    abi = re.sub(rb"/\*.*?\*/", b"", ABI.read_bytes(), flags=re.DOTALL)
    types = re.compile(rb"\b(?:%b)\b" % b"|".join(_TYPE.findall(abi)))
    plain = {match[1]: match[0] for match in _PROTOTYPE.finditer(abi) if not types.search(match[0])}
    for name, prototype in plain.items():
        core.store_text(name, prototype)
    core.store_text(b"plain", b"".join(plain.values()))
    core.store_text(b"types", _PROTOTYPE.sub(lambda match: b"" if match[1] in plain else match[0], abi))
    for path in _PARTS:
        # States keep no debug information of what each of them has: it would take 3 KiB.
        core.store_text(Path(path).name.encode(), _chunk(path, part=True, stripped=path in _ALWAYS))
    return _Shared(plain[b"sb_stored"], _chunk("internal/sysbench.ffi", stripped=True))


# The name of a type of abi.h.
_TYPE = re.compile(rb"^(?:\}|typedef.*[}\w]) (\w+);$", re.MULTILINE)
# A function of abi.h, from its type to the semicolon.
_PROTOTYPE = re.compile(rb"^[\w ]+[ *](\w+)\([^()]*\);$", re.MULTILINE)
# Internal Lua that every state loads, and what it loads when it is first needed.
_ALWAYS = ("internal/sysbench", "internal/sysbench.engine")
_PARTS = (
    *_ALWAYS,
    "internal/sysbench.cdef",
    "internal/sysbench.cmdline",
    "internal/sysbench.failure",
    "internal/sysbench.files",
    "internal/sysbench.histogram",
    "internal/sysbench.main",
    "internal/sysbench.members",
    "internal/sysbench.modules",
    "internal/sysbench.rand",
    "internal/sysbench.report",
    "internal/sysbench.restart",
    "internal/sysbench.sql",
    "internal/sysbench.strings",
    "internal/sysbench.turns",
    "internal/sysbench.waiting",
    "internal/sysbench.workers",
    "compat/legacy",
)


def to_lua(runtime: LuaRuntime, value: Any) -> Any:
    """A Python value as Lua knows it; texts become byte strings, mappings and sequences tables."""
    if isinstance(value, str):
        return os.fsencode(value)
    if isinstance(value, Mapping):
        return runtime.table_from({os.fsencode(key): to_lua(runtime, item) for key, item in value.items()})
    if isinstance(value, Sequence) and not isinstance(value, bytes):
        return runtime.table_from([to_lua(runtime, item) for item in value])
    return value


@cache
def _lua_options(options: tuple[tuple[str, Value], ...]) -> tuple[dict[bytes, Any], dict[bytes, list[bytes]]]:
    """Options as Lua knows them: those with one value, and lists. Numbers are doubles there."""
    single: dict[bytes, Any] = {}
    lists: dict[bytes, list[bytes]] = {}
    for name, value in options:
        key = os.fsencode(name)
        if isinstance(value, tuple):
            lists[key] = [os.fsencode(item) for item in value]
        elif isinstance(value, str):
            single[key] = os.fsencode(value)
        elif value is not None:
            single[key] = value if isinstance(value, bool) else float(value)
    return single, lists


def new_state(script: Script) -> tuple[LuaRuntime, Any]:
    """A Lua state with the search paths of the script, as --luajit-cmd asks for; and what internal Lua has in it."""
    runtime = _new_runtime()
    runtime.execute(
        b"python, package.loaded.python, package.path, package.cpath = nil, nil, ...",
        os.fsencode(script.search_path()),
        os.fsencode(script.search_cpath()),
    )
    shared = _shared()
    base = runtime.execute(shared.environment, shared.prototype, name=b"=sysbench.ffi.lua")
    if script.luajit_cmd:
        problem = runtime.execute(_chunk("internal/sysbench.luajit"), os.fsencode(script.luajit_cmd))
        if problem:
            raise UsageError.fatal(os.fsdecode(problem), about="luajit_cmd")
    return runtime, base


def root_arguments(runtime: LuaRuntime, script: Script) -> tuple[Any, ...]:
    """What lua/internal/sysbench.lua gets, but for the thread id."""
    version = REFERENCE.encode()
    # sysbench.cmdline.argv[0] is the program, as in argv of C.
    argv = to_lua(runtime, script.argv[1:])
    argv[0] = os.fsencode(os.path.basename(script.argv[0]))  # noqa: PTH119
    return version, b"sysbench " + version, argv, to_lua(runtime, script.command), to_lua(runtime, script.name)


def options_table(runtime: LuaRuntime, values: Mapping[str, Value]) -> Any:
    """Options as a Lua table."""
    single, lists = _lua_options(tuple(values.items()))
    table = runtime.table_from(single)
    for name, items in lists.items():
        table[name] = runtime.table_from(items)
    return table


def check_loaded(script: Script, result: Any) -> None:
    """Raise UsageError unless engine.load_script has succeeded."""
    if result is True or result[0]:
        return
    if len(result) > 2 and result[2]:
        raise UsageError.fatal(
            f"Cannot find benchmark '{script.name}': no such built-in test, file or module", about=script.name or ""
        )
    raise UsageError.fatal(os.fsdecode(result[1]))


class State:
    """One Lua state with the script's body executed in it; use it in one thread at a time.

    `thread_id` is what scripts see as sysbench.tid."""

    def __init__(self, script: Script, thread_id: int) -> None:
        self.script = script
        self._runtime, base = new_state(script)
        environment = base[b"environment"](self._runtime.globals())
        part = environment[b"part"]
        part(b"sysbench", thread_id, *root_arguments(self._runtime, script))
        # What comes now takes the room of what has made the state, and not more from the system.
        self._runtime.gccollect()
        self._engine = part(b"sysbench.engine")

    def call(self, function: str, *arguments: Any) -> Any:
        """Call a function of lua/internal/sysbench.engine.lua. Raises UsageError if what the script has made of
        its state breaks even that."""
        try:
            return self._engine[function.encode()](*(to_lua(self._runtime, item) for item in arguments))
        except LuaError as error:
            raise UsageError.fatal(str(error)) from error

    def load(self) -> None:
        """Execute the script's body. Raises UsageError with Lua's message, or if there is no such script."""
        if self.script.name is None:
            check_loaded(self.script, self.call("load_text", self.script.text, b"=stdin"))
        else:
            check_loaded(self.script, self.call("load_script", self.script.name))

    def option_rows(self) -> list[Option] | None:
        """The script's options, sorted by name; None if it declares none. Raises UsageError."""
        self._cmdline("read_cmdline_options")
        rows = [self._option(*row) for row in core.test_args()] if self.call("has_options") else None
        core.set_test_options_help(os.fsencode(format_option_list(rows or ())))
        return rows

    def _option(self, name: bytes, description: bytes, default: bytes | None, kind: int) -> Option:
        return Option(
            os.fsdecode(name),
            Kind(kind),
            None if default is None else os.fsdecode(default),
            os.fsdecode(description),
            validate=lambda _, text: self._refusal(name, text),
        )

    def _refusal(self, name: bytes, text: str) -> str | None:
        """None if the script's validator accepts the text, else what it says, if anything, would be right."""
        ok, accepted, advice = (*self.call("option_accepts", name, text), None)[:3]
        if not ok:
            raise UsageError.fatal(f"the validator of option {os.fsdecode(name)} failed: {os.fsdecode(accepted)}")
        if accepted:
            return None
        return os.fsdecode(advice) if isinstance(advice, bytes) else ""

    def _cmdline(self, function: str, *arguments: Any) -> Any:
        """Call a function of sysbench.cmdline, which scripts may replace. Raises UsageError if it fails."""
        result = self.call("command", function, *arguments)
        if result is True:
            return None
        ok, value = result[:2]
        if not ok:
            raise UsageError.fatal(f"`sysbench.cmdline.{function}' function failed: {os.fsdecode(value)}")
        return value

    def set_options(self, values: Mapping[str, Value]) -> None:
        """Fill `sysbench.opt`; a script that declares no options gets them as globals too."""
        self.call("set_options", options_table(self._runtime, values), NEWER_BETWEEN_COMMAS)

    def command_defined(self, name: str) -> bool:
        """Whether the script has its own command of that name."""
        return bool(self._cmdline("command_defined", name))

    def command_parallel(self, name: str) -> bool:
        """Whether that command runs in all workers."""
        return bool(self._cmdline("command_parallel", name))

    def own_commands(self) -> list[str]:
        """The names of all of them, sorted."""
        return sorted(os.fsdecode(name) for name in self.call("command_names").values())

    def close(self) -> bool:
        """Close connections that nobody refers to; false, after a message, if a bulk insert under way has failed."""
        return bool(self.call("close"))


def luajit_version() -> str:
    """For example `LuaJIT 2.1.1731601260`."""
    return os.fsdecode(_new_runtime().eval(b"jit.version"))
