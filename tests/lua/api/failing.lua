-- Errors outside of event(). FAIL in the environment says where.
local t = require("show")
local where = os.getenv("FAIL")
local function fail() error("failed in " .. where) end
function event() end
if where == "body" then fail() end
if where == "table" then error({ code = 1 }) end
if where == "nil" then error() end
if where == "require" then require("no.such_module") end
if where == "init" or where == "thread_init" or where == "thread_done" or where == "done" then _G[where] = fail end
if where == "no event" then event = nil end
if where == "event number" then event = 5 end
if where == "event table" then event = setmetatable({}, { __call = function() end }) end
if where == "late event" then event = nil function init() event = function() t.show("late") end end end
if where == "init number" then init = 5 end
if where == "done text" then done = "x" end
if where == "thread_init text" then thread_init = "x" end
if where == "thread_done table" then thread_done = {} end
if where == "prepare" then prepare = fail end
if where == "prepare number" then prepare = 5 end
if where == "prepare nil" then prepare = function() error() end end
if where == "options number" then sysbench.cmdline.options = 5 end
if where == "options list" then sysbench.cmdline.options = { { "text" } } end
if where == "options text" then sysbench.cmdline.options = { name = "text" } end
if where == "options nil" then sysbench.cmdline.options = { name = {} } end
if where == "options bool" then sysbench.cmdline.options = { name = { "a bool", "perhaps", sysbench.cmdline.ARG_BOOL } } end
if where == "options table" then sysbench.cmdline.options = { name = { "a list", { 1 }, sysbench.cmdline.ARG_STRING } } end
