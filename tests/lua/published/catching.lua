-- Catches what the SQL functions throw: works on after some errors, retries after others.
local tries = { duplicate = 0, missing = 0, restarted = 0 }

function prepare()
   local con = sysbench.sql.driver():connect()
   con:query("CREATE TABLE once (id INTEGER PRIMARY KEY, n INTEGER)")
   con:query("INSERT INTO once VALUES (1, 0)")
end

function cleanup() sysbench.sql.driver():connect():query("DROP TABLE once") end

function thread_init()
   con = sysbench.sql.driver():connect()
   sysbench.hooks.sql_error_ignorable = function(err)
      tries.missing = tries.missing + (err.query:find("nosuch") and 1 or 0)
      return err.query:find("please ignore") ~= nil
   end
   sysbench.hooks.before_restart_event = function(err)
      tries.restarted = tries.restarted + 1
      assert(err.errcode == sysbench.error.RESTART_EVENT and err.connection == con)
   end
end

local n = 0
function event()
   n = n + 1
   local ok, err = pcall(con.query, con, "INSERT INTO once VALUES (1, 0)")
   assert(not ok)
   if type(err) == "table" then
      assert(err.errcode == 1 and err.sql_state == "23505" and #err.sql_errmsg > 0)
   else
      assert(err:match("^SQL error, errno = %d+, state = '%w+': "), err)
   end
   tries.duplicate = tries.duplicate + 1
   ok, err = pcall(function() local rs = con:query("SELECT * FROM nosuch") end)
   assert(not ok and err:match("^[%w/_.]+catching.lua:%d+: SQL error, errno"), err)
   con:query("UPDATE once SET n = n + 1")
   if n % 3 == 1 then con:query("SELECT 'please ignore' FROM nosuch") end
end

function thread_done()
   print(tries.duplicate, tries.missing, tries.restarted, (con:query_row("SELECT n FROM once")))
end
