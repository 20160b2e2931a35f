"""A Lua state that many workers share, each a coroutine with globals of its own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lupa import luajit21
from lupa.luajit21 import LuaError

from sysbench_py import core
from sysbench_py.errors import UsageError
from sysbench_py.script import (
    NEWER_BETWEEN_COMMAS,
    Script,
    check_loaded,
    new_state,
    options_table,
    root_arguments,
    to_lua,
)

# A global of the state, for a moment.
_CALLS = b"sysbench_calls"


def check_lupa() -> None:
    """Raises UsageError if LuaJIT cannot be used in this way."""
    if not core.lua_load(luajit21.__file__.encode()):
        raise UsageError.fatal("--multiplex needs a lupa module that lets its LuaJIT's C functions be found")


class SharedState:
    """The state of a carrier's workers; use it in one thread. `loaded` are the workers that have been set up.

    `check_lupa` must have found LuaJIT's functions."""

    def __init__(self, script: Script, options: Mapping[str, Any]) -> None:
        self.loaded: list[int] = []
        self._script = script
        self._runtime, base = new_state(script)
        lua = self._runtime.globals()
        unused = self._runtime.execute(b"local unused = coroutine.create(print) return unused, ('%p'):format(unused)")
        core.lua_give_calls(_address(unused[1]), _CALLS)
        calls = lua[_CALLS]
        lua[_CALLS] = None
        self._team = base[b"part"](b"sysbench.workers", lua, calls, *root_arguments(self._runtime, script))
        self._options = options_table(self._runtime, options)

    def load(self, thread_id: int) -> None:
        """Make a worker, execute the script's body, and fill sysbench.opt. Raises UsageError with Lua's message."""
        text = self._script.text if self._script.name is None else None
        core.lua_run(_address(self._call("add", thread_id, text)))
        check_loaded(self._script, self._call("results", thread_id))
        self._call("set_options", thread_id, self._options, NEWER_BETWEEN_COMMAS)
        self.loaded.append(thread_id)

    def body(self, thread_id: int, function: str, argument: int | str) -> int:
        """The address of a coroutine that will call a function of lua/internal/sysbench.engine.lua."""
        return _address(self._call("call_later", thread_id, function, argument))

    def succeeded(self, thread_id: int) -> bool:
        """What that function has returned."""
        ok, *_ = self._call("results", thread_id)
        return bool(ok)

    def close(self) -> bool:
        """Close connections that nobody refers to; false, after a message, if a bulk insert under way has failed."""
        return not self.loaded or bool(self._call("close", self.loaded[0]))

    def _call(self, function: str, *arguments: Any) -> Any:
        try:
            return self._team[function.encode()](*(to_lua(self._runtime, item) for item in arguments))
        except LuaError as error:
            raise UsageError.fatal(str(error)) from error


def _address(text: bytes) -> int:
    return int(text, 16)
