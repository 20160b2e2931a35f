#!/usr/bin/env sysbench
-- SPDX-License-Identifier: GPL-2.0-or-later
-- parallel_prepare.lua of sysbench 0.5: `run` makes the tables, each thread its share of them.

dofile(test:match("^.*/") .. "common.lua")

local made = false

local function make_own_tables()
  made = true
  for table_id = thread_id + 1, oltp_tables_count, sysbench.opt.threads do
    create_insert(table_id)
  end
end

-- One event a thread; a thread's second one would find its tables made.
function event()
  if made then
    return true
  end
  make_own_tables()
end

-- With --max-requests, another thread may have taken this one's event.
function thread_done()
  if not made then
    make_own_tables()
  end
end
