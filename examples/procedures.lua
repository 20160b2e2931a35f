-- Statements with several results. MySQL and MariaDB only.
--
--    sysbench examples/procedures.lua --verbosity=0 --db-driver=mysql prepare
function prepare()
   local con = sysbench.sql.driver():connect()
   local rs = con:query("SELECT 1 UNION SELECT 2; SELECT 'second'")
   print(rs.nrows, con:more_results())        --> 2	true
   rs = con:next_result()
   print(rs:fetch_row()[1])                   --> second
   print(con:more_results(), con:next_result() == nil)   --> false	true

   con:query("DROP PROCEDURE IF EXISTS p")
   con:query("CREATE PROCEDURE p(n INT) BEGIN SELECT n; SELECT n + 1; END")
   local call = con:prepare("CALL p(?)")
   local n = call:bind_create(sysbench.sql.type.INT)
   call:bind_param(n)
   n:set(7)
   print(call:execute():fetch_row()[1], call:next_result():fetch_row()[1])   --> 7	8
   print(con:query_row("CALL p(9)"))          --> 9
   con:query("DROP PROCEDURE p")              -- what was not fetched does not disturb
end
