-- When which function is called, and in which state. Globals are not shared between states.
--
--    sysbench examples/life_cycle.lua --verbosity=0 --events=2 run
print("body", sysbench.tid, sysbench.opt)
--> body	0	nil

function init() print("init", sysbench.tid, sysbench.opt.events) end
--> init	0	2
--> body	0	nil
function thread_init(thread_id) print("thread_init", thread_id, sysbench.tid) end
--> thread_init	0	0
-- A true value ends the thread; nil and false go on.
function event(thread_id) print("event", thread_id) end
--> event	0
--> event	0
function thread_done(thread_id) print("thread_done", thread_id) end
--> thread_done	0
function done() print("done", sysbench.version, sysbench.version_string) end
--> done	1.0.20	sysbench 1.0.20

function prepare() print("prepare") end
function cleanup() print("cleanup") end
function help() print("no options") end
