"""The core's SQL functions, called through LuaJIT as scripts call them, one step at a time."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from lupa.luajit21 import LuaRuntime

from sysbench_py import core
from sysbench_py.command_line import parse
from sysbench_py.drivers import find_driver
from tests.support.mariadb import MariaDB
from tests.support.proc import wait_until

ABI = Path(__file__).parent.parent.parent / "ext/abi.h"
TYPES = {int: 4, float: 6, bytes: 12}  # sysbench.sql.type BIGINT, DOUBLE, VARCHAR

LUA = """
local ffi = require("ffi")
ffi.cdef(...)
local C = ffi.C
local core = {}

local function text(pointer)
   return pointer ~= nil and ffi.string(pointer) or nil
end

-- Error class, number, state and message of the last operation, then counter class and rows of the result.
local function outcome(con, rs)
   if rs == nil then
      return tonumber(con.error), con.sql_errno, text(con.sql_state), text(con.sql_errmsg)
   end
   local rows = {}
   local row = rs.nrows > 0 and C.db_fetch_row(rs) or nil
   while row ~= nil do
      local values = {}
      for i = 0, rs.nfields - 1 do
         local value = row.values[i]
         values[i + 1] = value.buffer ~= nil and ffi.string(value.buffer, value.length)
      end
      rows[#rows + 1] = values
      row = C.db_fetch_row(rs)
   end
   return tonumber(con.error), con.sql_errno, text(con.sql_state), text(con.sql_errmsg),
      rs.nrows, rs.nfields, rows
end

function core.connect(name)
   local con = C.db_connection_create(C.db_create(name), 0)
   return con ~= nil and con or nil
end

function core.query(con, sql)
   return outcome(con, C.db_query(con, sql, #sql))
end

-- The number of rows of a query whose rows nobody fetches.
function core.run(con, sql)
   local rs = C.db_query(con, sql, #sql)
   return tonumber(con.error), rs ~= nil and rs.nrows or 0
end

function core.next_result(con)
   return outcome(con, C.db_next_result(con))
end

function core.more_results(con)
   return C.db_more_results(con)
end

function core.reconnect(con)
   return C.db_connection_reconnect(con)
end

function core.disconnect(con)
   return C.db_connection_close(con)
end

function core.release(con)
   C.db_connection_release(con)
end

function core.prepare(con, sql)
   local stmt = C.db_prepare(con, sql, #sql)
   if stmt == nil then
      return nil
   end
   return stmt, stmt.nparams
end

function core.bind(stmt, types, sizes, n)
   local params = ffi.new("sql_param *[?]", n)
   for i = 1, n do
      params[i - 1] = C.db_bind_create(types[i], sizes[i])
   end
   local rc = C.db_bind_param(stmt, params, n)
   local bound = {}
   for i = 1, n do
      bound[i] = params[i - 1]
      C.db_param_release(params[i - 1])
   end
   return rc, bound
end

function core.set(param, value)
   if value == nil then
      param.is_null = true
   elseif type(value) == "string" then
      C.db_param_set_string(param, value, #value)
   else
      param.is_null = false
      ffi.cast(param.type == 4 and "int64_t *" or "double *", param.buffer)[0] = value
   end
end

function core.execute(con, stmt)
   return outcome(con, C.db_execute(stmt))
end

function core.close(stmt)
   return C.db_close(stmt)
end

function core.release_statement(stmt)
   C.db_statement_release(stmt)
end

function core.counter(i)
   return tonumber(C.sb_counter_val(0, i))
end

return core
"""

COUNTERS = ("other", "read", "write", "events", "errors", "reconnects")
Row = tuple[bytes | None, ...]


class Outcome(NamedTuple):
    """What an operation came to.

    `error` is 0, 1 (ignorable) or 2 (fatal); `rows` is None without a result set.
    """

    error: int
    errno: int
    state: str | None
    message: str | None
    rows: list[Row] | None
    nrows: int
    nfields: int

    @property
    def failure(self) -> tuple[int, int, str | None, str | None]:
        """The first four."""
        return self[:4]

    @property
    def value(self) -> bytes | None:
        """The only value of the only row."""
        assert self.rows is not None, self
        ((value,),) = self.rows
        return value


def _outcome(raw: Sequence[Any]) -> Outcome:
    error, errno, state, message, *result = raw
    rows = None
    if result:
        fields = range(1, result[1] + 1)
        rows = [tuple(None if row[i] is False else row[i] for i in fields) for row in result[2].values()]
    return Outcome(
        error,
        errno,
        state and state.decode(),
        message and message.decode(errors="surrogateescape"),
        rows,
        result[0] if result else 0,
        result[1] if result else 0,
    )


class Core:
    """The SQL functions for the calling thread, as worker 0 of a run that has just begun."""

    def __init__(self, *args: str) -> None:
        """`args` are options of the command line; --db-driver names the driver."""
        options = parse(("sysbench", "x", *args, "run")).options
        name = options.get("db-driver", str)
        module = find_driver(name).load()
        module.setup(options)
        core.db_setup(name, 1.0)
        core.run_setup([(1, 2)], 0, True, True)
        core.rng_enter(0)
        runtime = LuaRuntime(encoding=None, register_eval=False, register_builtins=False)
        self._table_from = runtime.table_from
        self._lua = runtime.execute(LUA.encode(), ABI.read_bytes())

    def call(self, function: str, *arguments: Any) -> Any:
        """One of the functions above."""
        return self._lua[function.encode()](*arguments)

    def array(self, items: Sequence[Any]) -> Any:
        """A Lua table."""
        return self._table_from(list(items))

    @property
    def counters(self) -> dict[str, int]:
        """Counters of worker 0 that are not 0, by their names in COUNTERS."""
        values = {name: int(self.call("counter", i)) for i, name in enumerate(COUNTERS)}
        return {name: value for name, value in values.items() if value}

    def connect(self) -> Connection:
        """A connection of the driver. Raises ConnectionError, the reason being in the log."""
        handle = self.call("connect", None)
        if handle is None:
            raise ConnectionError
        return Connection(self, handle)


class Connection:
    def __init__(self, core: Core, handle: Any) -> None:
        self.core = core
        self.handle = handle

    def query(self, sql: bytes | str) -> Outcome:
        return _outcome(self.core.call("query", self.handle, sql.encode() if isinstance(sql, str) else sql))

    def run(self, sql: str) -> int:
        """The number of rows of a query, which nobody fetches."""
        error, nrows = self.core.call("run", self.handle, sql.encode())
        assert error == 0
        return int(nrows)

    def next_result(self) -> Outcome:
        return _outcome(self.core.call("next_result", self.handle))

    @property
    def more_results(self) -> bool:
        return bool(self.core.call("more_results", self.handle))

    def reconnect(self) -> bool:
        return bool(self.core.call("reconnect", self.handle) == 0)

    def disconnect(self) -> None:
        self.core.call("disconnect", self.handle)

    def release(self) -> None:
        """As when Lua collects the object: disconnects, too."""
        self.core.call("release", self.handle)

    def end_by(self, server: MariaDB) -> None:
        """Let the server end this connection."""
        number = self.query("SELECT connection_id()").value
        assert number is not None
        server.sql(f"KILL {int(number)}")
        ids = "SELECT id FROM information_schema.processlist"
        wait_until(lambda: (int(number),) not in server.sql(ids), "the end of the connection")

    def prepare(self, sql: bytes | str) -> Statement:
        """Raises ConnectionError if it fails, the reason being in the log."""
        prepared = self.core.call("prepare", self.handle, sql.encode() if isinstance(sql, str) else sql)
        if prepared is None:
            raise ConnectionError
        return Statement(self, *prepared)


class Statement:
    def __init__(self, connection: Connection, handle: Any, nparams: int) -> None:
        self._connection = connection
        self._handle = handle
        self.nparams = nparams
        self._params: list[Any] = []

    def bind(self, *kinds: type, max_len: int = 1000) -> int:
        """Bind one new parameter a kind: int, float or bytes. 0 if their number is right."""
        core = self._connection.core
        types = core.array([TYPES[kind] for kind in kinds])
        rc, bound = core.call("bind", self._handle, types, core.array([max_len] * len(kinds)), len(kinds))
        self._params = list(bound.values())
        return int(rc)

    def execute(self, *values: int | float | bytes | None) -> Outcome:
        """Set the bound parameters and execute."""
        core = self._connection.core
        for param, value in zip(self._params, values, strict=True):
            core.call("set", param, value)
        return _outcome(core.call("execute", self._connection.handle, self._handle))

    def close(self) -> int:
        return int(self._connection.core.call("close", self._handle))

    def release(self) -> None:
        self._connection.core.call("release_statement", self._handle)
