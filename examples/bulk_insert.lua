-- Bulk inserts: rows are collected into statements of up to 512 KiB.
--
--    sysbench examples/bulk_insert.lua --verbosity=0 --db-driver=sqlite --sqlite-db=:memory: prepare
function prepare()
   local con = sysbench.sql.driver():connect()
   con:query("CREATE TABLE t (id INTEGER PRIMARY KEY, c VARCHAR(120))")
   con:bulk_insert_init("INSERT INTO t (id, c) VALUES")
   for i = 1, 10000 do
      con:bulk_insert_next(("(%d, '%s')"):format(i, sysbench.rand.string("##########")))
   end
   con:bulk_insert_done()
   print(con:query_row("SELECT COUNT(*), MAX(id) FROM t"))   --> 10000	10000
end
