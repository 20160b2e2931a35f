-- The global names of sysbench 0.5, over the 1.0 API. One implicit connection a state, opened on first use.
-- SPDX-License-Identifier: GPL-2.0-or-later
-- Returns the functions.
local ffi, sql, rand = ffi, sysbench.sql, part("sysbench.rand")
local RESTART_EVENT = 1
local ERROR_NONE, ERROR_IGNORABLE = native("DB_ERROR_NONE"), native("DB_ERROR_IGNORABLE")
local LOG_DEBUG = 5
local sb_log, core_query, core_bulk_insert_init, core_bulk_insert_next, core_bulk_insert_done, core_prepare,
   core_statement_release, SQL_TYPE_VARCHAR, core_execute, core_free_results =
   native("sb_log"), native("db_query"), native("db_bulk_insert_init"), native("db_bulk_insert_next"),
   native("db_bulk_insert_done"), native("db_prepare"), native("db_statement_release"), native("SQL_TYPE_VARCHAR"),
   native("db_execute"), native("db_free_results")
local _G, error, getmetatable, pcall, rawset, setmetatable, tonumber, tostring, type, unpack =
   _G, error, getmetatable, pcall, rawset, setmetatable, tonumber, tostring, type, unpack
local format = format

local legacy = {}

-- Options reach scripts of that time as strings, and its functions took numeric strings for numbers, and numbers
-- for strings.

local function number(value, name, position)
   return tonumber(value) or
      error(format("bad argument #%d to '%s' (number expected, got %s)", position, name, tostring(value)), 3)
end

local function text(value, name)
   if type(value) == "string" or type(value) == "number" then
      return tostring(value)
   end
   error(format("bad argument #1 to '%s' (string expected, got %s)", name, type(value)), 3)
end

-- Random numbers

local function of_range(name, distribution)
   return function(a, b)
      if type(a) ~= "number" or type(b) ~= "number" then
         a, b = number(a, name, 1), number(b, name, 2)
      end
      return distribution(a, b)
   end
end

legacy.sb_rand = of_range("sb_rand", rand.default)
legacy.sb_rand_uniform = of_range("sb_rand_uniform", rand.uniform)
legacy.sb_rand_gaussian = of_range("sb_rand_gaussian", rand.gaussian)
legacy.sb_rand_special = of_range("sb_rand_special", rand.special)

function legacy.sb_rand_str(template)
   return rand.string(text(template, "sb_rand_str"))
end

function legacy.sb_rnd()
   return tonumber(rand.uniform_uint64() % 4294967296ULL)
end

function legacy.sb_rand_uniq(a, b)
   a, b = number(a or 0, "sb_rand_uniq", 1), number(b or 4294967295, "sb_rand_uniq", 2)
   if a > b then
      error(format("sb_rand_uniq: there is no number from %s to %s", a, b), 2)
   end
   local value
   repeat
      value = rand.unique()
   until value >= a and value <= b
   return value
end

-- The implicit connection

local con

-- Errors are given in the name of the script's line, as everywhere here.
local function connect()
   if con then
      return
   end
   local ok, drv = pcall(sql.driver)
   if not ok then
      error("DB initialization failed", 3)
   end
   rawset(_G, "db_driver", drv:name())
   ok, con = pcall(drv.connect, drv)
   if not ok then
      con = nil
      error("Failed to connect to the database", 3)
   end
end

function legacy.db_connect()
   connect()
end

function legacy.db_disconnect()
   if con then
      con:disconnect()
      con = nil
   end
end

-- Raise what the last operation has left in the connection.
local function check(name)
   if con.error == ERROR_IGNORABLE then
      sb_log(LOG_DEBUG, "Ignored error encountered, restarting transaction")
      error({ errcode = RESTART_EVENT, sql_errno = con.sql_errno }, 3)
   elseif con.error ~= ERROR_NONE then
      error(name .. "() failed", 3)
   end
end

local function need_connection()
   if not con then
      error("Uninitialized database connection", 3)
   end
end

function legacy.db_query(query)
   query = text(query, "db_query")
   connect()
   core_query(con, query, #query)
   check("db_query")
end

function legacy.db_bulk_insert_init(query)
   query = text(query, "db_bulk_insert_init")
   connect()
   if core_bulk_insert_init(con, query, #query) ~= 0 then
      error("db_bulk_insert_init() failed", 2)
   end
end

function legacy.db_bulk_insert_next(values)
   values = text(values, "db_bulk_insert_next")
   need_connection()
   if core_bulk_insert_next(con, values, #values) ~= 0 then
      error("db_bulk_insert_next() failed", 2)
   end
end

function legacy.db_bulk_insert_done()
   need_connection()
   if core_bulk_insert_done(con) ~= 0 then
      error("db_bulk_insert_done() failed", 2)
   end
end

-- Prepared statements: the table given to db_bind_param is read anew at each db_execute.

local statement = { __tostring = function() return "<sql_statement>" end }
local result = { __tostring = function() return "<sql_result>" end }

local function object(value, metatable, name)
   if getmetatable(value) ~= metatable then
      error(format("bad argument #1 to '%s' (%s expected, got %s)", name, metatable.__tostring(), type(value)), 3)
   end
   return value
end

function legacy.db_prepare(query)
   query = text(query, "db_prepare")
   connect()
   local stmt = core_prepare(con, query, #query)
   if stmt == nil then
      check("db_prepare")
   end
   return setmetatable({ stmt = ffi.gc(stmt, core_statement_release), params = {} }, statement)
end

-- A number makes an INT, a string a CHAR with room to grow.
function legacy.db_bind_param(s, values)
   local stmt, params = object(s, statement, "db_bind_param").stmt, {}
   if type(values) ~= "table" then
      error(format("bad argument #2 to 'db_bind_param' (table expected, got %s)", type(values)), 2)
   end
   for i = 1, #values do
      local kind = type(values[i])
      if kind == "number" then
         params[i] = stmt:bind_create(sql.type.INT)
      elseif kind == "string" then
         local room = 2 * #values[i]
         params[i] = stmt:bind_create(sql.type.CHAR, room > 256 and room or 256)
      else
         error("Unsupported variable type: " .. kind, 2)
      end
   end
   if #params == 0 then
      error("table is empty", 2)
   end
   if stmt:bind_param(unpack(params)) ~= 0 then
      error("db_bind_param() failed", 2)
   end
   s.values, s.params = values, params
end

function legacy.db_bind_result()
end

function legacy.db_execute(s)
   local stmt, values, params = object(s, statement, "db_execute").stmt, s.values, s.params
   local grown = false
   for i = 1, #params do
      local param, value = params[i], values[i]
      if value ~= nil and param.type ~= SQL_TYPE_VARCHAR then
         value = number(value, "db_execute", 1)
      elseif value ~= nil then
         value = tostring(value)
         if #value > param.max_len then
            param = stmt:bind_create(sql.type.CHAR, 2 * #value)
            params[i], grown = param, true
         end
      end
      param:set(value)
   end
   if grown then
      stmt:bind_param(unpack(params))
   end
   local rs = core_execute(stmt)
   check("db_execute")
   return setmetatable({ rows = rs }, result)
end

function legacy.db_store_results(rs)
   object(rs, result, "db_store_results")
end

function legacy.db_free_results(rs)
   object(rs, result, "db_free_results")
   if rs.rows ~= nil then
      core_free_results(rs.rows)
      rs.rows = nil
   end
end

function legacy.db_close(s)
   object(s, statement, "db_close").stmt:close()
end

return legacy
