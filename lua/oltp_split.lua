-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- Library of the workloads: --prepare-split=on, by which all threads of prepare fill each table.
--
-- Tables are made of blocks of ids, and each block draws from numbers of its own: its rows are the
-- same whichever thread makes it.

local format = string.format

local split = {}

-- Rows of a block, which is two statements of at most 512 KiB.
local BLOCK = 5000

-- Dialects where an INSERT may give the values of a generated id; for the others there is
-- --auto_inc=off.
local takes_ids = {mysql = true, pgsql = true, sqlite = true}

-- What keeps the tables of this dialect from being split, or nil.
local function problem(dialect)
  if sysbench.cmdline.share == nil then
    return "--prepare-split=on is unknown to this sysbench"
  elseif sysbench.opt.auto_inc and not takes_ids[dialect] then
    return format("--prepare-split=on gives the ids itself, and on %s that needs --auto_inc=off", dialect)
  end
  return nil
end

-- Insert the blocks that this thread gets. insert(table_num, first_id, last_id, goes_on) is called
-- for each, goes_on if the bulk insert of the block before it does.
local function insert_blocks(con, dialect, insert)
  local opt = sysbench.opt
  -- A bulk insert is as long as it can be. But where MySQL generates ids, a load keeps the others
  -- from the table until it ends, and they give up after innodb_lock_wait_timeout.
  local ends_soon = dialect == "mysql" and opt.auto_inc
  local open

  -- Threads work at ends of their own of a table, so that its index grows there as with one of them:
  -- its blocks come in as many stretches as there are threads, from each one in turn.
  local blocks = math.ceil(opt.table_size / BLOCK)
  local stretch = math.ceil(blocks / opt.threads)
  for number in sysbench.cmdline.share(stretch * opt.threads * opt.tables) do
    local table_num, turn = number % opt.tables + 1, math.floor(number / opt.tables)
    local block = turn % opt.threads * stretch + math.floor(turn / opt.threads)
    if block < blocks then
      local goes_on = open == table_num and not ends_soon
      if open and not goes_on then
        con:bulk_insert_done()
      end
      open = table_num
      sysbench.rand.seed(opt.rand_seed, table_num, block)
      insert(table_num, block * BLOCK + 1, math.min((block + 1) * BLOCK, opt.table_size), goes_on)
    end
  end
  if open then
    con:bulk_insert_done()
  end
end

-- Let the server go on with the ids where the rows end.
local function continue_ids(con, dialect, table_num)
  if sysbench.opt.auto_inc and dialect == "pgsql" and sysbench.opt.table_size > 0 then
    con:query(format("SELECT setval(pg_get_serial_sequence('sbtest%d', 'id'), %d)", table_num,
                     sysbench.opt.table_size))
  end
end

-- Make all tables: create(table_num) is called for this thread's own ones, announce(table_num) if there
-- will be rows, once all are there, and finish(table_num) at the end; insert for the blocks that it
-- gets. False if a thread has failed.
function split.make(con, dialect, for_own_tables, create, announce, insert, finish)
  local what = problem(dialect)
  if what ~= nil then
    error(what, 0)
  end
  local cmdline = sysbench.cmdline
  for_own_tables(create)
  if not cmdline.meet() then
    return false
  end
  if sysbench.opt.table_size > 0 then
    for_own_tables(announce)
  end
  insert_blocks(con, dialect, insert)
  if not cmdline.meet() then
    return false
  end
  for_own_tables(function(table_num)
    finish(table_num)
    continue_ids(con, dialect, table_num)
  end)
  return true
end

return split
