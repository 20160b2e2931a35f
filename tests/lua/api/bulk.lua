-- Bulk inserts.
local t = require("show")

function prepare()
   local con = sysbench.sql.driver():connect()
   con:query("CREATE TABLE api (id INTEGER PRIMARY KEY, a VARCHAR(2000))")
   t.try("next before init", con.bulk_insert_next, con, "(1, 'x')")
   t.at("next before init in a line", function() con:bulk_insert_next("(1, 'x')") end)
   t.show("done before init", con:bulk_insert_done())
   t.show("init", con:bulk_insert_init("INSERT INTO api VALUES"))
   t.show("next", con:bulk_insert_next("(1, 'x')"))
   t.show("next", con:bulk_insert_next("(2, 'y')"))
   t.show("done", con:bulk_insert_done())
   t.show("done again", con:bulk_insert_done())
   t.at("next after done", function() con:bulk_insert_next("(3, 'z')") end)
   t.show("rows", con:query_row("SELECT COUNT(*) FROM api"))

   -- More than one statement of 512 KiB.
   con:bulk_insert_init("INSERT INTO api VALUES")
   for i = 3, 1002 do con:bulk_insert_next("(" .. i .. ", '" .. ("a"):rep(1500) .. "')") end
   con:bulk_insert_done()
   t.show("rows", con:query_row("SELECT COUNT(*), MAX(id) FROM api"))

   con:bulk_insert_init("INSERT INTO nosuch VALUES")
   con:bulk_insert_next("(1)")
   t.at("failing", function() con:bulk_insert_done() end)
   t.try("too long", con.bulk_insert_init, con, ("x"):rep(524289))
   t.at("too long in a line", function() con:bulk_insert_init(("x"):rep(524289)) end)
   con:bulk_insert_init("INSERT INTO api VALUES")
   t.show("nothing to insert", con:bulk_insert_done())
   con:query("DROP TABLE api")
end
