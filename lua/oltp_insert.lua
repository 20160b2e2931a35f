#!/usr/bin/env sysbench
-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- One INSERT of one row, outside of a transaction. With --auto_inc=off the ids are a sequence
-- without repetition that is the same in every run, so the tables are prepared empty.

require("oltp_common")

local rand = sysbench.rand
local format = string.format

sysbench.cmdline.commands.prepare = {
  function()
    if not sysbench.opt.auto_inc then
      sysbench.opt.table_size = 0
    end
    cmd_prepare()
  end,
  sysbench.cmdline.PARALLEL_COMMAND
}

-- The numbers of a row are drawn from 1 to --table-size.
function check_options()
  check_range("tables", 1)
  check_range("table_size", 1)
end

-- Whether the statement names the id. MySQL generates an id if it is given 0.
local with_id

function prepare_statements()
  with_id = drv:name() == "mysql" or not sysbench.opt.auto_inc
end

function event()
  local opt = sysbench.opt
  local table_num = rand.uniform(1, opt.tables)
  local k = rand.default(1, opt.table_size)
  local c, pad = get_c_value(), get_pad_value()

  if with_id then
    -- the unsigned 32-bit sequence, moved to the range of a signed INTEGER
    local id = opt.auto_inc and 0 or rand.unique() - 2147483648
    con:query(format("INSERT INTO sbtest%d (id, k, c, pad) VALUES (%d, %d, '%s', '%s')",
                     table_num, id, k, c, pad))
  else
    con:query(format("INSERT INTO sbtest%d (k, c, pad) VALUES (%d, '%s', '%s')",
                     table_num, k, c, pad))
  end
  check_reconnect()
end
