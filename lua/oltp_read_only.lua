#!/usr/bin/env sysbench
-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- A transaction that only reads: point SELECTs and four kinds of range SELECTs.

require("oltp_common")

function prepare_statements()
  local opt = sysbench.opt
  prepare_point_selects()

  if not opt.skip_trx then
    prepare_begin()
    prepare_commit()
  end

  if opt.range_selects then
    prepare_simple_ranges()
    prepare_sum_ranges()
    prepare_order_ranges()
    prepare_distinct_ranges()
  end
end

function event()
  local opt = sysbench.opt
  if not opt.skip_trx then
    begin()
  end

  execute_point_selects()
  if opt.range_selects then
    execute_simple_ranges()
    execute_sum_ranges()
    execute_order_ranges()
    execute_distinct_ranges()
  end

  if not opt.skip_trx then
    commit()
  end
  check_reconnect()
end
