-- A script's own options and commands.
--
--    sysbench examples/options.lua --verbosity=0 --table-size=500 --tables=a,b show
--    sysbench examples/options.lua --verbosity=0 --threads=3 count
--
-- `sysbench examples/options.lua help` lists the options.
local cmdline = sysbench.cmdline

-- The type follows from the default, or stands third; a function that says whether a value is allowed, fourth.
cmdline.options = {
   table_size = { "rows a table", 100 },
   tables = { "tables to use", { "first" } },
   verbose = { "say more", false },
   engine = { "storage engine" },
   level = { "a level from 1 to 9", 1, cmdline.ARG_INT, function(name, value)
      return ffi.string(value):match("^[1-9]$") ~= nil
   end },
   chunk = { "bytes at once", "4K", cmdline.ARG_SIZE },
   ratio = { "reads for each write", "1.5", cmdline.ARG_DOUBLE },
   dry = { "do nothing", "off", cmdline.ARG_BOOL },
   mode = { "how to do it", "fast", cmdline.ARG_STRING },
   ids = { "ids to use", "1,2,3", cmdline.ARG_LIST },
   extra = { "a file with more options", nil, cmdline.ARG_FILE },
}

local function show()
   local opt = sysbench.opt
   print(opt.table_size, table.concat(opt.tables, "+"), opt.verbose, opt.engine == "")   --> 500	a+b	false	true
   print(opt.level, opt.chunk, opt.ratio, opt.dry, opt.mode, #opt.ids)   --> 1	4096	1.5	false	fast	3
   print(opt.threads, opt.percentile, opt.db_driver)   --> 1	95	mysql
   print(cmdline.script_path:match("[^/]+$"), cmdline.command, #cmdline.argv)   --> options.lua	show	5
   print(cmdline.argv[0])   --> sysbench
   print(cmdline.command_defined("count"), cmdline.command_parallel("count"))   --> true	true
   print(cmdline.call_command("check"))   --> false
   opt.table_size = 7
   print(sysbench.opt.table_size)   --> 7
end

cmdline.commands = {
   show = { show },
   check = { function() return false end },                              -- false: exit status 1
   list = { function() cmdline.print_test_options() end },
   count = { function() io.write("counted\n") end, cmdline.PARALLEL_COMMAND },  -- in every thread
}
--> counted
--> counted
--> counted
