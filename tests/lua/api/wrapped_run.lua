-- A script that does something around the built-in event loop.
local t = require("show")
local builtin = thread_run
function event(id) t.show("event", id) end
function thread_run(id)
   t.show("before", id)
   builtin(id)
   t.show("after", id)
end
