-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- What an event of each mode sends.

local folder = sysbench.cmdline.script_path:match("^.*/")
local new_draws = dofile(folder .. "draws.lua")
local rand = sysbench.rand
local format = string.format

-- Call `f` after statements of a mode that has no transactions, if the reconnect mode asks for it.
local function after_single_statement(session)
  local mode = session.settings.reconnect_mode
  if mode == "query" or (mode == "random" and rand.uniform(0, 1) == 1) then
    session:reconnect()
  end
end

--------------------------------------------------------------------------------------------------
-- Point selects

local function handler_selects(session, draws, count, after)
  local name = session.settings.table
  local key = session.settings.secondary and "xid" or "`PRIMARY`"
  session:query(format("HANDLER %s OPEN", name))
  for _ = 1, count do
    session:check_rows(session:query(format("HANDLER %s READ %s=(%d)", name, key, draws.id())), 1)
  end
  session:query(format("HANDLER %s CLOSE", name))
  after()
end

-- A function that does `count` of them, and calls `after` behind each query.
local function point_selects(session, draws)
  local settings = session.settings
  if settings.point_select_mysql_handler then
    return function(count, after)
      handler_selects(session, draws, count, after)
    end
  end
  local statement = settings.point_select_all_cols and "point_all" or "point"
  session:use(statement)
  return function(count, after)
    for _ = 1, count do
      session:check_rows(session:execute(statement, draws.id()), 1)
      after()
    end
  end
end

--------------------------------------------------------------------------------------------------
-- Modes: each gives a function without arguments, the event

local function simple(session, draws)
  local select_points = point_selects(session, draws)
  local function after()
    after_single_statement(session)
  end
  return function()
    select_points(1, after)
  end
end

local function nontrx(session, draws)
  local settings = session.settings
  local kind = settings.nontrx_mode
  -- MySQL generates an id for NULL; the others are not told of the column.
  if kind == "insert" and settings.auto_inc and session.driver_name ~= "mysql" then
    kind = "insert_generated"
  end
  local statements = {
    select = function() session:check_rows(session:execute("select", draws.id()), 1) end,
    update_key = function() session:execute("update_key", draws.id()) end,
    update_nokey = function() session:execute("update_nokey", draws.c(), draws.id()) end,
    delete = function() session:execute("delete", (draws.unique_id())) end,
    insert_generated = function() session:execute("insert_generated", draws.id(), draws.c(), draws.pad()) end,
    insert = function()
      local id, used_up
      if not settings.auto_inc then
        id, used_up = draws.unique_id()
        if used_up then
          error(format("all %d ids of --oltp-table-size have been inserted: use a larger one, a smaller " ..
                       "--max-requests, or --oltp-auto-inc=on", settings.table_size), 0)
        end
      end
      session:execute("insert", id, draws.id(), draws.c(), draws.pad())
    end,
  }
  local statement = statements[kind]
  session:use(kind)
  return function()
    statement()
    after_single_statement(session)
  end
end

local function sp(session)
  session:use("call")
  return function()
    session:execute("call", sysbench.tid, session.settings.threads)
    after_single_statement(session)
  end
end

-- A function that does the range selects of a transaction.
local function range_selects(session, draws)
  local settings = session.settings
  local size = settings.range_size
  local whole = math.min(size, settings.table_size)
  -- name, how often, ids between the ends, rows that are expected (nil: depends on the data)
  local kinds = {
    { "range", settings.simple_ranges, size - 1, whole },
    { "range_sum", settings.sum_ranges, size - 1, 1 },
    { "range_order", settings.order_ranges, size - 1, whole },
    { "range_distinct", settings.distinct_ranges, size },
  }
  session:use("range", "range_sum", "range_order", "range_distinct")
  return function(after)
    for i = 1, #kinds do
      local name, count, width, expected = unpack(kinds[i], 1, 4)
      for _ = 1, count do
        local first = draws.range_start()
        local rs = session:execute(name, first, first + width)
        if expected then
          session:check_rows(rs, expected)
        end
        after()
      end
    end
  end
end

-- A function that does the writes of a transaction. Each row that is deleted and inserted again is updated before,
-- as in 0.4.12.
local function writes(session, draws)
  local settings = session.settings
  session:use("update_key", "update_nokey", "delete", "insert_again")
  return function(after)
    for _ = 1, settings.index_updates do
      session:execute("update_key", draws.id())
      after()
    end
    for _ = 1, settings.non_index_updates do
      session:execute("update_nokey", draws.c(), draws.id())
      after()
    end
    for _ = 1, settings.delete_inserts do
      local id = draws.id()
      session:execute("update_key", id)
      after()
      session:execute("delete", id)
      session:execute("insert_again", id)
    end
  end
end

-- Two functions that begin and end a transaction.
local function transaction(session)
  local settings = session.settings
  if settings.skip_trx then
    local function nothing() end
    return nothing, nothing
  elseif settings.transactional then
    session:use("begin", "commit")
    return function() session:execute("begin") end, function() session:execute("commit") end
  end
  local lock = format("LOCK TABLES %s %s", settings.table, settings.lock)
  return function() session:query(lock) end, function() session:query("UNLOCK TABLES") end
end

local function complex(session, draws)
  local settings = session.settings
  local begin, commit = transaction(session)
  local select_points, select_ranges, write
  if not settings.write_only then
    select_points = point_selects(session, draws)
    select_ranges = settings.range_selects and range_selects(session, draws)
  end
  write = not settings.read_only and writes(session, draws)

  local choices = { "session", "query", "transaction" }
  local mode = settings.reconnect_mode
  local function after_query()
    if mode == "query" then
      session:reconnect()
    end
  end
  return function()
    if settings.reconnect_mode == "random" then
      mode = choices[rand.uniform(1, 3)]
    end
    begin()
    if select_points then
      select_points(settings.point_selects, after_query)
    end
    if select_ranges then
      select_ranges(after_query)
    end
    if write then
      write(after_query)
    end
    commit()
    if mode == "transaction" then
      session:reconnect()
    end
  end
end

local modes = { simple = simple, complex = complex, nontrx = nontrx, sp = sp }

return function(settings, session)
  return modes[settings.test_mode](session, new_draws(settings))
end
