#!/usr/bin/env sysbench
-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- The test that sysbench 0.4 called oltp (`--test=oltp`): one table, events in four modes. This file has the
-- options and the commands; the others in this folder check the options, draw the numbers and send the statements.

local folder = sysbench.cmdline.script_path:match("^.*/")
local settings_of = dofile(folder .. "settings.lua")
local new_session = dofile(folder .. "session.lua")
local new_event = dofile(folder .. "events.lua")
local C = require("ffi").C
local format = string.format
local INT = sysbench.cmdline.ARG_INT
local NOTICE, INFO = 3, 4

sysbench.cmdline.options = {
  ["oltp-test-mode"] = {"what an event does {simple,complex,nontrx,sp}", "complex"},
  ["oltp-reconnect-mode"] = {"when to connect again {session,transaction,query,random}", "session"},
  ["oltp-sp-name"] = {"stored procedure to call in mode sp", ""},
  ["oltp-read-only"] = {"only read in mode complex", false},
  ["oltp-write-only"] = {"only write in mode complex", false},
  ["oltp-skip-trx"] = {"do without BEGIN and COMMIT", false},
  ["oltp-range-selects"] = {"do the range selects", true},
  ["oltp-range-size"] = {"ids in a range", 100, INT},
  ["oltp-point-selects"] = {"point selects per transaction", 10, INT},
  ["oltp-simple-ranges"] = {"simple range selects per transaction", 1, INT},
  ["oltp-sum-ranges"] = {"SUM() range selects per transaction", 1, INT},
  ["oltp-order-ranges"] = {"ordered range selects per transaction", 1, INT},
  ["oltp-distinct-ranges"] = {"DISTINCT range selects per transaction", 1, INT},
  ["oltp-index-updates"] = {"updates of the indexed column per transaction", 1, INT},
  ["oltp-non-index-updates"] = {"updates of another column per transaction", 1, INT},
  ["oltp-delete-inserts"] = {"pairs of DELETE and INSERT per transaction", 1, INT},
  ["oltp-nontrx-mode"] = {"statement of mode nontrx {select,update_key,update_nokey,insert,delete}", "select"},
  ["oltp-auto-inc"] = {"let the server generate the ids", true},
  ["oltp-connect-delay"] = {"microseconds to wait after connecting", 10000, INT},
  ["oltp-user-delay-min"] = {"shortest think time before a statement, in microseconds", 0, INT},
  ["oltp-user-delay-max"] = {"longest think time before a statement, in microseconds", 0, INT},
  ["oltp-table-name"] = {"name of the table", "sbtest"},
  ["oltp-table-size"] = {"rows of the table", 10000, INT},
  ["oltp-dist-type"] = {"distribution of the ids {uniform,gaussian,special}", "special"},
  ["oltp-dist-iter"] = {"draws that make a number of the gaussian and the special distribution", 12, INT},
  ["oltp-dist-pct"] = {"percentage of the ids that are special", 1, INT},
  ["oltp-dist-res"] = {"percentage of the draws that give a special id", 75, INT},
  ["oltp-point-select-mysql-handler"] = {"point selects by HANDLER (MySQL)", false},
  ["oltp-point-select-all-cols"] = {"point selects of all columns", false},
  ["oltp-secondary"] = {"a plain key on the id in place of the primary key (MySQL)", false},
  ["mysql-table-engine"] = {"storage engine of the table (MySQL)", "innodb"},
  ["mysql-table-type"] = {"the same, by its name up to 0.4.7", ""},
  ["mysql-engine-trx"] = {"whether the engine has transactions {yes,no,auto} (MySQL)", "auto"},
  ["mysql-create-options"] = {"text added to CREATE TABLE (MySQL)", ""},
  ["myisam-max-rows"] = {"MAX_ROWS of a MyISAM table", 1000000, INT},
}

local function say(...)
  C.sb_log(NOTICE, format(...))
end

--------------------------------------------------------------------------------------------------
-- The table

local ROWS_PER_INSERT = 10000
local ROW = "0,' ','qqqqqqqqqqwwwwwwwwwweeeeeeeeeerrrrrrrrrrtttttttttt'"

local function create_table_sql(settings, driver_name)
  local mysql = driver_name == "mysql"
  local unsigned = mysql and " UNSIGNED" or ""
  local id = "INTEGER" .. unsigned .. " NOT NULL"
  if settings.auto_inc then
    id = mysql and id .. " AUTO_INCREMENT" or driver_name == "pgsql" and "SERIAL NOT NULL" or id
  end
  local extra = ""
  if settings.real_mysql then
    local max_rows = settings.engine == "myisam" and " MAX_ROWS=" .. settings.myisam_max_rows or ""
    extra = format(" %s /*! ENGINE=%s%s */", settings.create_options, settings.engine, max_rows)
  end
  return format([[
CREATE TABLE %s (
  id %s,
  k integer%s DEFAULT '0' NOT NULL,
  c char(120) DEFAULT '' NOT NULL,
  pad char(60) DEFAULT '' NOT NULL,
  %s (id)
)%s]], settings.table, id, unsigned, settings.secondary and "KEY xid" or "PRIMARY KEY", extra)
end

-- The VALUES of the rows from one id to another.
local function rows(settings, first, last)
  if settings.auto_inc then
    return string.rep("(" .. ROW .. ")", last - first + 1, ",")
  end
  local list = {}
  for id = first, last do
    list[#list + 1] = format("(%d,%s)", id, ROW)
  end
  return table.concat(list, ",")
end

function prepare()
  local settings = settings_of(sysbench.opt)
  local drv = sysbench.sql.driver()
  local con = drv:connect()
  local name, size = settings.table, settings.table_size

  say("Creating table '%s'...", name)
  con:query(create_table_sql(settings, drv:name()))
  con:query(format("CREATE INDEX k ON %s(k)", name))

  say("Creating %d records in table '%s'...", size, name)
  local head = format("INSERT INTO %s(%sk, c, pad) VALUES ", name, settings.auto_inc and "" or "id, ")
  for first = 1, size, ROWS_PER_INSERT do
    con:query(head .. rows(settings, first, math.min(first + ROWS_PER_INSERT - 1, size)))
  end
end

function cleanup()
  local settings = settings_of(sysbench.opt)
  local con = sysbench.sql.driver():connect()
  say("Dropping table '%s'...", settings.table)
  con:query("DROP TABLE " .. settings.table)
  C.sb_log(INFO, "Done.")
end

--------------------------------------------------------------------------------------------------
-- The run

local MODES = {
  simple = "Running simple OLTP test",
  complex = "Running mixed OLTP test",
  nontrx = "Running non-transactional test",
  sp = "Running stored procedure test",
}

local function distribution_line(settings)
  local name, iterations = settings.dist_type, settings.dist_iter
  if name == "uniform" then
    return "Using Uniform distribution"
  elseif name == "gaussian" then
    return format("Using Normal distribution (%d iterations)", iterations)
  end
  return format("Using Special distribution (%d iterations,  %d pct of values are returned in %d pct cases)",
                iterations, settings.dist_pct, settings.dist_res)
end

local function transaction_line(settings)
  if settings.skip_trx then
    return "Skipping BEGIN/COMMIT"
  end
  local begin = settings.transactional and "BEGIN" or "LOCK TABLES " .. settings.lock
  return format('Using "%s" for starting transactions', begin)
end

function init()
  local settings = settings_of(sysbench.opt)
  say("Doing OLTP test.")
  say(MODES[settings.test_mode])
  if settings.test_mode == "sp" then
    return
  end
  if settings.read_only then
    say("Doing read-only test")
  elseif settings.write_only then
    say("Doing write-only test")
  end
  say(distribution_line(settings))
  say(transaction_line(settings))
  say(settings.auto_inc and "Using auto_inc on the id column" or "Not using auto_inc on the id column")
  if sysbench.opt.events > 0 then
    say("Maximum number of requests for OLTP test is limited to %d", sysbench.opt.events)
  end
  if settings.validate then
    say("Validation mode enabled")
  end
  if settings.test_mode == "nontrx" and settings.nontrx_mode == "insert" then
    sysbench.sql.driver():connect():query("TRUNCATE TABLE " .. settings.table)
  end
end

local session, run_event

function thread_init()
  local settings = settings_of(sysbench.opt)
  session = new_session(settings)
  run_event = new_event(settings, session)
end

function event()
  run_event()
end

function thread_done()
  session:close()
end
