#!/usr/bin/env sysbench
-- SPDX-License-Identifier: GPL-2.0-or-later
-- update_index.lua of sysbench 0.5: an update of the indexed column.

dofile(test:match("^.*/") .. "common.lua")

function event()
  db_query(string.format("UPDATE %s SET k=k+1 WHERE id=%d", random_table(), random_id()))
end
