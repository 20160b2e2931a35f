-- What event() returns and throws. --mode says what it does.
local t = require("show")
sysbench.cmdline.options = { mode = { "what event() does", "zero" } }
local n = 0
local function restarted(err) t.show("restart", err.errcode, err.x) end
sysbench.hooks.before_restart_event = restarted

local modes = {
   zero = function() return 0 end,
   none = function() end,
   no = function() return false end,
   table = function() return {} end,
   third = function() return n == 3 and "enough" or nil end,
   text = function() error("some text") end,
   plain = function() error("no position", 0) end,
   above = function() error("two levels up", 2) end,
   number = function() error(42) end,
   nothing = function() error() end,
   other = function() error({ errcode = 2 }) end,
   named = function() error(setmetatable({}, { __tostring = function() return "named" end })) end,
   index = function() local x = nil return x.y end,
   restart = function() if n == 2 or n == 3 then error({ errcode = sysbench.error.RESTART_EVENT, x = n }) end end,
   hook = function() error({ errcode = 1 }) end,
   yield = function() coroutine.yield() end,
   nested = function() return select("#", pcall(error, { errcode = 1 })) == 0 end,
   exit = function() os.exit(7) end,
}
function event()
   n = n + 1
   t.show("event", n)
   if sysbench.opt.mode == "hook" then
      sysbench.hooks.before_restart_event = function() error("in the hook") end
   end
   return modes[sysbench.opt.mode]()
end
function thread_done() t.show("thread_done", n) end
function done() t.show("done") end
