"""A Lua script: how it is found, and the states in which it runs."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from lupa.luajit21 import LuaRuntime

from sysbench_py.errors import UsageError
from sysbench_py.options import Kind, Option, format_option_list
from sysbench_py.version import REFERENCE

_HERE = Path(__file__).parent
# In a source tree lua/ and ext/ lie beside the package, in an installed one inside of it.
_LUA = next(folder for folder in (_HERE / "lua", _HERE.parent / "lua") if (folder / "internal").is_dir())
_ABI = next(path for path in (_HERE / "ext/abi.h", _HERE.parent / "ext/abi.h") if path.is_file())


@dataclass(frozen=True)
class Script:
    """A script and the command line that it sees; `name` is a path or a module name, None for `text`."""

    name: str | None
    argv: tuple[str, ...]
    command: str | None = None
    text: bytes = b""

    @property
    def title(self) -> str:
        """The name in messages."""
        return os.path.basename(self.name or "")  # noqa: PTH119 -- Path drops a trailing slash

    def search_path(self) -> str:
        """`package.path`: LUA_PATH or the default, which ends with the script's own folder and ours."""
        patterns = ["./?.lua", "./?/init.lua", "./src/lua/?.lua"]
        if home := os.environ.get("HOME"):
            for folder in (f"{home}/.luarocks/share/lua/5.1", f"{home}/.luarocks/share/lua"):
                patterns += [f"{folder}/?.lua", f"{folder}/?/init.lua"]
        patterns += ["/usr/local/share/lua/5.1/?.lua", "/usr/share/lua/5.1/?.lua"]
        # A script given by its path finds the library that lies beside it before one of ours.
        if self.name and "/" in self.name and Path(self.name).is_file():
            patterns.append(f"{Path(self.name).parent}/?.lua")
        return _environment_path("LUA_PATH", [*patterns, f"{_LUA}/?.lua"])

    def search_cpath(self) -> str:
        """`package.cpath`: LUA_CPATH or the default."""
        patterns = ["./?.so"]
        if home := os.environ.get("HOME"):
            patterns += [f"{home}/.luarocks/lib/lua/5.1/?.so", f"{home}/.luarocks/lib/lua/?.so"]
        return _environment_path(
            "LUA_CPATH", [*patterns, "/usr/local/lib/lua/5.1/?.so", "/usr/lib/lua/5.1/?.so"]
        )


def _environment_path(variable: str, patterns: Sequence[str]) -> str:
    default = "".join(f"{pattern};" for pattern in patterns)
    typed = os.environ.get(variable)
    if typed is None:
        return default
    # As in standard Lua: `;;` stands for the default path.
    return typed.replace(";;", f";{default};")


@cache
def _chunk(name: str) -> bytes:
    return (_LUA / f"{name}.lua").read_bytes()


@cache
def _abi() -> bytes:
    return _ABI.read_bytes()


def _to_lua(runtime: LuaRuntime, value: Any) -> Any:
    """A Python value as Lua knows it; texts become byte strings, mappings and sequences tables."""
    if isinstance(value, str):
        return os.fsencode(value)
    if isinstance(value, Mapping):
        return runtime.table_from({os.fsencode(key): _to_lua(runtime, item) for key, item in value.items()})
    if isinstance(value, Sequence) and not isinstance(value, bytes):
        return runtime.table_from([_to_lua(runtime, item) for item in value])
    return value


class State:
    """One Lua state with the script's body executed in it; use it in one thread at a time.

    `thread_id` is what scripts see as sysbench.tid."""

    def __init__(self, script: Script, thread_id: int) -> None:
        self.script = script
        self.thread_id = thread_id
        self._runtime = LuaRuntime(encoding=None, register_eval=False, register_builtins=False)
        self._run_chunk(b"local cdef = ... require('ffi').cdef(cdef) python = nil", _abi())
        self._run_chunk(
            b"package.path, package.cpath = ...",
            os.fsencode(script.search_path()),
            os.fsencode(script.search_cpath()),
        )
        version = REFERENCE.encode()
        self._load("internal/sysbench", thread_id, version, b"sysbench " + version)
        self._load("internal/sysbench.rand")
        self._load("internal/sysbench.sql")
        # sysbench.cmdline.argv[0] is the program, as in argv of C.
        argv = _to_lua(self._runtime, script.argv[1:])
        argv[0] = os.fsencode(os.path.basename(script.argv[0]))  # noqa: PTH119
        self._load(
            "internal/sysbench.cmdline",
            argv,
            _to_lua(self._runtime, script.command),
            _to_lua(self._runtime, script.name),
            lambda: os.fsencode(format_option_list(self.option_rows() or ())),
        )
        self._load("internal/sysbench.histogram")
        close_reports = self._load("internal/sysbench.report")
        self._engine = self._load("internal/sysbench.engine", close_reports, self._load("compat/legacy"))

    def _run_chunk(self, code: bytes, *arguments: Any) -> Any:
        return self._runtime.execute(code, *arguments)

    def _load(self, name: str, *arguments: Any) -> Any:
        return self._runtime.execute(_chunk(name), *arguments, name=f"{Path(name).name}.lua".encode())

    def call(self, function: str, *arguments: Any) -> Any:
        """Call a function of lua/internal/sysbench.engine.lua."""
        return self._engine[function.encode()](*(_to_lua(self._runtime, item) for item in arguments))

    def _fail(self, message: bytes) -> UsageError:
        return UsageError.fatal(os.fsdecode(message))

    def load(self) -> None:
        """Execute the script's body. Raises UsageError with Lua's message, or if there is no such script."""
        if self.script.name is None:
            result = self.call("load_text", self.script.text, b"=stdin")
        else:
            result = self.call("load_script", self.script.name)
        if result is True or result[0]:
            return
        if len(result) > 2 and result[2]:
            raise UsageError.fatal(
                f"Cannot find benchmark '{self.script.name}': no such built-in test, file or module"
            )
        raise self._fail(result[1])

    def option_rows(self) -> list[Option] | None:
        """The script's options, sorted by name; None if it declares none. Raises UsageError."""
        result = self.call("command", "read_cmdline_options")
        if result is True:
            return None
        if not result[0]:
            message = os.fsdecode(result[1])
            raise UsageError.fatal(f"`sysbench.cmdline.read_cmdline_options' function failed: {message}")
        return [self._option(row) for row in (result[1] or {}).values()] if result[1] is not None else None

    def _option(self, row: Any) -> Option:
        name, description, default, kind = (row[index] for index in range(1, 5))
        return Option(
            os.fsdecode(name),
            Kind(int(kind)),
            None if default is None else os.fsdecode(default),
            os.fsdecode(description),
            validate=lambda _, text: self._accepts(name, text),
        )

    def _accepts(self, name: bytes, text: str) -> bool:
        result = self.call("command", "option_accepts", name, text)
        return isinstance(result, tuple) and bool(result[0] and result[1])

    def set_options(self, values: Mapping[str, Any]) -> None:
        """Fill `sysbench.opt`; a script that declares no options gets them as globals too."""
        self.call("set_options", values)

    def command_defined(self, name: str) -> bool:
        """Whether the script has its own command of that name."""
        return bool(self.call("command", "command_defined", name)[1])

    def command_parallel(self, name: str) -> bool:
        """Whether that command runs in all workers."""
        return bool(self.call("command", "command_parallel", name)[1])

    def close(self) -> None:
        """End what the report functions have begun, and close connections that nobody refers to."""
        self.call("close")


def luajit_version() -> str:
    """For example `LuaJIT 2.1.1731601260`."""
    runtime = LuaRuntime(encoding=None, register_eval=False, register_builtins=False)
    return os.fsdecode(runtime.eval(b"jit.version"))
