#!/usr/bin/env sysbench
-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- Library of the oltp_* and select_random_* workloads: their options, the prepare, prewarm and
-- cleanup commands, the prepared statements and the blocks of statements that events are made of.
--
-- A workload requires it and defines two functions: prepare_statements(), which calls the prepare_*
-- functions that it needs, and event(). Every function and variable that is global here is part of
-- that interface. sysbench.opt is read when it is needed, not once, because workloads change it.

-- What a run needs of the options, looked at before there are workers. A workload that needs more replaces it.
function check_options()
  check_range("tables", 1)
end

-- Checked in init, because the main state loads a workload's library before its event function.
function init()
  if event == nil then
    error("this script is meant to be included by other OLTP scripts and should not be called directly.")
  end
  check_options()
end

if sysbench.cmdline.command == nil then
  error("Command is required. Supported commands: prepare, prewarm, run, cleanup, help")
end

sysbench.cmdline.options = {
  auto_inc = {
    "Use AUTO_INCREMENT column as Primary Key (for MySQL), or its alternatives in other DBMS. " ..
    "When disabled, use client-generated IDs", true},
  create_secondary = {"Create a secondary index in addition to the PRIMARY KEY", true},
  create_table_options = {"Extra CREATE TABLE options", ""},
  delete_inserts = {"Number of DELETE/INSERT combinations per transaction", 1},
  distinct_ranges = {"Number of SELECT DISTINCT queries per transaction", 1},
  index_updates = {"Number of UPDATE index queries per transaction", 1},
  mysql_storage_engine = {"Storage engine, if MySQL is used", "innodb"},
  non_index_updates = {"Number of UPDATE non-index queries per transaction", 1},
  order_ranges = {"Number of SELECT ORDER BY queries per transaction", 1},
  pgsql_variant = {
    "Use this PostgreSQL variant when running with the PostgreSQL driver. The only currently " ..
    "supported variant is 'redshift'. When enabled, create_secondary is automatically disabled, " ..
    "and delete_inserts is set to 0"},
  prepare_split = {
    "Let all threads of prepare fill each table. The rows are the same for any number of threads", false},
  point_selects = {"Number of point SELECT queries per transaction", 10},
  range_selects = {"Enable/disable all range SELECT queries", true},
  range_size = {"Range size for range SELECT queries", 100},
  reconnect = {"Reconnect after every N events. The default (0) is to not reconnect", 0},
  secondary = {"Use a secondary index in place of the PRIMARY KEY", false},
  simple_ranges = {"Number of simple range SELECT queries per transaction", 1},
  skip_trx = {"Don't start explicit transactions and execute all queries in the AUTOCOMMIT mode", false},
  sum_ranges = {"Number of SELECT SUM() queries per transaction", 1},
  table_size = {"Number of rows per table", 10000},
  tables = {"Number of tables", 1},
}

local options = require("oltp_options")
check_range, check_delete_inserts = options.check_range, options.check_delete_inserts

for _, option in pairs(sysbench.cmdline.options) do
  if type(option[2]) == "number" then
    option[4] = options.whole_number
  end
end

local dialects = require("oltp_dialects")
local split = require("oltp_split")
-- The library table, not its functions, is kept: a script may put its own distribution there.
local rand = sysbench.rand
local format = string.format

-- Events so far in this thread, counted if --reconnect is given.
transactions = 0

-- 10 groups of 11 digits: 119 characters for the column c, CHAR(120)
local c_template = string.rep("###########", 10, "-")
-- 5 groups of 11 digits: 59 characters for the column pad, CHAR(60)
local pad_template = string.rep("###########", 5, "-")

function get_c_value()
  return rand.string(c_template)
end

function get_pad_value()
  return rand.string(pad_template)
end

--------------------------------------------------------------------------------------------------
-- Commands

-- Whether a driver of this name talks to Redshift.
local function is_redshift(driver_name)
  local variant = sysbench.opt.pgsql_variant or ""
  if driver_name ~= "pgsql" or variant == "" then
    return false
  end
  if variant ~= "redshift" then
    error(format("--pgsql_variant is '%s', but the only supported variant is 'redshift'", variant), 0)
  end
  return true
end

local function create_table_sql(driver_name, table_num)
  local opt = sysbench.opt
  local id, key, engine, empty = "INTEGER NOT NULL", ",\n  PRIMARY KEY (id)", "", ""
  local extra = opt.create_table_options or ""

  if opt.auto_inc then
    id = format(dialects.generated_id[is_redshift(driver_name) and "redshift" or driver_name], table_num)
  end

  if driver_name == "mysql" then
    if opt.secondary then
      key = ",\n  KEY xid (id)"
    end
    engine = format("/*! ENGINE = %s */", opt.mysql_storage_engine)
    if mysql_table_options ~= nil then
      extra = extra == "" and mysql_table_options or mysql_table_options .. " " .. extra
    end
  elseif opt.secondary then
    error(format("--secondary=on is for MySQL only: the %s driver has no KEY clause in CREATE TABLE",
                 driver_name), 0)
  elseif driver_name == "sqlite" then
    id, key = "INTEGER PRIMARY KEY", ""
  elseif dialects.empty_is_null(driver_name) then
    empty = " "
  end

  return format([[
CREATE TABLE sbtest%d(
  id %s,
  k INTEGER DEFAULT '0' NOT NULL,
  c CHAR(120) DEFAULT '%s' NOT NULL,
  pad CHAR(60) DEFAULT '%s' NOT NULL%s
) %s %s]], table_num, id, empty, empty, key, engine, extra)
end

-- Rows of a bulk insert, which is begun unless it goes on, and ends with the caller.
local function insert_rows(con, table_num, first_id, last_id, with_ids, goes_on)
  local table_size = sysbench.opt.table_size
  if not goes_on then
    con:bulk_insert_init(format("INSERT INTO sbtest%d(%sk, c, pad) VALUES",
                                table_num, with_ids and "id, " or ""))
  end
  for id = first_id, last_id do
    local c, pad = get_c_value(), get_pad_value()
    local k = rand.default(1, table_size)
    if with_ids then
      con:bulk_insert_next(format("(%d, %d, '%s', '%s')", id, k, c, pad))
    else
      con:bulk_insert_next(format("(%d, '%s', '%s')", k, c, pad))
    end
  end
end

local function create_empty_table(drv, con, table_num)
  local driver_name = drv:name()
  if dialects.generated_id[driver_name] == nil then
    error("Unsupported database driver:" .. driver_name)
  end

  local sql = create_table_sql(driver_name, table_num)
  print(format("Creating table 'sbtest%d'...", table_num))
  dialects.before_create(con, driver_name, table_num)
  con:query(sql)
end

local function announce_rows(table_num)
  print(format("Inserting %d records into 'sbtest%d'", sysbench.opt.table_size, table_num))
end

local function create_secondary_index(drv, con, table_num)
  if sysbench.opt.create_secondary and not is_redshift(drv:name()) then
    print(format("Creating a secondary index on 'sbtest%d'...", table_num))
    con:query(format("CREATE INDEX k_%d ON sbtest%d(k)", table_num, table_num))
  end
end

-- Create and fill one table, with its secondary index.
function create_table(drv, con, table_num)
  local opt = sysbench.opt
  create_empty_table(drv, con, table_num)
  if opt.table_size > 0 then
    announce_rows(table_num)
    insert_rows(con, table_num, 1, opt.table_size, not opt.auto_inc)
    con:bulk_insert_done()
  end
  create_secondary_index(drv, con, table_num)
end

-- Call f(table_num) for each table that is this thread's part of a parallel command.
local function for_own_tables(f)
  local opt = sysbench.opt
  for table_num = sysbench.tid % opt.threads + 1, opt.tables, opt.threads do
    f(table_num)
  end
end

function cmd_prepare()
  local drv = sysbench.sql.driver()
  local con = drv:connect()
  if not sysbench.opt.prepare_split then
    for_own_tables(function(table_num)
      create_table(drv, con, table_num)
    end)
    return true
  end

  local dialect = is_redshift(drv:name()) and "redshift" or drv:name()
  return split.make(con, dialect, for_own_tables, function(table_num)
    create_empty_table(drv, con, table_num)
  end, announce_rows, function(table_num, first_id, last_id, goes_on)
    insert_rows(con, table_num, first_id, last_id, true, goes_on)
  end, function(table_num)
    create_secondary_index(drv, con, table_num)
  end)
end

-- Read every table and its secondary index into the server's memory.
function cmd_prewarm()
  local drv = sysbench.sql.driver()
  local con = drv:connect()
  if drv:name() ~= "mysql" then
    error("prewarm is currently MySQL only")
  end

  con:query("SET tmp_table_size=2*1024*1024*1024")
  con:query("SET max_heap_table_size=2*1024*1024*1024")

  for_own_tables(function(table_num)
    local name = "sbtest" .. table_num
    print("Prewarming table " .. name)
    con:query("ANALYZE TABLE " .. name)
    con:query(format("SELECT AVG(id) FROM (SELECT * FROM %s FORCE KEY (PRIMARY) LIMIT %d) t",
                     name, sysbench.opt.table_size))
    con:query(format("SELECT COUNT(*) FROM (SELECT * FROM %s WHERE k LIKE '%%0%%' LIMIT %d) t",
                     name, sysbench.opt.table_size))
  end)
end

-- The later name of the same command.
cmd_warmup = cmd_prewarm

sysbench.cmdline.commands = {
  prepare = {cmd_prepare, sysbench.cmdline.PARALLEL_COMMAND},
  prewarm = {cmd_prewarm, sysbench.cmdline.PARALLEL_COMMAND},
  warmup = {cmd_warmup, sysbench.cmdline.PARALLEL_COMMAND},
}

function cleanup()
  local drv = sysbench.sql.driver()
  local con = drv:connect()
  for table_num = 1, sysbench.opt.tables do
    print(format("Dropping table 'sbtest%d'...", table_num))
    dialects.drop_table(con, drv:name(), table_num)
  end
end

--------------------------------------------------------------------------------------------------
-- Prepared statements

local INT, CHAR = sysbench.sql.type.INT, sysbench.sql.type.CHAR
local int, c_char, pad_char = {INT}, {CHAR, 120}, {CHAR, 60}

-- Text with the table number left open, then the arguments of bind_create() for each parameter.
local statements = {
  point_selects = {"SELECT c FROM sbtest%d WHERE id=?", int},
  simple_ranges = {"SELECT c FROM sbtest%d WHERE id BETWEEN ? AND ?", int, int},
  sum_ranges = {"SELECT SUM(k) FROM sbtest%d WHERE id BETWEEN ? AND ?", int, int},
  order_ranges = {"SELECT c FROM sbtest%d WHERE id BETWEEN ? AND ? ORDER BY c", int, int},
  distinct_ranges = {"SELECT DISTINCT c FROM sbtest%d WHERE id BETWEEN ? AND ? ORDER BY c", int, int},
  index_updates = {"UPDATE sbtest%d SET k=k+1 WHERE id=?", int},
  non_index_updates = {"UPDATE sbtest%d SET c=? WHERE id=?", c_char, int},
  deletes = {"DELETE FROM sbtest%d WHERE id=?", int},
  inserts = {"INSERT INTO sbtest%d (id, k, c, pad) VALUES (?, ?, ?, ?)", int, int, c_char, pad_char},
}

function prepare_begin()
  stmt.begin = con:prepare("BEGIN")
end

function prepare_commit()
  stmt.commit = con:prepare("COMMIT")
end

-- The text of the statement of this key for one table.
local function statement_text(key, table_num)
  local text = format(statements[key][1], table_num)
  if key == "inserts" and sysbench.opt.auto_inc and dialects.locks_generated_id(drv:name()) then
    return format("SET IDENTITY_INSERT sbtest%d ON; %s; SET IDENTITY_INSERT sbtest%d OFF", table_num, text, table_num)
  end
  return text
end

-- Prepare the statement of this key for all tables, into stmt[table][key] and param[table][key].
function prepare_for_each_table(key)
  local definition = statements[key]
  for table_num = 1, sysbench.opt.tables do
    local statement = con:prepare(statement_text(key, table_num))
    local params = {}
    for i = 2, #definition do
      params[i - 1] = statement:bind_create(unpack(definition[i]))
    end
    dialects.bind(con, statement, params)
    stmt[table_num][key], param[table_num][key] = statement, params
  end
end

function prepare_point_selects()
  prepare_for_each_table("point_selects")
end

function prepare_simple_ranges()
  prepare_for_each_table("simple_ranges")
end

function prepare_sum_ranges()
  prepare_for_each_table("sum_ranges")
end

function prepare_order_ranges()
  prepare_for_each_table("order_ranges")
end

function prepare_distinct_ranges()
  prepare_for_each_table("distinct_ranges")
end

function prepare_index_updates()
  prepare_for_each_table("index_updates")
end

function prepare_non_index_updates()
  prepare_for_each_table("non_index_updates")
end

function prepare_delete_inserts()
  prepare_for_each_table("deletes")
  prepare_for_each_table("inserts")
end

--------------------------------------------------------------------------------------------------
-- Life of a thread

function thread_init()
  local opt = sysbench.opt
  drv = sysbench.sql.driver()
  con = drv:connect()
  if is_redshift(drv:name()) then
    opt.delete_inserts = 0
  end

  stmt, param = {}, {}
  for table_num = 1, opt.tables do
    stmt[table_num], param[table_num] = {}, {}
  end
  prepare_statements()
end

function close_statements()
  for table_num = 1, sysbench.opt.tables do
    for _, statement in pairs(stmt[table_num]) do
      statement:close()
    end
  end
  for _, statement in pairs({stmt.begin, stmt.commit}) do
    statement:close()
  end
end

function thread_done()
  close_statements()
  con:disconnect()
end

-- Whether the driver has connected again after this error, so that the statements are gone.
local function is_connection_lost(err)
  local errno, state = err.sql_errno, err.sql_state
  -- client errors of MySQL; PostgreSQL has SQLSTATEs only: connection exceptions, sessions that the
  -- server ended, its timeouts in a transaction
  return errno == 2006 or errno == 2011 or errno == 2013 or errno == 2055
    or state:find("^08") or state:find("^57P") or state:find("^25P0[34]")
end

function sysbench.hooks.before_restart_event(err)
  if is_connection_lost(err) then
    close_statements()
    prepare_statements()
  end
end

-- The last step of an event: a new connection after every --reconnect events.
function check_reconnect()
  -- nil if the script has an option table of its own
  local every = sysbench.opt.reconnect
  if every == nil or every == 0 then
    return
  end
  transactions = transactions + 1
  if transactions % every == 0 then
    close_statements()
    con:reconnect()
    prepare_statements()
  end
end

--------------------------------------------------------------------------------------------------
-- Blocks of an event. Each draws one table, even if there is one or nothing to do, and all its
-- statements use it. The order of the draws is part of the workload: it makes runs repeatable.

function begin()
  stmt.begin:execute()
end

function commit()
  stmt.commit:execute()
end

function execute_point_selects()
  local opt = sysbench.opt
  local table_num = rand.uniform(1, opt.tables)
  local statement, params = stmt[table_num].point_selects, param[table_num].point_selects

  for _ = 1, opt.point_selects do
    params[1]:set(rand.default(1, opt.table_size))
    statement:execute()
  end
end

local function execute_ranges(key)
  local opt = sysbench.opt
  local table_num = rand.uniform(1, opt.tables)
  local statement, params = stmt[table_num][key], param[table_num][key]

  for _ = 1, opt[key] do
    local id = rand.default(1, opt.table_size)
    params[1]:set(id)
    params[2]:set(id + opt.range_size - 1)
    statement:execute()
  end
end

function execute_simple_ranges()
  execute_ranges("simple_ranges")
end

function execute_sum_ranges()
  execute_ranges("sum_ranges")
end

function execute_order_ranges()
  execute_ranges("order_ranges")
end

function execute_distinct_ranges()
  execute_ranges("distinct_ranges")
end

function execute_index_updates()
  local opt = sysbench.opt
  local table_num = rand.uniform(1, opt.tables)
  local statement, params = stmt[table_num].index_updates, param[table_num].index_updates

  for _ = 1, opt.index_updates do
    params[1]:set(rand.default(1, opt.table_size))
    statement:execute()
  end
end

function execute_non_index_updates()
  local opt = sysbench.opt
  local table_num = rand.uniform(1, opt.tables)
  local statement, params = stmt[table_num].non_index_updates, param[table_num].non_index_updates

  for _ = 1, opt.non_index_updates do
    params[1]:set_rand_str(c_template)
    params[2]:set(rand.default(1, opt.table_size))
    statement:execute()
  end
end

function execute_delete_inserts()
  local opt = sysbench.opt
  local table_num = rand.uniform(1, opt.tables)
  local table_stmt, table_param = stmt[table_num], param[table_num]
  local delete, insert = table_stmt.deletes, table_stmt.inserts
  local delete_params, insert_params = table_param.deletes, table_param.inserts

  for _ = 1, opt.delete_inserts do
    local id = rand.default(1, opt.table_size)
    delete_params[1]:set(id)
    insert_params[1]:set(id)
    insert_params[2]:set(rand.default(1, opt.table_size))
    insert_params[3]:set_rand_str(c_template)
    insert_params[4]:set_rand_str(pad_template)
    delete:execute()
    insert:execute()
  end
end
