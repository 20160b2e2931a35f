-- Point selects whose text is another at every call.
function thread_init()
   con = sysbench.sql.driver():connect()
end

function event()
   con:query("SELECT c FROM sbtest1 WHERE id=" .. sysbench.rand.default(1, 10000))
end
