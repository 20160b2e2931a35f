#!/usr/bin/env sysbench
-- SPDX-License-Identifier: GPL-2.0-or-later
-- insert.lua of sysbench 0.5: inserts a row, with an id of its own if the server makes none.

dofile(test:match("^.*/") .. "common.lua")

local format = string.format
-- Signed on databases other than MySQL.
local GREATEST_ID = { mysql = 4294967295 }

function event()
  local name, k, c, pad = random_table(), random_id(), c_value(), pad_value()
  if oltp_auto_inc and db_driver ~= "mysql" then
    db_query(format("INSERT INTO %s (k, c, pad) VALUES (%d, '%s', '%s')", name, k, c, pad))
  else
    local id = oltp_auto_inc and 0 or sb_rand_uniq(1, GREATEST_ID[db_driver] or 2147483647)
    db_query(format("INSERT INTO %s (id, k, c, pad) VALUES (%d, %d, '%s', '%s')", name, id, k, c, pad))
  end
end
