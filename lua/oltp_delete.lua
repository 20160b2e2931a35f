#!/usr/bin/env sysbench
-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- One DELETE by id, outside of a transaction. Nothing is inserted again, so the tables empty.

require("oltp_common")

local rand = sysbench.rand

function prepare_statements()
  prepare_for_each_table("deletes")
end

function event()
  local opt = sysbench.opt
  local table_num = rand.uniform(1, opt.tables)
  param[table_num].deletes[1]:set(rand.default(1, opt.table_size))
  stmt[table_num].deletes:execute()
  check_reconnect()
end
