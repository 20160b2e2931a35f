#!/usr/bin/env sysbench
-- SPDX-License-Identifier: GPL-2.0-or-later
-- oltp_simple.lua of sysbench 0.5: a point select.

dofile(test:match("^.*/") .. "common.lua")

function event()
  db_query(string.format("SELECT c FROM %s WHERE id=%d", random_table(), random_id()))
end
