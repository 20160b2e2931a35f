-- A script without options: all options are globals too.
local t = require("show")
function threads() return "a function of the script" end
mysql_table_engine = "memory"
function prepare()
   t.show("unknown", type(foo), foo, type(bar_baz), bar_baz)
   t.show("known", events, time, mysql_db, verbosity, percentile, rand_type, histogram, num_threads, max_requests)
   t.show("lists", type(mysql_host), mysql_host[1], #mysql_ignore_errors)
   t.show("functions stay", type(threads), threads(), type(print), type(string))
   t.show("the debug library does not", debug)
   t.show("legacy", mysql_table_engine, myisam_max_rows, test, thread_id, db_driver)
   t.show("in sysbench.opt", sysbench.opt.foo, sysbench.opt.bar_baz, sysbench.opt.threads)
end
function event() end
