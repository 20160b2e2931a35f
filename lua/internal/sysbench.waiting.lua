-- The core's functions in which a worker may wait, so that others of the same Lua state run meanwhile.
-- SPDX-License-Identifier: GPL-2.0-or-later
-- Argument of the chunk: C functions of Lua's own kind that call them, by name. Compiled code ends at such a call, so
-- that no worker leaves the processor in the middle of it. Returns functions that take and give what the core's do.
local calls = ...
declare("types")
local cast, string_of, typeof, tonumber, type = ffi.cast, ffi.string, ffi.typeof, tonumber, type
local address, pointer, int = typeof("uintptr_t"), typeof("const void *"), typeof("int")
local connection_type, result_type, statement_type =
   typeof("sql_connection *"), typeof("sql_result *"), typeof("sql_statement *")

-- Calls take numbers and strings, and behind these what must not be collected meanwhile. They give a number.
local function number_of(object)
   return tonumber(cast(address, cast(pointer, object)))
end

local function same(n) return n end
local function is_true(n) return n ~= 0 end
local function nothing() end
local function connection(n) return cast(connection_type, n) end
local function result(n) return cast(result_type, n) end
local function statement(n) return cast(statement_type, n) end

-- The next trace begins where a call has returned, if the number of its results is known: so they go to a local.
local functions = {}

local function of_worker(name, convert)
   local call = calls[name]
   functions[name] = function(thread_id)
      local n = call(tonumber(cast(int, thread_id)))
      return convert(n)
   end
end

local function of_object(name, convert)
   local call = calls[name]
   functions[name] = function(object)
      local n = call(number_of(object), object)
      return convert(n)
   end
end

local function of_text(name, convert)
   local call = calls[name]
   functions[name] = function(object, text, length)
      if type(text) ~= "string" or #text ~= length then
         text = string_of(text, length)
      end
      local n = call(number_of(object), text, object)
      return convert(n)
   end
end

of_worker("sb_worker_ready", is_true)
of_worker("sb_more_events", is_true)
of_worker("sb_worker_done", nothing)
of_object("db_connection_reconnect", same)
of_object("db_connection_settle", same)
of_object("db_connection_close", same)
of_object("db_more_results", is_true)
of_object("db_next_result", result)
of_object("db_execute", result)
of_object("db_close", same)
of_object("db_bulk_insert_done", same)
of_text("db_query", result)
of_text("db_prepare", statement)
of_text("db_bulk_insert_init", same)
of_text("db_bulk_insert_next", same)

function functions.sb_team_meet()
   local n = calls.sb_team_meet()
   return n ~= 0
end

-- Most events follow each other without a wait.
local sb_event_next, sb_event_next_at_once = calls.sb_event_next, native("sb_event_next_at_once")

function functions.sb_event_next(thread_id)
   local more = sb_event_next_at_once(thread_id)
   if more < 0 then
      more = sb_event_next(tonumber(thread_id))
   end
   return more ~= 0
end

function functions.db_connection_create(driver, thread_id)
   local n = calls.db_connection_create(number_of(driver), tonumber(thread_id), driver)
   return connection(n)
end

function functions.db_bind_param(stmt, params, n)
   return calls.db_bind_param(number_of(stmt), number_of(params), n, stmt, params)
end

return functions
