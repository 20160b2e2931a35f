-- sysbench.sql: drivers, connections, statements, parameters and results, as methods of the core's structs.
-- SPDX-License-Identifier: GPL-2.0-or-later
local ffi = require("ffi")
local C = ffi.C
local NULL = nil
local DB_ERROR_NONE, DB_ERROR_FATAL = C.DB_ERROR_NONE, C.DB_ERROR_FATAL
local SQL_TYPE_BIGINT, SQL_TYPE_DOUBLE, SQL_TYPE_VARCHAR =
   C.SQL_TYPE_BIGINT, C.SQL_TYPE_DOUBLE, C.SQL_TYPE_VARCHAR

sysbench.sql = {
   type = {
      NONE = 0, TINYINT = 1, SMALLINT = 2, INT = 3, BIGINT = 4, FLOAT = 5, DOUBLE = 6, TIME = 7, DATE = 8,
      DATETIME = 9, TIMESTAMP = 10, CHAR = 11, VARCHAR = 12,
   },
   error = { NONE = 0, IGNORABLE = 1, FATAL = 2 },
}

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
   errdesc = err
   local hook = sysbench.hooks.sql_error_ignorable
   if con.error ~= DB_ERROR_FATAL or (hook and hook(err)) then
      err.errcode = sysbench.error.RESTART_EVENT
      error(err, 3)
   end
   error(string.format("SQL error, errno = %d, state = '%s': %s", err.sql_errno, err.sql_state,
                       err.sql_errmsg), 3)
end

-- driver

local driver = {}

function sysbench.sql.driver(name)
   local drv = C.db_create(name)
   if drv == NULL then
      error("failed to initialize the DB driver", 2)
   end
   return drv
end

function driver:connect()
   local con = C.db_connection_create(self, sysbench.tid)
   if con == NULL then
      error("connection creation failed", 2)
   end
   return ffi.gc(con, C.db_connection_release)
end

function driver:name()
   return ffi.string(self.name_of_dialect)
end

-- connection

local connection = {}

function connection:disconnect()
   return C.db_connection_close(self) == 0
end

function connection:reconnect()
   if C.db_connection_reconnect(self) ~= 0 then
      raise(self, "")
   end
   return true
end

function connection:check_error(_, query)
   if self.error ~= DB_ERROR_NONE then
      raise(self, query)
   end
end

function connection:query(sql)
   local rs = C.db_query(self, sql, #sql)
   if self.error ~= DB_ERROR_NONE then
      raise(self, sql)
   end
   return rs
end

function connection:more_results()
   return C.db_more_results(self)
end

function connection:next_result()
   local rs = C.db_next_result(self)
   if self.error ~= DB_ERROR_NONE then
      raise(self, "")
   end
   return rs
end

-- The next row as a table with holes for NULL, or nil.
local function fetch(rs)
   local row = C.db_fetch_row(rs)
   if row == NULL then
      return nil
   end
   local values, result = row.values, {}
   for i = 0, rs.nfields - 1 do
      if values[i].buffer ~= NULL then
         result[i + 1] = ffi.string(values[i].buffer, values[i].length)
      end
   end
   return result
end

function connection:query_row(sql)
   local rs = C.db_query(self, sql, #sql)
   if self.error ~= DB_ERROR_NONE then
      raise(self, sql)
   end
   if rs == NULL or rs.nrows == 0 then
      return nil
   end
   local n = rs.nfields
   local row = fetch(rs)
   C.db_free_results(rs)
   return unpack(row, 1, n)
end

function connection:prepare(sql)
   local stmt = C.db_prepare(self, sql, #sql)
   if stmt == NULL then
      raise(self, sql)
   end
   return ffi.gc(stmt, C.db_statement_release)
end

local function bulk(function_name)
   local call = C["db_" .. function_name]
   return function(self, text)
      local failed
      if text then
         failed = call(self, text, #text) ~= 0
      else
         failed = call(self) ~= 0
      end
      if failed then
         error("db_" .. function_name .. "() failed", 2)
      end
      return true
   end
end

connection.bulk_insert_init = bulk("bulk_insert_init")
connection.bulk_insert_next = bulk("bulk_insert_next")
connection.bulk_insert_done = bulk("bulk_insert_done")

-- statement

local statement = {}

function statement:bind_create(sql_type, max_len)
   local param = C.db_bind_create(sql_type, max_len or 0)
   if param == NULL then
      error("Unsupported argument type: " .. tostring(sql_type), 2)
   end
   return ffi.gc(param, C.db_param_release)
end

function statement:bind_param(...)
   local n = select("#", ...)
   if n == 0 then
      return nil
   end
   return C.db_bind_param(self, ffi.new("sql_param *[?]", n, { ... }), n)
end

function statement:execute()
   local rs = C.db_execute(self)
   local con = self.connection
   if con.error ~= DB_ERROR_NONE then
      raise(con, "<prepared statement>")
   end
   return rs
end

function statement:next_result()
   local con = self.connection
   local rs = C.db_next_result(con)
   if con.error ~= DB_ERROR_NONE then
      raise(con, "<prepared statement>")
   end
   return rs
end

function statement:close()
   return C.db_close(self)
end

-- parameter

local param = {}
local int64_pointer, double_pointer = ffi.typeof("int64_t *"), ffi.typeof("double *")

function param:set(value)
   if value == nil then
      self.is_null = true
   elseif self.type == SQL_TYPE_BIGINT then
      ffi.cast(int64_pointer, self.buffer)[0] = value
      self.is_null = false
   elseif self.type == SQL_TYPE_DOUBLE then
      ffi.cast(double_pointer, self.buffer)[0] = value
      self.is_null = false
   else
      C.db_param_set_string(self, value, #value)
   end
end

function param:set_rand_str(template)
   if self.type ~= SQL_TYPE_VARCHAR then
      error("Unsupported argument type: " .. self.type, 2)
   end
   C.db_param_set_rand_str(self, template)
end

-- result

local result = {}

function result:fetch_row()
   return fetch(self)
end

function result:free()
   if C.db_free_results(self) ~= 0 then
      error("db_free_results() failed", 2)
   end
   return true
end

local function metatype(ctype, methods)
   local text = "<" .. ctype .. ">"
   ffi.metatype(ctype, { __index = methods, __tostring = function() return text end })
end

metatype("sql_driver", driver)
metatype("sql_connection", connection)
metatype("sql_statement", statement)
metatype("sql_param", param)
metatype("sql_result", result)
