-- Options of every type, their defaults, and commands.
local t = require("show")
local cmdline = sysbench.cmdline
cmdline.options = {
   str = { "a string", "abc" },
   ["str-none"] = { "a string without default" },
   str_empty = { "an empty string", "" },
   str_number = { "a string from a number", 5, cmdline.ARG_STRING },
   num = { "a number", 5 },
   fraction = { "a fraction", 1.5 },
   third = { "many digits", 1 / 3 },
   big = { "a big number", 1e15 },
   negative = { "a negative number", -3 },
   double = { "a double from text", "2.5", cmdline.ARG_DOUBLE },
   on = { "a bool", true },
   off = { "another bool", false },
   bool_text = { "a bool from text", "on", cmdline.ARG_BOOL },
   bool_none = { "a bool without default", nil, cmdline.ARG_BOOL },
   int = { "an integer", 7, cmdline.ARG_INT },
   int_none = { "an integer without default", nil, cmdline.ARG_INT },
   size = { "a size", "10K", cmdline.ARG_SIZE },
   size_number = { "a size from a number", 4096, cmdline.ARG_SIZE },
   list = { "a list", { "a", "b" } },
   list_numbers = { "a list of numbers", { 1, 2 } },
   list_empty = { "an empty list", {} },
   list_text = { "a list from text", "x,y", cmdline.ARG_LIST },
   file = { "a file", nil, cmdline.ARG_FILE },
   ["mixed_na-me"] = { "both characters", 1 },
}
local names = {
   "str", "str_none", "str_empty", "str_number", "num", "fraction", "third", "big", "negative", "double", "on", "off",
   "bool_text", "bool_none", "int", "int_none", "size", "size_number", "list", "list_numbers", "list_empty", "list_text", "file",
   "mixed_na_me",
}

local function values()
   for _, name in ipairs(names) do
      t.show(name, type(sysbench.opt[name]), sysbench.opt[name], _G[name])
   end
end

cmdline.commands = {
   values = { values },
   list = { function() cmdline.print_test_options() end },
   writable = { function()
      sysbench.opt.num, sysbench.opt.new = 6, "x"
      t.show("changed", sysbench.opt.num, sysbench.opt.new)
      sysbench.opt = {}
      t.show("replaced", sysbench.opt.num)
   end },
   defined = { function()
      t.show("defined", cmdline.command_defined("values"), cmdline.command_defined("nosuch"))
      t.show("parallel", cmdline.command_parallel("parallel"), cmdline.command_parallel("values"),
             cmdline.command_parallel("one"))
      t.show("call", cmdline.call_command("zero"), cmdline.call_command("no"), cmdline.call_command("none"))
      t.try("call that fails", cmdline.call_command, "text")
      t.show("read again", (pcall(cmdline.read_cmdline_options)))
   end },
   constants = { function()
      t.show("types", cmdline.ARG_NULL, cmdline.ARG_BOOL, cmdline.ARG_INT, cmdline.ARG_SIZE, cmdline.ARG_DOUBLE,
             cmdline.ARG_STRING, cmdline.ARG_LIST, cmdline.ARG_FILE, cmdline.ARG_MAX, cmdline.PARALLEL_COMMAND)
   end },
   zero = { function() return 0 end },
   no = { function() return false end },
   none = { function() end },
   text = { function() error("in the command") end },
   table = { function() error({}) end },
   number = { 5 },
   empty = {},
   parallel = { function() t.show("in parallel") end, cmdline.PARALLEL_COMMAND },
   one = { function() t.show("once", sysbench.tid) end, 1 },
   help = cmdline.command == "help" and os.getenv("OWN_HELP") and { function() t.show("own help") end } or nil,
   run = os.getenv("OWN_RUN") and { function() t.show("own run") end } or nil,
}
