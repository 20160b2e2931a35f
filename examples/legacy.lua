-- The functions of sysbench 0.5, which 1.0 scripts may use too.
--
--    sysbench examples/legacy.lua --verbosity=0 --db-driver=sqlite --sqlite-db=:memory: --oltp-table-size=20 prepare
--
-- A script that declares no options gets all of them as globals; unknown ones are strings.
function prepare()
   print(oltp_table_size, type(oltp_table_size), mysql_table_engine, myisam_max_rows)   --> 20	string	innodb	1000000
   print(thread_id, test:match("[^/]+$"))     --> 0	legacy.lua

   db_connect()                               -- or db_query, db_bulk_insert_init or db_prepare do so
   print(db_driver)                           --> mysql
   db_query("CREATE TABLE t (id INTEGER PRIMARY KEY, k INTEGER, c CHAR(20))")
   db_bulk_insert_init("INSERT INTO t VALUES")
   for i = 1, oltp_table_size do
      db_bulk_insert_next(("(%d, %d, '%s')"):format(i, sb_rand(1, oltp_table_size), sb_rand_str("###-@@@")))
   end
   db_bulk_insert_done()

   local stmt = db_prepare("SELECT c FROM t WHERE id = ? AND c <> ?")
   local values = { 1, "x" }                  -- a number makes an INT, a string a CHAR
   db_bind_param(stmt, values)
   db_bind_result(stmt, {})
   values[1] = 2                              -- read at every db_execute
   local rs = db_execute(stmt)
   db_store_results(rs)
   db_free_results(rs)
   db_close(stmt)

   print(sb_rnd() >= 0, sb_rand_uniform(1, "1"), sb_rand_gaussian(2, 2), sb_rand_special(3, 3))   --> true	1	2	3
   print(sb_rand_uniq(0, 4294967295))         --> 2672933100
   local ok, err = pcall(db_query, "SELECT * FROM nosuch")
   print(ok, err)                             --> false	db_query() failed
   print(DB_ERROR_NONE, DB_ERROR_RESTART_TRANSACTION, DB_ERROR_FAILED)   --> 0	1	2
   print(sysbench.db.query == db_query)       --> true
   db_disconnect()
end
