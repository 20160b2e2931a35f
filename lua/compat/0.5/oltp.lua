#!/usr/bin/env sysbench
-- SPDX-License-Identifier: GPL-2.0-or-later
-- oltp.lua of sysbench 0.5: a transaction on one of the tables, drawn anew for each, in plain text.

dofile(test:match("^.*/") .. "common.lua")

local format = string.format

local function lock_tables()
  local list = {}
  for i = 1, oltp_tables_count do
    list[i] = format("sbtest%d WRITE", i)
  end
  return "LOCK TABLES " .. table.concat(list, ", ")
end

-- what begins and ends a transaction
local begin, commit = "BEGIN", "COMMIT"

function thread_init()
  set_vars()
  -- SQLite may call itself mysql, and has no engines.
  if sysbench.opt.db_driver == "mysql" and mysql_table_engine:lower() == "myisam" then
    begin, commit = lock_tables(), "UNLOCK TABLES"
  end
end

local function ranges(count, query, name)
  for _ = 1, count do
    local first = random_id()
    db_query(format(query, name, first, first + oltp_range_size - 1))
  end
end

local function reads(name)
  for _ = 1, oltp_point_selects do
    db_query(format("SELECT c FROM %s WHERE id=%d", name, random_id()))
  end
  if oltp_range_selects then
    ranges(oltp_simple_ranges, "SELECT c FROM %s WHERE id BETWEEN %d AND %d", name)
    ranges(oltp_sum_ranges, "SELECT SUM(K) FROM %s WHERE id BETWEEN %d AND %d", name)
    ranges(oltp_order_ranges, "SELECT c FROM %s WHERE id BETWEEN %d AND %d ORDER BY c", name)
    ranges(oltp_distinct_ranges, "SELECT DISTINCT c FROM %s WHERE id BETWEEN %d AND %d ORDER BY c", name)
  end
end

local function writes(name)
  for _ = 1, oltp_index_updates do
    db_query(format("UPDATE %s SET k=k+1 WHERE id=%d", name, random_id()))
  end
  for _ = 1, oltp_non_index_updates do
    db_query(format("UPDATE %s SET c='%s' WHERE id=%d", name, c_value(), random_id()))
  end
  for _ = 1, oltp_delete_inserts do
    local id = random_id()
    db_query(format("DELETE FROM %s WHERE id=%d", name, id))
    db_query(format("INSERT INTO %s (id, k, c, pad) VALUES (%d, %d, '%s', '%s')",
                    name, id, random_id(), c_value(), pad_value()))
  end
end

function event()
  local name = random_table()
  if not oltp_skip_trx then
    db_query(begin)
  end
  if not oltp_write_only then
    reads(name)
  end
  if not oltp_read_only then
    writes(name)
  end
  if not oltp_skip_trx then
    db_query(commit)
  end
end
