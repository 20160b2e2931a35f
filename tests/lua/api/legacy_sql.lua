-- The database functions of 0.5.
local t = require("show")

local function kind_of(err)
   return type(err) == "table" and "table " .. tostring(err.errcode) or err
end

function prepare()
   t.show("constants", DB_ERROR_NONE, DB_ERROR_RESTART_TRANSACTION, DB_ERROR_FAILED)
   t.show("constants", sysbench.db.DB_ERROR_NONE, sysbench.db.DB_ERROR_RESTART_TRANSACTION, sysbench.db.DB_ERROR_FAILED)
   t.at("next without a connection", function() db_bulk_insert_next("(1)") end)
   t.at("done without a connection", function() db_bulk_insert_done() end)
   t.try("disconnect without one", db_disconnect)
   t.show("connect", db_connect(), db_connect(), db_driver == sysbench.sql.driver():name())
   t.show("query", select("#", db_query("CREATE TABLE api (id INTEGER PRIMARY KEY, a INTEGER, b VARCHAR(50))")))
   db_query("INSERT INTO api VALUES (1, 1, 'x')")
   t.show("result", db_query("SELECT * FROM api"))
   t.at("no such table", function() db_query("SELECT * FROM nosuch") end)
   t.try("no such table", db_query, "SELECT * FROM nosuch")

   db_bulk_insert_init("INSERT INTO api VALUES")
   db_bulk_insert_next("(2, 2, 'y')")
   db_bulk_insert_next("(3, 3, 'z')")
   t.show("done", db_bulk_insert_done(), db_bulk_insert_done())
   t.at("next after done", function() db_bulk_insert_next("(4, 4, 'u')") end)

   local stmt = db_prepare("UPDATE api SET a = ?, b = ? WHERE id = ?")
   t.at("empty table", function() db_bind_param(stmt, {}) end)
   local values = { 7, "abc", 1 }
   t.show("bind", db_bind_param(stmt, values))
   for _, row in ipairs { { 7, "abc", 1 }, { 8, "longer than before", 2 }, { "9", 5, 3 } } do
      values[1], values[2], values[3] = row[1], row[2], row[3]
      local rs = db_execute(stmt)
      t.show("execute", rs ~= nil)
   end
   t.show("close", db_close(stmt))
   stmt = db_prepare("SELECT a FROM api WHERE id = ?")
   values = { 1 }
   db_bind_param(stmt, values)
   local rs = db_execute(stmt)
   t.show("store", db_store_results(rs))
   t.show("free", db_free_results(rs))
   db_close(stmt)
   t.show("disconnect", db_disconnect(), db_disconnect())
   db_query("SELECT 1")

   local con = sysbench.sql.driver():connect()
   rs = con:query("SELECT id, a, b FROM api ORDER BY id")
   for _ = 1, rs.nrows do
      local r = rs:fetch_row()
      -- On PostgreSQL 1.0.20 stores no more than the first letter.
      t.show("row", r[1], r[2], db_driver == "mysql" and r[3])
   end
   db_query("DROP TABLE api")
end
