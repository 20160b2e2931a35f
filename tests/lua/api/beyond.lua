-- What 1.0.20 has not, or gets wrong: checked here, as there is nothing to compare with.
local T = sysbench.sql.type
local function equal(got, want)
   if got ~= want then error(("got %s, not %s"):format(tostring(got), tostring(want)), 2) end
end
local function fails(pattern, f, ...)
   local ok, err = pcall(f, ...)
   if ok or not tostring(err):find(pattern) then error(("got %s, not %s"):format(tostring(err), pattern), 2) end
end
local checks = {}

function checks.no_result_can_be_asked(con)
   for _, rs in ipairs { con:query("UPDATE api SET a = 5 WHERE id = 1"), con:prepare("DELETE FROM api WHERE id = 99"):execute() } do
      equal(rs.nrows, 0)
      equal(rs.nfields, 0)
      equal(rs:fetch_row(), nil)
      equal(pcall(rs.free, rs), false)
      equal(rs == nil, true)
      equal(nil == rs, true)
      equal(rs ~= nil, false)
      equal(rs == con:query("SELECT 1"), false)
      equal(rs == 5, false)
      equal(rs == con:query("DELETE FROM api WHERE id = 98"), true)
   end
end

function checks.prepared_rows_are_text(con)
   local stmt = con:prepare("SELECT id, a, d, s FROM api WHERE id <= ? ORDER BY id")
   local limit = stmt:bind_create(T.INT)
   stmt:bind_param(limit)
   limit:set(2)
   local rs = stmt:execute()
   equal(rs.nrows, 2)
   equal(rs.nfields, 4)
   equal(rs.statement == nil, false)
   local row = rs:fetch_row()
   equal(table.concat(row, "|"), "1|5|0.5|text")
   row = rs:fetch_row()
   equal(row[1], "2")
   equal(row[2], nil)
   equal(row[4], nil)
   equal(rs:fetch_row(), nil)
end

function checks.parameters_of_every_type(con)
   local stmt = con:prepare("INSERT INTO api VALUES (?, ?, ?, ?)")
   local id, a, d, s = stmt:bind_create(T.INT), stmt:bind_create(T.BIGINT), stmt:bind_create(T.DOUBLE), stmt:bind_create(T.VARCHAR, 20)
   equal(stmt:bind_param(id, a, d, s), 0)
   local function stored(key)
      return con:query_row("SELECT a, d, s FROM api WHERE id = " .. key)
   end
   local function insert(key, x, y, z)
      id:set(key) a:set(x) d:set(y) s:set(z)
      stmt:execute()
   end
   insert(11, 2 ^ 53, -2.25, "it's")
   local x, y, z = stored(11)
   equal(x, "9007199254740992")
   equal(tonumber(y), -2.25)
   equal(z, "it's")
   insert(12, nil, nil, nil)
   x, y, z = stored(12)
   equal(x or y or z, nil)
   insert(13, 1, 2, "back\\slash \" ? %s")
   equal(select(3, stored(13)), "back\\slash \" ? %s")
   s:set_rand_str(("#"):rep(30))
   id:set(14)
   stmt:execute()
   equal(select(3, stored(14)):match("^%d+$") and #select(3, stored(14)), 20)
   equal(d.buffer[0], 2)
   equal(s.data_len[0], 20)
   equal(s.is_null[0], 0)
   s:set(nil)
   equal(s.is_null[0], 1)
   con:query("DELETE FROM api WHERE id > 10")
end

function checks.misuse_is_an_error_in_the_line(con)
   local stmt = con:prepare("SELECT id FROM api WHERE id = ?")
   local p = stmt:bind_create(T.INT)
   fails("beyond.lua:%d+: bad argument #2 to 'bind_param'", function() local _ = stmt:bind_param(p, nil) end)
   fails("beyond.lua:%d+: bad argument #1 to 'bind_param'", function() local _ = stmt:bind_param(5) end)
   fails("beyond.lua:%d+: a parameter of characters needs", function() local _ = stmt:bind_create(T.CHAR) end)
   fails("beyond.lua:%d+: a parameter of characters needs", function() local _ = stmt:bind_create(T.CHAR, -1) end)
   fails("beyond.lua:%d+: Unsupported argument type: x", function() local _ = stmt:bind_create("x") end)
   fails("beyond.lua:%d+: SQL API error", function() local _ = stmt:execute() end)
   local text = stmt:bind_create(T.CHAR, 5)
   fails("beyond.lua:%d+: bad argument #1 to 'set_rand_str'", function() text:set_rand_str(nil) end)
   stmt:bind_param(p)
   stmt:close()
   fails("beyond.lua:%d+: SQL API error: execute%(%) of a closed statement$", function() local _ = stmt:execute() end)
   equal(stmt:bind_param(p), 1)
   equal(stmt:close(), 1)
   fails("beyond.lua:%d+: SQL error", function() local _ = con:query_row("SELECT * FROM nosuch") end)
end

function checks.failed_prepare_tells_why(con)
   if sysbench.opt.db_ps_mode == "disable" then return end
   local ok, err = pcall(con.prepare, con, "SELECT * FROM nosuch")
   equal(ok, false)
   if not err:find("^SQL error, errno = %d+, state = '%w+': .*nosuch") then error(err) end
   equal(errdesc.query, "SELECT * FROM nosuch")
end

function checks.statement_keeps_its_connection_open(con)
   local stmt = con.driver:connect():prepare("SELECT 7")
   collectgarbage()
   collectgarbage()
   equal(stmt:execute().nrows, 1)
end

function checks.reconnect_is_counted(con)
   local other = con.driver:connect()
   local stmt = other:prepare("SELECT 8")
   local before = ffi.C.sb_counter_val(sysbench.tid, ffi.C.SB_CNT_RECONNECT)
   equal(other:reconnect(), true)
   equal(ffi.C.sb_counter_val(sysbench.tid, ffi.C.SB_CNT_RECONNECT), before + 1)
   equal(other:query_row("SELECT 9"), "9")
   equal(stmt:execute().nrows, 1)
   other:disconnect()
   equal(other:reconnect(), true)
   equal(other:query_row("SELECT 9"), "9")
end

function checks.closed_connection_takes_no_bulk(con)
   local other = con.driver:connect()
   other:disconnect()
   fails("beyond.lua:%d+: db_bulk_insert_init%(%) failed", function() local _ = other:bulk_insert_init("INSERT INTO api VALUES") end)
   equal(other:more_results(), false)
   fails("SQL API error", other.next_result, other)
end

function checks.next_result_at_the_end(con)
   con:query("SELECT 1")
   equal(con:more_results(), false)
   equal(con:next_result() == nil, true)
   local stmt = con:prepare("SELECT 1")
   stmt:execute()
   equal(stmt:next_result() == nil, true)
end

function checks.many_columns_and_long_values(con)
   local columns = {}
   for i = 1, 300 do columns[i] = i end
   equal(select("#", con:query_row("SELECT " .. table.concat(columns, ","))), 300)
   con:query("DELETE FROM api WHERE id = 3")
   con:query("INSERT INTO api VALUES (3, 1, 1, '" .. ("long"):rep(70) .. "')")
   equal(#select(1, con:query_row("SELECT s FROM api WHERE id = 3")), 280)
   con:query("DELETE FROM api WHERE id = 3")
end

function checks.percent_and_marks_in_text(con)
   equal(con:query_row("SELECT '%d %s ? $1'"), "%d %s ? $1")
   local stmt = con:prepare("SELECT '?', a FROM api WHERE id = ? -- ?")
   local p = stmt:bind_create(T.INT)
   equal(stmt:bind_param(p), 0)
   p:set(1)
   equal(stmt:execute().nrows, 1)
end

function prepare()
   local con = sysbench.sql.driver():connect()
   con:query("CREATE TABLE api (id INTEGER NOT NULL PRIMARY KEY, a BIGINT, d DOUBLE PRECISION, s VARCHAR(300))")
   con:query("INSERT INTO api VALUES (1, 5, 0.5, 'text'), (2, NULL, NULL, NULL)")
   local names = {}
   for name in pairs(checks) do names[#names + 1] = name end
   table.sort(names)
   for _, name in ipairs(names) do
      checks[name](con)
      print("ok " .. name)
   end
   con:query("DROP TABLE api")
end
