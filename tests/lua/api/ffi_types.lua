-- Objects of sysbench.sql that a script makes before it has used any: another way for each command.
local t = require("show")
local make = {
   prepare = function() return ffi.new("sql_result") end,
   cleanup = function() return ffi.cast("sql_connection *", nil) end,
   help = function() return ffi.typeof("const sql_statement *")() end,
}
local object = make[sysbench.cmdline.command]()
t.show("text", tostring(object))
t.show("a method", type(object.close or object.disconnect or object.fetch_row))
t.show("another type", tostring(ffi.new("sql_driver *")))
t.show("a value", ffi.new("int", 42), ffi.cast("int", 7.5))
t.at("a mistake", function() return ffi.new("no_such_type") end)
t.try("no type", ffi.new)
prepare, cleanup, help = function() end, function() end, function() end
