-- Prepared statements and their parameters.
--
--    sysbench examples/statements.lua --verbosity=0 --db-driver=sqlite --sqlite-db=:memory: prepare
function prepare()
   local con = sysbench.sql.driver():connect()
   con:query("CREATE TABLE t (id INTEGER PRIMARY KEY, k BIGINT, d DOUBLE PRECISION, c CHAR(10))")

   -- Parameters are ? on every database.
   local insert = con:prepare("INSERT INTO t VALUES (?, ?, ?, ?)")
   local types = sysbench.sql.type
   local id = insert:bind_create(types.INT)
   local k = insert:bind_create(types.BIGINT)
   local d = insert:bind_create(types.DOUBLE)
   local c = insert:bind_create(types.CHAR, 10)        -- at most 10 bytes
   print(insert:bind_param(id, k, d, c))               --> 0
   print(insert, insert.connection, c)                 --> <sql_statement>	<sql_connection>	<sql_param>

   for i = 1, 3 do
      id:set(i)
      k:set(i * 1000)
      d:set(i / 2)
      c:set_rand_str("###-@@@")
      insert:execute()
   end
   id:set(4)
   k:set(nil)                                          -- NULL
   c:set("it's quoted")
   insert:execute()
   print(k.type, k.max_len, k.is_null[0])              --> 4	8	1
   print(c.type, c.max_len, c.data_len[0], ffi.string(c.buffer, 4))   --> 12	10	10	it's

   local get = con:prepare("SELECT id, k, d, c FROM t WHERE id >= ? ORDER BY id")
   local first = get:bind_create(types.INT)
   get:bind_param(first)
   first:set(3)
   local rs = get:execute()
   print(rs.nrows, rs.statement)                       --> 2	<sql_statement>
   print(unpack(rs:fetch_row(), 1, 4))                 --> 3	3000	1.5	877-jxu
   print(unpack(rs:fetch_row(), 1, 4))                 --> 4	nil	1.5	it's quote
   print(get:close(), insert:close())                  --> 0	0
end
