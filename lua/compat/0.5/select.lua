#!/usr/bin/env sysbench
-- SPDX-License-Identifier: GPL-2.0-or-later
-- select.lua of sysbench 0.5: a point select of another column than that of oltp_simple.lua.

dofile(test:match("^.*/") .. "common.lua")

function event()
  db_query(string.format("SELECT pad FROM %s WHERE id=%d", random_table(), random_id()))
end
