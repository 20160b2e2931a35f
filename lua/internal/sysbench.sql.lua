-- sysbench.sql: drivers, connections, statements, parameters and results, as methods of the core's structs.
-- SPDX-License-Identifier: GPL-2.0-or-later
-- Returns what belongs into sysbench.sql.
local ffi, metatype, running = ffi, ffi.metatype, running
local NULL = nil
local DB_ERROR_NONE, DB_ERROR_FATAL = native("DB_ERROR_NONE"), native("DB_ERROR_FATAL")
local BIGINT, DOUBLE = native("SQL_TYPE_BIGINT"), native("SQL_TYPE_DOUBLE")
local CHAR, VARCHAR = native("SQL_TYPE_CHAR"), native("SQL_TYPE_VARCHAR")
local db_no_result, db_create, db_connection_create, db_connection_release, db_connection_settle, db_connection_close,
   db_connection_reconnect, db_query, db_more_results, db_next_result, db_fetch_row, db_free_results, db_prepare,
   db_statement_release, db_bulk_insert_init, db_bulk_insert_next, db_bulk_insert_done, db_bind_create,
   db_param_release, db_bind_param, db_execute, db_close, db_param_set_string, db_param_set_rand_str =
   native("db_no_result"), native("db_create"), native("db_connection_create"), native("db_connection_release"),
   native("db_connection_settle"), native("db_connection_close"), native("db_connection_reconnect"),
   native("db_query"), native("db_more_results"),
   native("db_next_result"), native("db_fetch_row"), native("db_free_results"), native("db_prepare"),
   native("db_statement_release"), native("db_bulk_insert_init"), native("db_bulk_insert_next"),
   native("db_bulk_insert_done"), native("db_bind_create"), native("db_param_release"), native("db_bind_param"),
   native("db_execute"), native("db_close"), native("db_param_set_string"), native("db_param_set_rand_str")
local assert, error, pairs, rawequal, rawset, select, setmetatable, tonumber, tostring, type, unpack =
   assert, error, pairs, rawequal, rawset, select, setmetatable, tonumber, tostring, type, unpack
local format, part = format, part

-- Mistakes are told in the name of the script's line, which is level 3 from these functions. Type checks cost
-- nothing in compiled code, which has to make them anyway.
local istype = ffi.istype
local driver_type, connection_type, statement_type, result_type =
   ffi.typeof("sql_driver"), ffi.typeof("sql_connection"), ffi.typeof("sql_statement"), ffi.typeof("sql_result")

local function check_self(object, expected, name)
   if not istype(expected, object) then
      error(format("'%s' needs what it belongs to before a colon, as in object:%s(), not a %s",
                   name, name, type(object)), 3)
   end
end

local function bad_argument(position, name, expected, value)
   error(format("bad argument #%d to '%s' (%s expected, got %s)", position, name, expected, type(value)), 3)
end

-- Raise the error of the connection's last operation, in the name of the script's line (level 3 from here).
local function raise(con, query)
   if con.sql_state == NULL or con.sql_errmsg == NULL then
      error("SQL API error", 3)
   end
   local err = {
      connection = con,
      query = query,
      sql_errno = con.sql_errno,
      sql_state = ffi.string(con.sql_state),
      sql_errmsg = ffi.string(con.sql_errmsg),
   }
   local script = running()
   rawset(script._G, "errdesc", err)
   local hook = script.sysbench.hooks.sql_error_ignorable
   if con.error ~= DB_ERROR_FATAL or (hook and hook(err)) then
      err.errcode = script.sysbench.error.RESTART_EVENT
      error(err, 3)
   end
   error(format("SQL error, errno = %d, state = '%s': %s", err.sql_errno, err.sql_state, err.sql_errmsg), 3)
end

-- A statement without a result set gives NULL in the original: equal to nil, and the end of the process for whoever
-- asks it for rows. This one is equal to nil too, and can be asked: it is empty.
local no_result = db_no_result()[0]

-- driver

local driver = {}
local connections = setmetatable({}, { __mode = "k" })

local function open_driver(name)
   if name ~= nil and type(name) ~= "string" then
      bad_argument(1, "driver", "name of a driver", name)
   end
   local drv = db_create(name)
   if drv == NULL then
      error("failed to initialize the DB driver", 2)
   end
   return drv
end

function driver:connect()
   check_self(self, driver_type, "connect")
   local con = db_connection_create(self, running().sysbench.tid)
   if con == NULL then
      error("connection creation failed", 2)
   end
   connections[con] = true
   return ffi.gc(con, db_connection_release)
end

function driver:name()
   check_self(self, driver_type, "name")
   return ffi.string(self.name_of_dialect)
end

-- connection

local connection = {}

local function lost_rows(con)
   local why = con.sql_errmsg ~= NULL and ffi.string(con.sql_errmsg) or "SQL API error"
   return "the rows of a bulk insert are not all in the table: " .. why
end

function connection:disconnect()
   check_self(self, connection_type, "disconnect")
   if db_connection_close(self) ~= 0 then
      error(lost_rows(self), 2)
   end
   return true
end

function connection:reconnect()
   check_self(self, connection_type, "reconnect")
   if db_connection_reconnect(self) ~= 0 then
      raise(self, "")
   end
   return true
end

function connection:check_error(rs, query)
   check_self(self, connection_type, "check_error")
   if self.error ~= DB_ERROR_NONE then
      raise(self, query)
   end
   return rs
end

function connection:query(query)
   check_self(self, connection_type, "query")
   if type(query) ~= "string" then
      bad_argument(1, "query", "string", query)
   end
   local rs = db_query(self, query, #query)
   if rs ~= NULL then
      return rs
   elseif self.error ~= DB_ERROR_NONE then
      raise(self, query)
   end
   return no_result
end

function connection:more_results()
   check_self(self, connection_type, "more_results")
   return db_more_results(self)
end

function connection:next_result()
   check_self(self, connection_type, "next_result")
   local rs = db_next_result(self)
   if rs ~= NULL then
      return rs
   elseif self.error ~= DB_ERROR_NONE then
      raise(self, "")
   end
   return no_result
end

-- The next row as a table with holes for NULL, or nil.
local function fetch(rs)
   local row = db_fetch_row(rs)
   if row == NULL then
      return nil
   end
   local values, columns = row.values, {}
   for i = 0, rs.nfields - 1 do
      if values[i].buffer ~= NULL then
         columns[i + 1] = ffi.string(values[i].buffer, values[i].length)
      end
   end
   return columns
end

function connection:query_row(query)
   check_self(self, connection_type, "query_row")
   if type(query) ~= "string" then
      bad_argument(1, "query_row", "string", query)
   end
   local rs = db_query(self, query, #query)
   if rs == NULL then
      if self.error ~= DB_ERROR_NONE then
         raise(self, query)
      end
      return nil
   end
   local n = rs.nfields
   local row = rs.nrows > 0 and fetch(rs)
   db_free_results(rs)
   if row then
      return unpack(row, 1, n)
   end
   return nil
end

-- A statement keeps its connection open, though the script may have no other use for it.
local connection_of = setmetatable({}, { __mode = "k" })
local closed_statements = setmetatable({}, { __mode = "k" })

-- A closed statement has failed to do what it was asked for: say so (the script's line is level 3 from here).
local function check_open(stmt, name)
   if closed_statements[stmt] and stmt.connection.sql_state == NULL then
      error(format("SQL API error: %s() of a closed statement", name), 3)
   end
end

function connection:prepare(query)
   check_self(self, connection_type, "prepare")
   if type(query) ~= "string" then
      bad_argument(1, "prepare", "string", query)
   end
   local stmt = db_prepare(self, query, #query)
   if stmt == NULL then
      raise(self, query)
   end
   ffi.gc(stmt, db_statement_release)
   connection_of[stmt] = self
   return stmt
end

-- LuaJIT's assert puts the script's line before a message, as these are tail calls.

function connection:bulk_insert_init(query)
   check_self(self, connection_type, "bulk_insert_init")
   if type(query) ~= "string" then
      bad_argument(1, "bulk_insert_init", "string", query)
   end
   return assert(db_bulk_insert_init(self, query, #query) == 0, "db_bulk_insert_init() failed")
end

function connection:bulk_insert_next(values)
   check_self(self, connection_type, "bulk_insert_next")
   if type(values) ~= "string" then
      bad_argument(1, "bulk_insert_next", "string", values)
   end
   return assert(db_bulk_insert_next(self, values, #values) == 0, "db_bulk_insert_next() failed")
end

function connection:bulk_insert_done()
   check_self(self, connection_type, "bulk_insert_done")
   return assert(db_bulk_insert_done(self) == 0, "db_bulk_insert_done() failed")
end

-- statement

local statement = {}
local param = {}
local param_metatable = { __index = param, __tostring = function() return "<sql_param>" end }
local param_list = ffi.typeof("sql_param *[?]")
local bytes, lengths = ffi.typeof("char *"), ffi.typeof("uint32_t *")
local buffers = {
   [BIGINT] = ffi.typeof("int64_t *"), [DOUBLE] = ffi.typeof("double *"), [VARCHAR] = bytes,
}
local data_len_at, is_null_at = ffi.offsetof("sql_param", "data_len"), ffi.offsetof("sql_param", "is_null")

-- A parameter is a table, so that scripts can keep what they like in it; buffer, data_len and is_null point to
-- the core's memory.
function statement:bind_create(sql_type, max_len)
   check_self(self, statement_type, "bind_create")
   local known = type(sql_type) == "number"
   if known and (sql_type == CHAR or sql_type == VARCHAR) then
      if type(max_len) ~= "number" or not (max_len >= 0 and max_len <= 0x7fffffff) then
         error("a parameter of characters needs its greatest length, not " .. tostring(max_len), 2)
      end
   else
      max_len = 0
   end
   local handle = known and db_bind_create(sql_type, max_len) or NULL
   if handle == NULL then
      error("Unsupported argument type: " .. tostring(sql_type), 2)
   end
   ffi.gc(handle, db_param_release)
   local memory = ffi.cast(bytes, handle)
   return setmetatable({
      handle = handle,
      type = handle.type,
      max_len = handle.max_len,
      buffer = ffi.cast(buffers[handle.type], handle.buffer),
      data_len = ffi.cast(lengths, memory + data_len_at),
      is_null = memory + is_null_at,
   }, param_metatable)
end

function statement:bind_param(...)
   check_self(self, statement_type, "bind_param")
   local n = select("#", ...)
   if n == 0 then
      return nil
   end
   local list = param_list(n)
   for i = 1, n do
      local p = select(i, ...)
      if type(p) ~= "table" or p.handle == NULL then
         error("bad argument #" .. i .. " to 'bind_param' (what bind_create returns expected, got " .. type(p) .. ")", 2)
      end
      list[i - 1] = p.handle
   end
   return db_bind_param(self, list, n)
end

function statement:execute()
   check_self(self, statement_type, "execute")
   local rs = db_execute(self)
   if rs ~= NULL then
      return rs
   elseif self.connection.error ~= DB_ERROR_NONE then
      check_open(self, "execute")
      raise(self.connection, "<prepared statement>")
   end
   return no_result
end

function statement:next_result()
   check_self(self, statement_type, "next_result")
   local rs = db_next_result(self.connection)
   if rs ~= NULL then
      return rs
   elseif self.connection.error ~= DB_ERROR_NONE then
      check_open(self, "next_result")
      raise(self.connection, "<prepared statement>")
   end
   return no_result
end

function statement:close()
   check_self(self, statement_type, "close")
   closed_statements[self] = true
   return db_close(self)
end

-- parameter

local function check_param(object, name)
   if type(object) ~= "table" or object.handle == nil then
      error(format("'%s' needs a parameter before a colon, as in param:%s(), not a %s", name, name, type(object)), 3)
   end
end

function param:set(value)
   check_param(self, "set")
   if value == nil then
      self.is_null[0] = 1
   elseif self.type == VARCHAR then
      if type(value) ~= "string" then
         bad_argument(1, "set", "string", value)
      end
      db_param_set_string(self.handle, value, #value)
   else
      -- 64-bit integers are cdata.
      if type(value) ~= "number" and (type(value) ~= "cdata" or not tonumber(value)) then
         bad_argument(1, "set", "number", value)
      end
      self.buffer[0] = value
      self.is_null[0] = 0
   end
end

function param:set_rand_str(template)
   check_param(self, "set_rand_str")
   if self.type ~= VARCHAR then
      error("Unsupported argument type: " .. self.type, 2)
   elseif type(template) ~= "string" then
      bad_argument(1, "set_rand_str", "string", template)
   end
   db_param_set_rand_str(self.handle, template)
end

-- result

local result = {}

function result:fetch_row()
   check_self(self, result_type, "fetch_row")
   return fetch(self)
end

function result:free()
   check_self(self, result_type, "free")
   return assert(db_free_results(self) == 0, "db_free_results() failed")
end

-- Pointers that are compared with nil never come here: only no_result, which is no pointer, does.
local address = ffi.typeof("const void *")
local function is_nothing(value)
   if rawequal(value, nil) then
      return true
   elseif type(value) ~= "cdata" then
      return false
   end
   local at = ffi.cast(address, value)
   return at == NULL or at == ffi.cast(address, no_result)
end

local function add_methods(name, methods, equal)
   local text = "<" .. name .. ">"
   metatype(name, {
      __index = setmetatable(methods, {
         __index = function(_, key) part("sysbench.members").missing(name, methods, key) end,
      }),
      __newindex = function(_, key) part("sysbench.members").refuse(name, key) end,
      __tostring = function() return text end,
      __eq = equal,
   })
end

add_methods("sql_driver", driver)
add_methods("sql_connection", connection)
add_methods("sql_statement", statement)
add_methods("sql_result", result, function(a, b) return is_nothing(a) and is_nothing(b) end)

-- What bulk inserts of connections that are still open have sent may not be in the tables yet. Nil, or what keeps it
-- from being there.
local function settle()
   local problem
   for con in pairs(connections) do
      if db_connection_settle(con) ~= 0 then
         problem = lost_rows(con)
      end
   end
   return problem
end

return { driver = open_driver, settle = settle }
