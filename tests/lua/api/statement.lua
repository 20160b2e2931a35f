-- Prepared statements and parameters.
local t = require("show")
local T = sysbench.sql.type

function prepare()
   local con = sysbench.sql.driver():connect()
   con:query("CREATE TABLE api (id INTEGER PRIMARY KEY, a BIGINT, b VARCHAR(20))")
   local insert = con:prepare("INSERT INTO api VALUES (?, ?, ?)")
   t.show("statement", insert, type(insert), insert.connection)
   for _, name in ipairs {
      "NONE", "TINYINT", "SMALLINT", "INT", "BIGINT", "FLOAT", "DOUBLE", "TIME", "DATE", "DATETIME", "TIMESTAMP", "CHAR",
      "VARCHAR",
   } do
      local ok, p = pcall(insert.bind_create, insert, T[name], 10)
      if ok then
         t.show("bind_create " .. name, type(p), tostring(p), tonumber(p.type), tonumber(p.max_len), p.is_null[0])
      else
         t.show("bind_create " .. name, p)
      end
   end
   t.at("bind_create of an unknown type", function() insert:bind_create(99) end)

   local id, a, b = insert:bind_create(T.INT), insert:bind_create(T.BIGINT), insert:bind_create(T.VARCHAR, 5)
   id.note = "a parameter is a table"
   t.show("fields", id.note, id.nosuch, id.buffer[0], a.buffer[0])
   t.show("bind_param of none", insert:bind_param())
   t.show("of too few", insert:bind_param(id))
   t.show("of too many", insert:bind_param(id, a, b, b))
   t.show("of something else", (pcall(insert.bind_param, insert, id, 5, b)))
   t.show("bind_param", insert:bind_param(id, a, b))

   local n = 0
   local function row(x, y)
      n = n + 1
      id:set(n)
      a:set(x)
      b:set(y)
      t.show("insert", insert:execute() == nil)
   end
   t.show("set returns", select("#", id:set(1)))
   row(5, "abc")
   row(2 ^ 40, "longer than five")
   row(1.9, "")
   row(-1.9, "a'b")
   row(5LL, "a\\b")
   row(7ULL, "?")
   t.show("fields", id.buffer[0], tonumber(b.data_len[0]), ffi.string(b.buffer, 1), b.is_null[0])
   t.show("set_rand_str", b:set_rand_str("x#@"), tonumber(b.data_len[0]))
   t.at("set_rand_str of a number", function() a:set_rand_str("##") end)
   row(8, "last")

   local update = con:prepare("UPDATE api SET a = a + 1 WHERE id = ?")
   local which = update:bind_create(T.SMALLINT)
   update:bind_param(which)
   which:set(1)
   t.show("update", update:execute() == nil)
   which:set(99)
   t.show("update of nothing", update:execute() == nil)
   local none = con:prepare("UPDATE api SET a = 0 WHERE id = -1")
   t.show("without parameters", none:execute() == nil)

   local rs = con:query("SELECT id, a, b FROM api ORDER BY id")
   for _ = 1, rs.nrows do
      local r = rs:fetch_row()
      t.show("row", r[1], r[2], r[3])
   end

   local select_one = con:prepare("SELECT id FROM api WHERE id = ?")
   local wanted = select_one:bind_create(T.INT)
   select_one:bind_param(wanted)
   for _, value in ipairs { 1, 2, 99 } do
      wanted:set(value)
      rs = select_one:execute()
      t.show("select", rs, rs == nil, rs.nrows, rs.statement)
   end
   t.show("free", rs:free())
   t.show("close", insert:close(), select_one:close(), update:close(), none:close())
   con:query("DROP TABLE api")
end
