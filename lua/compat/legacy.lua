-- The global names of sysbench 0.5, over the 1.0 API. One implicit connection a state, opened on first use.
-- SPDX-License-Identifier: GPL-2.0-or-later
local ffi = require("ffi")
local C = ffi.C
local rand, sql = sysbench.rand, sysbench.sql
local DB_ERROR_NONE, DB_ERROR_IGNORABLE = C.DB_ERROR_NONE, C.DB_ERROR_IGNORABLE
local LOG_DEBUG = 5

thread_id = sysbench.tid
test = sysbench.cmdline.script_path
mysql_table_engine = "innodb"
myisam_max_rows = 1000000

DB_ERROR_NONE, DB_ERROR_RESTART_TRANSACTION, DB_ERROR_FAILED = 0, 1, 2

-- Random numbers. Options reach scripts of that time as strings, and its functions took numeric strings.

local function number(value, what)
   return tonumber(value) or error(string.format("%s is not a number: %s", what, tostring(value)), 3)
end

local function of_range(distribution)
   return function(a, b)
      if type(a) ~= "number" or type(b) ~= "number" then
         a, b = number(a, "the lower bound"), number(b, "the upper bound")
      end
      return distribution(a, b)
   end
end

sb_rand = of_range(rand.default)
sb_rand_uniform = of_range(rand.uniform)
sb_rand_gaussian = of_range(rand.gaussian)
sb_rand_special = of_range(rand.special)
sb_rand_str = rand.string

function sb_rnd()
   return tonumber(rand.uniform_uint64() % 4294967296ULL)
end

function sb_rand_uniq(a, b)
   a, b = number(a or 0, "the lower bound"), number(b or 4294967295, "the upper bound")
   local value
   repeat
      value = rand.unique()
   until value >= a and value <= b
   return value
end

-- The implicit connection.

local con

function db_connect()
   if con then
      return
   end
   local ok, drv = pcall(sql.driver)
   if not ok then
      error("DB initialization failed", 2)
   end
   db_driver = drv:name()
   ok, con = pcall(drv.connect, drv)
   if not ok then
      con = nil
      error("Failed to connect to the database", 2)
   end
end

function db_disconnect()
   if con then
      con:disconnect()
      con = nil
   end
end

-- Raise what the last operation has left in the connection, in the name of the script's line.
local function check(name)
   if con.error == DB_ERROR_NONE then
      return
   elseif con.error == DB_ERROR_IGNORABLE then
      C.sb_log(LOG_DEBUG, "Ignored error encountered, restarting transaction")
      error({ errcode = sysbench.error.RESTART_EVENT, sql_errno = con.sql_errno }, 0)
   end
   error(name .. "() failed", 3)
end

function db_query(query)
   db_connect()
   C.db_query(con, query, #query)
   check("db_query")
end

local function bulk(name)
   local call = C[name]
   return function(text)
      local rc
      if text then
         rc = call(con, text, #text)
      else
         rc = call(con)
      end
      if rc ~= 0 then
         error(name .. "() failed", 2)
      end
   end
end

local bulk_init, bulk_next, bulk_done =
   bulk("db_bulk_insert_init"), bulk("db_bulk_insert_next"), bulk("db_bulk_insert_done")

function db_bulk_insert_init(query)
   db_connect()
   bulk_init(query)
end

local function connected(call)
   return function(...)
      if not con then
         error("Uninitialized database connection", 2)
      end
      return call(...)
   end
end

db_bulk_insert_next = connected(bulk_next)
db_bulk_insert_done = connected(bulk_done)

-- Prepared statements: the table given to db_bind_param is read anew at each db_execute.

local bindings = setmetatable({}, { __mode = "k" })

function db_prepare(query)
   db_connect()
   local stmt = C.db_prepare(con, query, #query)
   if stmt == nil then
      check("db_prepare")
   end
   stmt = ffi.gc(stmt, C.db_statement_release)
   return setmetatable({ stmt = stmt }, { __tostring = function() return tostring(stmt) end })
end

-- Parameters for the values as they are now: a number is an INT, a string a CHAR with room to grow.
local function bind(statement, values)
   local params = {}
   for i = 1, #values do
      local kind = type(values[i])
      if kind == "number" then
         params[i] = statement.stmt:bind_create(sql.type.INT)
      elseif kind == "string" then
         params[i] = statement.stmt:bind_create(sql.type.CHAR, math.max(256, 2 * #values[i]))
      else
         error("Unsupported variable type: " .. kind, 3)
      end
   end
   if #params == 0 then
      error("table is empty", 3)
   end
   if statement.stmt:bind_param(unpack(params)) ~= 0 then
      error("db_bind_param() failed", 3)
   end
   bindings[statement] = { values = values, params = params }
end

function db_bind_param(statement, values)
   bind(statement, values)
end

function db_bind_result()
end

function db_execute(statement)
   local binding = bindings[statement]
   if binding then
      local values, params = binding.values, binding.params
      for i = 1, #params do
         local value, param = values[i], params[i]
         if type(value) == "string" and param.type ~= C.SQL_TYPE_VARCHAR then
            value = number(value, "the parameter")
         elseif type(value) == "number" and param.type == C.SQL_TYPE_VARCHAR then
            value = tostring(value)
         end
         if type(value) == "string" and #value > param.max_len then
            bind(statement, values)
            return db_execute(statement)
         end
         param:set(value)
      end
   end
   C.db_execute(statement.stmt)
   check("db_execute")
end

function db_store_results()
end

function db_free_results()
end

function db_close(statement)
   bindings[statement] = nil
   return statement.stmt:close()
end

sysbench.db = {
   connect = db_connect, disconnect = db_disconnect, query = db_query,
   bulk_insert_init = db_bulk_insert_init, bulk_insert_next = db_bulk_insert_next,
   bulk_insert_done = db_bulk_insert_done, prepare = db_prepare, bind_param = db_bind_param,
   bind_result = db_bind_result, execute = db_execute, store_results = db_store_results,
   free_results = db_free_results, close = db_close,
   DB_ERROR_NONE = 0, DB_ERROR_RESTART_TRANSACTION = 1, DB_ERROR_FAILED = 2,
}

-- Options as globals, for scripts that declare none. A function of the script keeps its name.
return function(options)
   for name, value in pairs(options) do
      if type(_G[name]) ~= "function" then
         _G[name] = value
      end
   end
end
