-- Which functions are called in which state, with which arguments; globals are not shared.
local t = require("show")
calls = 0
if sysbench.tid == 0 then t.show("body", sysbench.tid) end

function init(...) calls = calls + 1 t.show("init", sysbench.tid, select("#", ...), calls, sysbench.opt.events) end
function thread_init(...) calls = calls + 1 t.show("thread_init", sysbench.tid, select("#", ...), (...), calls) end
function event(...)
   calls = calls + 1
   if calls < 6 then t.show("event", sysbench.tid, select("#", ...), (...), calls) end
end
function thread_done(...) calls = calls + 1 t.show("thread_done", sysbench.tid, select("#", ...), (...), calls) end
function done(...) calls = calls + 1 t.show("done", sysbench.tid, select("#", ...), calls) end
function prepare(...) t.show("prepare", select("#", ...)) return false end
function cleanup(...) t.show("cleanup", select("#", ...)) error("in cleanup") end
function help(...) t.show("help", select("#", ...)) error({}) end
