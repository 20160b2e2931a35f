-- Drivers, connections, text queries and their results.
local t = require("show")

function prepare()
   t.try("unknown driver", sysbench.sql.driver, "nosuch")
   t.at("unknown driver in a line", function() sysbench.sql.driver("nosuch") end)
   local drv = sysbench.sql.driver()
   t.show("driver", drv, type(drv), type(drv:name()), sysbench.sql.driver(sysbench.opt.db_driver) == drv)
   local con = drv:connect()
   t.show("connection", con, type(con), con.driver)
   t.show("no error", con.error == sysbench.sql.error.NONE, con.sql_errno, con.sql_state == nil, con.sql_errmsg == nil)

   local rs = con:query("CREATE TABLE api (id INTEGER PRIMARY KEY, a INTEGER, b VARCHAR(20))")
   t.show("no result set", rs, rs == nil, rs ~= nil, rs and "true to `and`", type(rs))
   t.show("rows inserted", con:query("INSERT INTO api VALUES (1, 10, 'x'), (2, NULL, 'y'), (3, 30, NULL)") == nil)
   rs = con:query("SELECT id, a, b FROM api ORDER BY id")
   t.show("result set", rs, rs == nil, rs.nrows, rs.nfields, tonumber(rs.counter) == ffi.C.SB_CNT_READ, rs.statement == nil)
   for _ = 1, 3 do
      local row = rs:fetch_row()
      t.show("row", type(row), row[1], row[2], row[3], row[4], type(row[1]))
   end
   t.show("end", rs:fetch_row())
   t.show("free", rs:free())
   t.try("free again", rs.free, rs)
   t.at("free again in a line", function() rs:free() end)
   t.show("fetch after free", rs:fetch_row())
   rs = con:query("SELECT id FROM api WHERE id = 99")
   t.show("empty set", rs, rs == nil, rs.nrows, rs.nfields)
   t.show("fetch of it", rs:fetch_row())

   t.show("query_row", con:query_row("SELECT id, b FROM api ORDER BY id"))
   t.show("NULL in the middle", con:query_row("SELECT 1, NULL, 3"))
   t.show("NULL at the end", select("#", con:query_row("SELECT 1, NULL, NULL")))
   t.show("no row", select("#", con:query_row("SELECT id FROM api WHERE id = 99")), (con:query_row("SELECT id FROM api WHERE id = 99")))
   t.show("not a query", con:query_row("UPDATE api SET a = 11 WHERE id = 1"))
   t.show("stored", con:query_row("SELECT a FROM api WHERE id = 1"))

   local first, second = con:query("SELECT 1"), con:query("SELECT 2")
   t.show("one result a connection", second:fetch_row()[1])

   t.try("unknown field", function() return con.nosuch end)
   t.show("check_error", con:check_error(second, "text") ~= nil)
   t.show("disconnect", con:disconnect())
   t.show("disconnect again", con:disconnect())
   t.try("query_row on a closed one", con.query_row, con, "SELECT 1")
   t.show("its fields", con.error == sysbench.sql.error.FATAL, con.sql_errno, con.sql_state == nil, con.sql_errmsg == nil)
end

function cleanup()
   sysbench.sql.driver():connect():query("DROP TABLE api")
   collectgarbage()
   t.show("collected")
end
