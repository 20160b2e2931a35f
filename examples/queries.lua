-- Drivers, connections, queries and their results.
--
--    sysbench examples/queries.lua --verbosity=1 --db-driver=sqlite --sqlite-db=:memory: prepare
function prepare()
   local drv = sysbench.sql.driver()          -- or sysbench.sql.driver("pgsql"), whatever --db-driver says
   print(drv, drv:name())                     --> <sql_driver>	mysql
   local con = drv:connect()
   print(con, con.driver)                     --> <sql_connection>	<sql_driver>

   -- What returns no rows gives a result that equals nil.
   local rs = con:query("CREATE TABLE t (id INTEGER PRIMARY KEY, name VARCHAR(20))")
   print(rs, rs == nil)                       --> <sql_result>	true
   con:query("INSERT INTO t VALUES (1, 'one'), (2, NULL), (3, 'three')")

   rs = con:query("SELECT id, name FROM t ORDER BY id")
   print(rs.nrows, rs.nfields)                --> 3	2
   for i = 1, rs.nrows do
      local row = rs:fetch_row()
      print(row[1], row[2])
   end
   --> 1	one
   --> 2	nil
   --> 3	three
   print(rs:fetch_row())                      --> nil
   print(rs.counter == ffi.C.SB_CNT_READ, rs.statement == nil)   --> true	true
   rs:free()                                  -- as the next query would

   print(con:query_row("SELECT id, name FROM t WHERE id = 3"))   --> 3	three
   print(con:query_row("SELECT id FROM t WHERE id = 99"))        --> nil

   print(con:check_error(rs, "text"))         --> <sql_result>
   print(con:reconnect())                     --> true
   print(con:disconnect())                    --> true
end
