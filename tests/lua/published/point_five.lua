-- A script as for sysbench 0.5: globals for options, which are strings or numbers, and one connection of its own.
pathtest = string.match(test, "(.*/)") or ""

function set_vars()
   oltp_table_size = oltp_table_size or 100
   oltp_range_size = oltp_range_size or 10
   if oltp_auto_inc == "off" then oltp_auto_inc = false else oltp_auto_inc = true end
end

function prepare()
   set_vars()
   db_connect()
   print("Creating table 'five'...")
   db_query("CREATE TABLE five (id INTEGER NOT NULL, k INTEGER DEFAULT '0' NOT NULL, c CHAR(20) DEFAULT '' NOT NULL, PRIMARY KEY (id))")
   db_bulk_insert_init("INSERT INTO five(id, k, c) VALUES")
   for i = 1, oltp_table_size do
      db_bulk_insert_next("(" .. i .. ", " .. sb_rand(1, oltp_table_size) .. ", '" .. sb_rand_str("###-@@@") .. "')")
   end
   db_bulk_insert_done()
   return 0
end

function cleanup()
   print("Dropping table 'five'...")
   db_query("DROP TABLE five")
end

function thread_init(thread_id)
   set_vars()
   select_k = db_prepare("SELECT k FROM five WHERE id BETWEEN ? AND ?")
   bounds = { 1, 1 }
   db_bind_param(select_k, bounds)
   update_c = db_prepare("UPDATE five SET c = ? WHERE id = ?")
   changes = { string.rep("x", 7), 1 }
   db_bind_param(update_c, changes)
end

function event(thread_id)
   bounds[1] = sb_rand_uniform(1, oltp_table_size)
   bounds[2] = bounds[1] + oltp_range_size - 1
   local rs = db_execute(select_k)
   db_store_results(rs)
   db_free_results(rs)
   changes[1], changes[2] = sb_rand_str("###-@@@"), sb_rand_special(1, oltp_table_size)
   db_execute(update_c)
   db_query("SELECT c FROM five WHERE id=" .. sb_rand_gaussian(1, oltp_table_size))
   assert(sb_rnd() >= 0 and sb_rand_uniq(0, 4294967295) >= 0)
end

function thread_done() db_close(select_k) db_close(update_c) db_disconnect() end
