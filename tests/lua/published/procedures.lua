-- Stored procedures that return results, several of them too.
function thread_init()
   con = sysbench.sql.driver():connect()
end

function event()
   local rs = con:query("CALL two_results(5)")
   assert(rs.nrows == 1 and rs:fetch_row()[1] == "5")
   local second = con:next_result()
   assert(second.nrows == 2 and second:fetch_row()[1] == "6" and second:fetch_row()[1] == "7")
   while con:more_results() do con:next_result() end
   -- What is left of the last call does not disturb the next one.
   con:query("CALL two_results(1)")
   con:query("CALL no_result()")
   assert(con:query_row("CALL two_results(8)") == "8")
   assert(con:query_row("SELECT 42") == "42")
end
