#!/usr/bin/env sysbench
-- SPDX-License-Identifier: GPL-2.0-or-later
-- update_non_index.lua of sysbench 0.5: an update of another column.

dofile(test:match("^.*/") .. "common.lua")

function event()
  db_query(string.format("UPDATE %s SET c='%s' WHERE id=%d", random_table(), c_value(), random_id()))
end
