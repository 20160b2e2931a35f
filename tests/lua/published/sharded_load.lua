-- Several tables named in a list, loaded in parallel by a command of its own, checked by another.
sysbench.cmdline.options = {
   tables = { "tables to use", { "first", "second", "third" } },
   rows = { "rows a table", 100, sysbench.cmdline.ARG_INT },
   ["batch-size"] = { "rows a statement", "1K", sysbench.cmdline.ARG_SIZE },
   verify = { "count rows afterwards", true },
   tag = { "text in every row" },
}

local function each(f)
   local con = sysbench.sql.driver():connect()
   for number, name in ipairs(sysbench.opt.tables) do
      if (number - 1) % sysbench.opt.threads == sysbench.tid then f(con, name) end
   end
   con:disconnect()
end

local function load()
   each(function(con, name)
      con:query(("CREATE TABLE %s (id INTEGER PRIMARY KEY, tag VARCHAR(100))"):format(name))
      for start = 1, sysbench.opt.rows, sysbench.opt.batch_size do
         local values = {}
         for id = start, math.min(start + sysbench.opt.batch_size, sysbench.opt.rows + 1) - 1 do
            values[#values + 1] = ("(%d, '%s')"):format(id, sysbench.opt.tag)
         end
         con:query(("INSERT INTO %s VALUES %s"):format(name, table.concat(values, ",")))
      end
      if sysbench.opt.verify then
         assert(tonumber((con:query_row("SELECT COUNT(*) FROM " .. name))) == sysbench.opt.rows)
      end
   end)
end

local function check()
   local con = sysbench.sql.driver():connect()
   for _, name in ipairs(sysbench.opt.tables) do
      print(name, con:query_row("SELECT COUNT(*), MIN(id), MAX(id), MAX(tag) FROM " .. name))
   end
   return #sysbench.opt.tables == 3
end

local function drop()
   each(function(con, name) con:query("DROP TABLE " .. name) end)
end

sysbench.cmdline.commands = {
   load = { load, sysbench.cmdline.PARALLEL_COMMAND },
   check = { check },
   drop = { drop, sysbench.cmdline.PARALLEL_COMMAND },
}
