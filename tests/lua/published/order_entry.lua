#!/usr/bin/env sysbench
-- Order entry in the manner of TPC-C: transactions over several tables, a hundredth of them rolled back and counted
-- as errors, a hook that cleans up before a restart.
ffi.cdef("void sb_counter_inc(int, sb_counter_type);")

sysbench.cmdline.options = {
   scale = { "number of warehouses", 2 },
   items = { "number of items", 50 },
   rollbacks = { "percentage of orders that are rolled back", 20 },
}

local function connect()
   drv = sysbench.sql.driver()
   con = drv:connect()
end

local function load_warehouses()
   connect()
   for w = 1 + sysbench.tid, sysbench.opt.scale, sysbench.opt.threads do
      con:query("CREATE TABLE warehouse" .. w .. " (next_order INTEGER NOT NULL, ytd INTEGER NOT NULL)")
      con:query("CREATE TABLE stock" .. w .. " (i INTEGER PRIMARY KEY, quantity INTEGER NOT NULL)")
      con:query("CREATE TABLE orders" .. w .. " (o INTEGER PRIMARY KEY, i INTEGER NOT NULL, amount INTEGER NOT NULL)")
      con:query("INSERT INTO warehouse" .. w .. " VALUES (1, 0)")
      con:bulk_insert_init("INSERT INTO stock" .. w .. " VALUES")
      for i = 1, sysbench.opt.items do con:bulk_insert_next(string.format("(%d, 1000)", i)) end
      con:bulk_insert_done()
      print("warehouse " .. w .. " loaded")
   end
end

sysbench.cmdline.commands = { prepare = { load_warehouses, sysbench.cmdline.PARALLEL_COMMAND } }

function cleanup()
   connect()
   for w = 1, sysbench.opt.scale do
      for _, name in ipairs { "warehouse", "stock", "orders" } do con:query("DROP TABLE IF EXISTS " .. name .. w) end
   end
end

function thread_init() connect() end
function thread_done() con:disconnect() end

local function new_order(w)
   local item = sysbench.rand.default(1, sysbench.opt.items)
   local amount = sysbench.rand.uniform(1, 10)
   con:query("BEGIN")
   con:query("UPDATE warehouse" .. w .. " SET next_order = next_order + 1")
   local number = tonumber((con:query_row("SELECT next_order FROM warehouse" .. w)))
   local rs = con:query(("SELECT quantity FROM stock%d WHERE i = %d"):format(w, item))
   local quantity = tonumber(rs:fetch_row()[1])
   rs:free()
   con:query(("UPDATE stock%d SET quantity = %d WHERE i = %d"):format(w, quantity - amount, item))
   con:query(("INSERT INTO orders%d VALUES (%d, %d, %d)"):format(w, number, item, amount))
   if sysbench.rand.uniform(1, 100) <= sysbench.opt.rollbacks then
      con:query("ROLLBACK")
      ffi.C.sb_counter_inc(sysbench.tid, ffi.C.SB_CNT_ERROR)
   else
      con:query("COMMIT")
   end
end

local function payment(w)
   con:query("BEGIN")
   con:query(("UPDATE warehouse%d SET ytd = ytd + %d"):format(w, sysbench.rand.uniform(1, 100)))
   con:query("COMMIT")
end

function event()
   local w = sysbench.rand.uniform(1, sysbench.opt.scale)
   if sysbench.rand.uniform(1, 2) == 1 then new_order(w) else payment(w) end
end

function sysbench.hooks.before_restart_event(err)
   con:query("ROLLBACK")
end
