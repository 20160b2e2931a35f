"""Pieces of Lua that run on an SQLite database of their own."""

import sqlite3
from contextlib import closing
from pathlib import Path
from textwrap import dedent

from tests.support.proc import Result
from tests.support.reference import ours

PRELUDE = """\
local T = sysbench.sql.type
local function connect() return sysbench.sql.driver():connect() end
local function case(...)
   local values = {...}
   for i = 1, select("#", ...) do values[i] = tostring(values[i]) end
   print("case " .. table.concat(values, " "))
end
-- What a query says: its rows, `none` without a result set, or its error.
local function rows(rs)
   if rs == nil then return "none" end
   local lines = {}
   for i = 1, rs.nrows do
      local row, fields = rs:fetch_row(), {}
      for k = 1, rs.nfields do fields[k] = row[k] or "NULL" end
      lines[i] = table.concat(fields, ",")
   end
   return "[" .. table.concat(lines, ";") .. "]"
end
local function ask(con, sql, method)
   local ok, rs = pcall(method or con.query, con, sql)
   if ok then return rows(rs) end
   if type(rs) == "table" then return "restart " .. rs.sql_errno .. " " .. rs.sql_state end
   return (rs:gsub("^.-:%d+: ", ""))
end
local function bind(stmt, ...)
   local params = {}
   for i, type in ipairs({...}) do params[i] = stmt:bind_create(type, 1000) end
   stmt:bind_param(unpack(params))
   return params
end
"""


class SqliteScript:
    """Runs a piece of Lua, once, on a database of its own."""

    def __init__(self, directory: Path) -> None:
        self.database = directory / "test.db"
        self._script = directory / "case.lua"

    def run(self, body: str, *options: str, command: str = "prepare") -> Result:
        """The body is that of event() for the command `run`, else of prepare()."""
        function = "event" if command == "run" else "prepare"
        self._script.write_text(f"{PRELUDE}function {function}()\n{dedent(body)}end\n")
        database = f"--sqlite-db={self.database}"
        return ours(str(self._script), "--db-driver=sqlite", database, "--events=1", *options, command)

    def cases(self, body: str, *options: str) -> list[str]:
        """The lines that it printed with case()."""
        result = self.run(body, *options)
        assert result.status == 0, result.stdout + result.stderr
        return [line[5:] for line in result.stdout.splitlines() if line.startswith("case ")]

    def sql(self, statement: str) -> list[tuple[object, ...]]:
        """What SQLite itself says, through Python's module."""
        with closing(sqlite3.connect(self.database)) as connection:
            return connection.execute(statement).fetchall()


def fatal(result: Result) -> list[str]:
    """Its fatal messages."""
    return [line.removeprefix("FATAL: ") for line in result.stdout.splitlines() if line.startswith("FATAL: ")]
