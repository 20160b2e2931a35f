-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- A thread's connection and its prepared statements.

local ffi = require("ffi")
local dialects = require("oltp_dialects")
local C = ffi.C
local rand = sysbench.rand
local INT, CHAR = sysbench.sql.type.INT, sysbench.sql.type.CHAR
local format = string.format
local WARNING = 2

pcall(ffi.cdef, "int usleep(unsigned int useconds);")

local int, c_char, pad_char = {INT}, {CHAR, 120}, {CHAR, 60}
local AGAIN = "0,' ','aaaaaaaaaaffffffffffrrrrrrrrrreeeeeeeeeeyyyyyyyyyy'"

-- Every statement by its name: the text with the table left open, then the arguments of bind_create().
local STATEMENTS = {
  point = {"SELECT c from %s where id=?", int},
  point_all = {"SELECT id, k, c, pad from %s where id=?", int},
  range = {"SELECT c from %s where id between ? and ?", int, int},
  range_sum = {"SELECT SUM(K) from %s where id between ? and ?", int, int},
  range_order = {"SELECT c from %s where id between ? and ? order by c", int, int},
  range_distinct = {"SELECT DISTINCT c from %s where id between ? and ? order by c", int, int},
  update_key = {"UPDATE %s set k=k+1 where id=?", int},
  update_nokey = {"UPDATE %s set c=? where id=?", c_char, int},
  delete = {"DELETE from %s where id=?", int},
  insert_again = {"INSERT INTO %s (id, k, c, pad) values (?," .. AGAIN .. ")", int},
  select = {"SELECT pad from %s where id=?", int},
  insert = {"INSERT INTO %s (id, k, c, pad) values (?,?,?,?)", int, int, c_char, pad_char},
  insert_generated = {"INSERT INTO %s (k, c, pad) values (?,?,?)", int, c_char, pad_char},
  begin = {"BEGIN"},
  commit = {"COMMIT"},
  call = {"CALL %s(?,?)", int, int},
}

local Session = {}
Session.__index = Session

local function sleep_us(us)
  if us > 0 then
    C.usleep(us)
  end
end

local function prepare(self, name)
  local definition = STATEMENTS[name]
  local object = name == "call" and self.settings.sp_name or self.settings.table
  local statement = self.con:prepare(format(definition[1], object))
  local params = {}
  for i = 2, #definition do
    params[i - 1] = statement:bind_create(unpack(definition[i]))
  end
  dialects.bind(self.con, statement, params)
  self.prepared[name] = { statement, params }
end

local function close_statements(self)
  for _, prepared in pairs(self.prepared) do
    prepared[1]:close()
  end
end

local function think(self)
  local settings = self.settings
  local least, most = settings.user_delay_min, settings.user_delay_max
  sleep_us(most > least and least + rand.uniform(0, most - least - 1) or least)
end

-- Prepare the statements of these names, now and after each reconnect.
function Session:use(...)
  for _, name in ipairs({...}) do
    if not self.prepared[name] then
      self.names[#self.names + 1] = name
      prepare(self, name)
    end
  end
end

function Session:reconnect()
  close_statements(self)
  self.con:reconnect()
  sleep_us(self.settings.connect_delay)
  for _, name in ipairs(self.names) do
    prepare(self, name)
  end
end

-- Execute a prepared statement with its parameters.
function Session:execute(name, ...)
  think(self)
  local statement, params = self.prepared[name][1], self.prepared[name][2]
  for i = 1, #params do
    params[i]:set((select(i, ...)))
  end
  return statement:execute()
end

-- Send what cannot be prepared.
function Session:query(sql)
  think(self)
  return self.con:query(sql)
end

-- With --validate: a result that has not as many rows as it should have is told.
function Session:check_rows(rs, expected)
  if self.settings.validate and rs.nrows ~= expected then
    C.sb_log(WARNING, format("Number of received rows mismatch, expected: %d, actual: %d", expected, rs.nrows))
  end
end

function Session:close()
  close_statements(self)
  self.con:disconnect()
end

return function(settings)
  local drv = sysbench.sql.driver()
  local con = drv:connect()
  sleep_us(settings.connect_delay)
  return setmetatable({
    settings = settings, driver_name = drv:name(), con = con,
    -- names in the order of use, and by name {statement, parameters}
    names = {}, prepared = {},
  }, Session)
end
