-- SQL errors: what is thrown, where it says that it happened, and what is known of it then.
local t = require("show")

local function neutral(err)
   if type(err) == "string" then
      return (err:gsub("errno = %d+, state = '%w+': .*", "errno, state, message"))
   end
   local fields = {}
   for key, value in pairs(err) do fields[#fields + 1] = key .. " " .. type(value) end
   table.sort(fields)
   return table.concat(fields, ", ")
end
local function at(label, f)
   local ok, err = pcall(function() f() end)
   t.show(label, ok, neutral(err))
end

function prepare()
   local con = sysbench.sql.driver():connect()
   con:query("CREATE TABLE api (id INTEGER PRIMARY KEY, a INTEGER)")
   con:query("INSERT INTO api VALUES (1, 1)")
   errdesc = nil
   at("no such table", function() con:query("SELECT * FROM nosuch") end)
   local _, err = pcall(con.query, con, "SELECT * FROM nosuch")
   t.show("through pcall", neutral(err))
   t.show("errdesc", neutral(errdesc), errdesc.query, errdesc.connection == con, type(errdesc.sql_errno))
   t.show("fields", con.error == sysbench.sql.error.FATAL, con.sql_errno == errdesc.sql_errno,
          ffi.string(con.sql_state) == errdesc.sql_state, ffi.string(con.sql_errmsg) == errdesc.sql_errmsg)
   con:query("SELECT 1")
   t.show("forgotten after success", con.error == sysbench.sql.error.NONE, con.sql_errno, con.sql_state == nil)

   sysbench.hooks.sql_error_ignorable = function(e)
      t.show("hook", neutral(e), e.query)
      return true
   end
   at("ignorable by the hook", function() con:query("SELECT * FROM nosuch") end)
   t.show("errcode", errdesc.errcode == sysbench.error.RESTART_EVENT)
   sysbench.hooks.sql_error_ignorable = function() return false end
   at("not ignorable", function() con:query("SELECT * FROM nosuch") end)
   sysbench.hooks.sql_error_ignorable = function() error("in the hook") end
   at("hook that fails", function() con:query("SELECT * FROM nosuch") end)
   sysbench.hooks.sql_error_ignorable = nil
   t.show("table", con:query_row("SELECT COUNT(*) FROM api"))
   con:query("DROP TABLE api")
end

-- The hook makes the error of every third event ignorable: it is then done again.
local n, con = 0, nil
function thread_init()
   con = sysbench.sql.driver():connect()
   sysbench.hooks.sql_error_ignorable = function() return true end
   sysbench.hooks.before_restart_event = function(e) t.show("restart", e.errcode, neutral(e)) end
end
function event()
   n = n + 1
   con:query(n % 3 == 0 and "SELECT * FROM nosuch" or "SELECT 1")
   t.show("event", n)
end
