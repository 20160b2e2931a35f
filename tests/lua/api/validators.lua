-- An option's validator gets C strings.
local t = require("show")
local cmdline = sysbench.cmdline
cmdline.options = {
   level = { "a level", 1, cmdline.ARG_INT, function(name, value)
      t.show("validate", type(name), type(value), ffi.string(name), ffi.string(value))
      t.show("bytes", name[0], value[0], value == nil, tonumber(ffi.string(value)))
      return ffi.string(value) ~= "13"
   end },
}
cmdline.commands = { show = { function() t.show("level", sysbench.opt.level) end } }
