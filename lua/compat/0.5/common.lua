-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- What the scripts of sysbench 0.5 have in common: their options, the prepare and cleanup commands. Options are
-- globals, texts as they were typed; set_vars() makes numbers and booleans of them.

local format = string.format

-- Those that must be 1 or more; a script adds its own.
at_least_one = { oltp_table_size = true, oltp_tables_count = true }

-- Their defaults; a script adds its own.
number_options = {
  oltp_table_size = 10000, oltp_range_size = 100, oltp_tables_count = 1, oltp_point_selects = 10,
  oltp_simple_ranges = 1, oltp_sum_ranges = 1, oltp_order_ranges = 1, oltp_distinct_ranges = 1,
  oltp_index_updates = 1, oltp_non_index_updates = 1, oltp_delete_inserts = 1,
}
local switch_options = {
  oltp_range_selects = true, oltp_auto_inc = true, oltp_create_secondary = true, oltp_read_only = false,
  oltp_write_only = false, oltp_skip_trx = false, oltp_secondary = false,
}
local ON_OFF = { on = true, off = false, ["true"] = true, ["false"] = false, ["1"] = true, ["0"] = false, [""] = true }
-- 10 and 5 groups of 11 digits
local C_TEMPLATE, PAD_TEMPLATE = string.rep("###########", 10, "-"), string.rep("###########", 5, "-")

local function invalid(name, value, advice)
  error(format("Invalid value for --%s: '%s' (%s)", (name:gsub("_", "-")), tostring(value), advice), 0)
end

local function number_option(name, default)
  local value = _G[name]
  if value == nil then
    return default
  end
  local number, least = tonumber(value), at_least_one[name] and 1 or 0
  if not number or number < least or number % 1 ~= 0 then
    invalid(name, value, "use a whole number, at least " .. least)
  end
  return number
end

local function switch_option(name, default)
  local value = _G[name]
  if type(value) == "boolean" then
    return value
  elseif value == nil then
    return default
  elseif ON_OFF[value] == nil then
    invalid(name, value, "use on or off")
  end
  return ON_OFF[value]
end

-- Connects too, because what is right depends on the database.
function set_vars()
  for name, default in pairs(number_options) do
    _G[name] = number_option(name, default)
  end
  for name, default in pairs(switch_options) do
    _G[name] = switch_option(name, default)
  end
  if oltp_read_only and oltp_write_only then
    error("--oltp-read-only and --oltp-write-only are mutually exclusive", 0)
  end
  if (pgsql_variant or "") ~= "" and pgsql_variant ~= "redshift" then
    invalid("pgsql_variant", pgsql_variant, "the only one is redshift")
  end
  db_connect()
  redshift = db_driver == "pgsql" and pgsql_variant == "redshift"
  if redshift then
    oltp_delete_inserts, oltp_create_secondary = 0, false
  end
  if oltp_secondary and db_driver ~= "mysql" then
    error("--oltp-secondary is for --db-driver=mysql only: " .. db_driver .. " has no KEY clause in CREATE TABLE", 0)
  end
end

function c_value()
  return sb_rand_str(C_TEMPLATE)
end

function pad_value()
  return sb_rand_str(PAD_TEMPLATE)
end

-- An id of a row, and one of the tables.
function random_id()
  return sb_rand(1, oltp_table_size)
end

function random_table()
  return "sbtest" .. sb_rand_uniform(1, oltp_tables_count)
end

-- The integer type of columns.
function integer_type()
  return db_driver == "mysql" and "INTEGER UNSIGNED" or "INTEGER"
end

-- What follows the columns of a table.
function table_options()
  if db_driver ~= "mysql" then
    return ""
  end
  return format("/*! ENGINE = %s MAX_ROWS = %s */ %s", mysql_table_engine, myisam_max_rows, mysql_table_options or "")
end

local function id_type()
  if not oltp_auto_inc then
    return integer_type() .. " NOT NULL"
  elseif redshift then
    return "INTEGER IDENTITY(1,1) NOT NULL"
  elseif db_driver == "pgsql" then
    return "SERIAL NOT NULL"
  elseif db_driver == "mysql" then
    return integer_type() .. " NOT NULL AUTO_INCREMENT"
  end
  return "INTEGER NOT NULL"
end

-- Create and fill one table.
function create_insert(table_id)
  local name = "sbtest" .. table_id
  print(format("Creating table '%s'...", name))
  db_query(format([[
CREATE TABLE %s (
  id %s,
  k %s DEFAULT '0' NOT NULL,
  c CHAR(120) DEFAULT '' NOT NULL,
  pad CHAR(60) DEFAULT '' NOT NULL,
  %s (id)
) %s]], name, id_type(), integer_type(), oltp_secondary and "KEY xid" or "PRIMARY KEY", table_options()))

  print(format("Inserting %d records into '%s'", oltp_table_size, name))
  db_bulk_insert_init(format("INSERT INTO %s(%sk, c, pad) VALUES", name, oltp_auto_inc and "" or "id, "))
  for id = 1, oltp_table_size do
    local id_value = oltp_auto_inc and "" or id .. ", "
    db_bulk_insert_next(format("(%s%d, '%s', '%s')", id_value, random_id(), c_value(), pad_value()))
  end
  db_bulk_insert_done()

  if oltp_create_secondary then
    print(format("Creating secondary indexes on '%s'...", name))
    db_query(format("CREATE INDEX k_%d ON %s(k)", table_id, name))
  end
end

function prepare()
  set_vars()
  for table_id = 1, oltp_tables_count do
    create_insert(table_id)
  end
end

function cleanup()
  set_vars()
  for table_id = 1, oltp_tables_count do
    print(format("Dropping table 'sbtest%d'...", table_id))
    db_query("DROP TABLE IF EXISTS sbtest" .. table_id)
  end
end

function thread_init()
  set_vars()
end

function help()
  local lines = {}
  for name, default in pairs(number_options) do
    lines[#lines + 1] = format("  --%s=N [%d]", (name:gsub("_", "-")), default)
  end
  for name, default in pairs(switch_options) do
    lines[#lines + 1] = format("  --%s=on|off [%s]", (name:gsub("_", "-")), default and "on" or "off")
  end
  for _, name in ipairs({ "mysql-table-engine", "mysql-table-options", "myisam-max-rows", "pgsql-variant" }) do
    lines[#lines + 1] = format("  --%s=STRING", name)
  end
  table.sort(lines)
  print("options:\n" .. table.concat(lines, "\n"))
end
