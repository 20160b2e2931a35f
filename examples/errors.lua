-- SQL errors: catching them, ignoring them, and events that start again.
--
--    sysbench examples/errors.lua --verbosity=0 --db-driver=sqlite --sqlite-db=:memory: --events=2 run
local con
function thread_init()
   con = sysbench.sql.driver():connect()

   -- An error that is not ignorable is a string, with the script's line before it.
   local ok, err = pcall(con.query, con, "SELECT * FROM nosuch")
   print(ok, err)   --> false	SQL error, errno = 1, state = 'HY000': no such table: nosuch
   -- What is known of the last error is in the connection, and in a global table.
   print(con.error == sysbench.sql.error.FATAL, con.sql_errno)   --> true	1
   print(ffi.string(con.sql_state), ffi.string(con.sql_errmsg))  --> HY000	no such table: nosuch
   print(errdesc.sql_errno, errdesc.sql_state, errdesc.sql_errmsg, errdesc.query)   --> 1	HY000	no such table: nosuch	SELECT * FROM nosuch
   con:query("SELECT 1")
   print(con.error == sysbench.sql.error.NONE)   --> true
end

-- Called for every other error; true makes it ignorable, and the event starts again.
function sysbench.hooks.sql_error_ignorable(err)
   return err.sql_errmsg:find("please") ~= nil
end

-- Called before an event starts again.
function sysbench.hooks.before_restart_event(err)
   print("again:", err.sql_errmsg)
end

local n = 0
function event()
   n = n + 1
   if n == 1 then con:query("SELECT * FROM please_ignore") end
   -- A script may ask for it itself.
   if n == 3 then error({ errcode = sysbench.error.RESTART_EVENT, sql_errmsg = "my own" }) end
   print("event", n)
end
--> again:	no such table: please_ignore
--> event	2
--> again:	my own
--> event	4
