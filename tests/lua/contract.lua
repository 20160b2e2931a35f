-- What every driver must do alike. Each line printed begins with the name of a case.
local drv, con

local function case(name, ...)
   local parts = {}
   for i = 1, select("#", ...) do parts[i] = tostring((select(i, ...))) end
   print("case " .. name .. ": " .. table.concat(parts, " "))
end

local function thrown(f, ...)
   local ok, err = pcall(f, ...)
   if ok then return "no error" end
   if type(err) == "table" then return "table " .. tostring(err.errcode) end
   return (err:gsub("^[^:]*:%d+: ", ""):gsub("errno = .*", "errno"))
end

local function rows(rs)
   local out = {}
   for r = 1, rs.nrows do
      local row = rs:fetch_row()
      for i = 1, rs.nfields do row[i] = row[i] or "NULL" end
      out[r] = table.concat(row, ",")
   end
   return table.concat(out, ";")
end

function prepare()
   drv = sysbench.sql.driver()
   con = drv:connect()
   con:query("DROP TABLE IF EXISTS contract")
   case("create", con:query("CREATE TABLE contract (id INTEGER NOT NULL, n BIGINT, d DOUBLE PRECISION, s VARCHAR(300), PRIMARY KEY (id))") == nil)
   case("insert", con:query("INSERT INTO contract VALUES (1, 10, 0.5, 'a'), (2, NULL, NULL, NULL), (3, 30, -2, '')") == nil)

   local rs = con:query("SELECT id, n, s FROM contract ORDER BY id")
   case("rows", rs, rs.nrows, rs.nfields, rows(rs))
   case("end of rows", rs:fetch_row())
   case("free", rs:free(), thrown(rs.free, rs))
   case("no rows", con:query("SELECT id FROM contract WHERE id = 99").nrows)
   case("row", con:query_row("SELECT id, n, s FROM contract WHERE id = 2"))
   case("row without match", con:query_row("SELECT id FROM contract WHERE id = 99"))
   case("percent sign", con:query_row("SELECT '100%s %d ?' AS p"))
   case("null result", con:query("UPDATE contract SET n = 11 WHERE id = 1"), con:query("UPDATE contract SET n = 12 WHERE id = 1") == nil)

   -- statements
   local get = con:prepare("SELECT n, s FROM contract WHERE id = ?")
   local id = get:bind_create(sysbench.sql.type.INT)
   case("bind", get:bind_param(id))
   id:set(3)
   rs = get:execute()
   case("prepared rows", rs.nrows, rs.nfields, rows(rs))
   for i = 1, 3 do
      id:set(i)
      rs = get:execute()
      case("again " .. i, rs.nrows)
   end
   id:set(nil)
   case("null parameter matches nothing", get:execute().nrows)
   id:set(1)
   case("after null", get:execute().nrows)
   case("wrong number", get:bind_param(id, id) ~= 0)

   local put = con:prepare("INSERT INTO contract (id, n, d, s) VALUES (?, ?, ?, ?)")
   local p = { put:bind_create(sysbench.sql.type.INT), put:bind_create(sysbench.sql.type.BIGINT),
               put:bind_create(sysbench.sql.type.DOUBLE), put:bind_create(sysbench.sql.type.VARCHAR, 300) }
   put:bind_param(unpack(p))
   local values = {
      { 10, 9007199254740992, 0.1, "ab'c" }, { 11, -5, -1e10, "back\\slash \"quote\" % ? $1" },
      { 12, nil, nil, nil }, { 13, 0, 0, "" }, { 14, 1, 2.5, ("x"):rep(300) }, { 15, 1, 1, ("y"):rep(400) },
   }
   for _, v in ipairs(values) do
      for i = 1, 4 do p[i]:set(v[i]) end
      case("put " .. v[1], put:execute() == nil)
   end
   for _, v in ipairs(values) do
      local n, d, s = con:query_row("SELECT n, d, s FROM contract WHERE id = " .. v[1])
      case("stored " .. v[1], n, d and string.format("%g", tonumber(d)), s and (#s > 50 and #s or s == "" and "(empty)" or s))
   end
   p[1]:set(16) p[4]:set_rand_str("@@@-###")
   put:execute()
   case("random string", (con:query_row("SELECT s FROM contract WHERE id = 16")):match("^%l%l%l%-%d%d%d$") ~= nil)

   local ddl = con:prepare("UPDATE contract SET n = 1 WHERE id = 1")
   case("without parameters", ddl:execute() == nil, ddl:execute() == nil)
   case("marker in string", con:prepare("SELECT '?' AS q, id FROM contract WHERE id = 1"):execute().nrows)

   -- bulk
   case("bulk", (con:bulk_insert_init("INSERT INTO contract (id, s) VALUES")))
   for i = 1, 3000 do con:bulk_insert_next(string.format("(%d, '%s')", 100 + i, ("z"):rep(300))) end
   case("bulk done", (con:bulk_insert_done()), con:query_row("SELECT COUNT(*) FROM contract WHERE id > 100"))
   case("bulk next without init", thrown(con.bulk_insert_next, con, "(1)"))

   -- transactions
   con:query("BEGIN") con:query("DELETE FROM contract WHERE id > 100") con:query("ROLLBACK")
   case("rollback", con:query_row("SELECT COUNT(*) FROM contract WHERE id > 100"))
   con:query("BEGIN") con:query("DELETE FROM contract WHERE id > 100") con:query("COMMIT")
   case("commit", con:query_row("SELECT COUNT(*) FROM contract WHERE id > 100"))

   -- errors
   case("syntax", thrown(con.query, con, "SELEC 1"), con.error == sysbench.sql.error.FATAL)
   case("usable after an error", con:query_row("SELECT id FROM contract WHERE id = 1"))
   case("missing table", thrown(con.query, con, "SELECT * FROM no_such_table"))
   case("bad prepare", thrown(function()
      local s = con:prepare("SELECT * FROM no_such_table WHERE id = ?")
      local x = s:bind_create(sysbench.sql.type.INT)
      s:bind_param(x)
      s:execute()
   end))
   case("unsupported type", thrown(get.bind_create, get, sysbench.sql.type.DATE))

   -- statement and connection life
   case("close", get:close() == 0 or get:close() == 1)
   case("closed statement", thrown(get.execute, get))
   case("reconnect", con:reconnect(), con:query_row("SELECT id FROM contract WHERE id = 1"))
   id:set(1)
   p[1]:set(17) p[4]:set("after reconnect")
   case("statement after reconnect", put:execute() == nil,
        con:query_row("SELECT s FROM contract WHERE id = 17"))
   local other = drv:connect()
   case("second connection", other:query_row("SELECT s FROM contract WHERE id = 17"))
   other:disconnect()
   con:query("DROP TABLE contract")
   case("disconnect", con:disconnect(), con:disconnect())
   case("closed connection", thrown(con.query, con, "SELECT 1"), thrown(con.prepare, con, "SELECT 1"))
   case("statement of a closed connection", thrown(put.execute, put))
   for _ = 1, 50 do drv:connect() end
   collectgarbage() collectgarbage()
   case("connections are collected", drv:connect():query_row("SELECT 7 AS x"))
end
