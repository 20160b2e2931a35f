-- Report hooks count only if the body has set them, and one that fails.
local t = require("show")
function init() sysbench.hooks.report_cumulative = function() t.show("never") end end
function thread_init() sysbench.hooks.report_cumulative = function() t.show("never") end end
function event() return true end
