-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- The options of the oltp test, checked: a table without the prefix of their names, and what follows from them.

local format = string.format

local CHOICES = {
  { "oltp-test-mode", "simple", "complex", "nontrx", "sp" },
  { "oltp-reconnect-mode", "session", "transaction", "query", "random" },
  { "oltp-nontrx-mode", "select", "update_key", "update_nokey", "insert", "delete" },
  { "oltp-dist-type", "uniform", "gaussian", "special" },
  { "mysql-engine-trx", "yes", "no", "auto" },
}

-- name, least value, greatest value or nil
local NUMBERS = {
  { "oltp-table-size", 1 },
  { "oltp-range-size", 1 },
  { "oltp-point-selects", 0 }, { "oltp-simple-ranges", 0 }, { "oltp-sum-ranges", 0 },
  { "oltp-order-ranges", 0 }, { "oltp-distinct-ranges", 0 },
  { "oltp-index-updates", 0 }, { "oltp-non-index-updates", 0 }, { "oltp-delete-inserts", 0 },
  { "oltp-connect-delay", 0 }, { "oltp-user-delay-min", 0 }, { "oltp-user-delay-max", 0 },
  { "oltp-dist-iter", 1 }, { "oltp-dist-pct", 0, 100 }, { "oltp-dist-res", 0, 100 },
  { "myisam-max-rows", 0 },
}

-- Engines that --mysql-engine-trx=auto knows, with today's names of two of them.
local TRANSACTIONAL = {
  innodb = true, bdb = true, berkeleydb = true, ndbcluster = true, federated = true, pbxt = true, falcon = true,
  myisam = false, heap = false, memory = false, maria = false, aria = false,
}

local function fail(...)
  error(format(...), 0)
end

local function key_of(name)
  return (name:gsub("-", "_"))
end

local function invalid(name, value, advice)
  fail("Invalid value for --%s: '%s' (%s)", name, value, advice)
end

-- Upper or lower case is the same.
local function check_choice(opt, name, ...)
  local value = opt[key_of(name)]
  for _, choice in ipairs({...}) do
    if value:lower() == choice then
      opt[key_of(name)] = choice
      return
    end
  end
  invalid(name, value, "use " .. table.concat({...}, ", "))
end

local function check_number(opt, name, least, greatest)
  local value = opt[key_of(name)]
  if value < least or value > (greatest or value) then
    invalid(name, value, greatest and format("use %d to %d", least, greatest) or "use at least " .. least)
  end
end

-- The option that names the engine, today's or that of 0.4.7 and before.
local function engine_option(opt)
  return opt.mysql_table_type ~= "" and "mysql-table-type" or "mysql-table-engine"
end

local function is_transactional(opt, engine)
  if opt.mysql_engine_trx ~= "auto" then
    return opt.mysql_engine_trx == "yes"
  end
  local known = TRANSACTIONAL[engine]
  if known == nil then
    invalid(engine_option(opt), engine,
            "an engine that is not known here: say --mysql-engine-trx=yes or no, whether it has transactions")
  end
  return known
end

local function check_together(s, driver)
  if s.test_mode == "sp" then
    if s.sp_name == "" then
      fail("--oltp-test-mode=sp needs --oltp-sp-name, the stored procedure to call")
    elseif driver == "sqlite" then
      fail("--oltp-test-mode=sp is not for --db-driver=sqlite: it has no stored procedures")
    end
  end
  if s.read_only and s.write_only then
    fail("--oltp-read-only and --oltp-write-only are mutually exclusive")
  end
  if s.auto_inc and s.secondary then
    fail("Cannot set both --oltp-auto-inc and --oltp-secondary (use --oltp-auto-inc=off)")
  end
  for _, name in ipairs({"secondary", "point_select_mysql_handler"}) do
    if s[name] and driver ~= "mysql" then
      fail("--oltp-%s is for --db-driver=mysql only, not %s", name:gsub("_", "-"), driver)
    end
  end
end

-- `opt` is sysbench.opt.
return function(opt)
  for _, check in ipairs(CHOICES) do
    check_choice(opt, unpack(check))
  end
  for _, check in ipairs(NUMBERS) do
    check_number(opt, unpack(check))
  end

  local settings = { validate = opt.validate, threads = opt.threads }
  for key, value in pairs(opt) do
    local name = key:match("^oltp_(.*)")
    if name then
      settings[name] = value
    end
  end
  settings.table = opt.oltp_table_name
  -- SQLite may call itself mysql, and has no engines.
  settings.real_mysql = opt.db_driver == "mysql"
  settings.engine = opt[key_of(engine_option(opt))]:lower()
  settings.myisam_max_rows = opt.myisam_max_rows
  settings.create_options = opt.mysql_create_options
  settings.transactional = not settings.real_mysql or is_transactional(opt, settings.engine)
  settings.lock = settings.read_only and "READ" or "WRITE"
  check_together(settings, opt.db_driver)
  return settings
end
