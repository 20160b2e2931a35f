#!/usr/bin/env sysbench
-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- One SELECT of one row by its id, outside of a transaction.

require("oltp_common")

function prepare_statements()
  -- one query an event, whatever the option says
  sysbench.opt.point_selects = 1
  prepare_point_selects()
end

function event()
  execute_point_selects()
  check_reconnect()
end
