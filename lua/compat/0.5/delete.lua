#!/usr/bin/env sysbench
-- SPDX-License-Identifier: GPL-2.0-or-later
-- delete.lua of sysbench 0.5: deletes a row, if it is still there.

dofile(test:match("^.*/") .. "common.lua")

function event()
  db_query(string.format("DELETE FROM %s WHERE id=%d", random_table(), random_id()))
end
