-- What the report hooks get.
local t = require("show")
function event() ffi.C.usleep(2000) end
ffi.cdef "int usleep(unsigned int);"
sysbench.hooks.report_intermediate = function(stat)
   t.names("intermediate", stat)
   t.show("rate mode only", stat.queue_length, stat.concurrency, sysbench.tid)
end
sysbench.hooks.report_cumulative = function(stat)
   t.names("cumulative", stat)
   t.show("plausible", stat.events > 100, stat.latency_min > 0.002, stat.latency_min <= stat.latency_avg,
          stat.latency_avg <= stat.latency_max, stat.latency_sum > 1, stat.time_total > 1.4, stat.time_total < 20,
          stat.reads + stat.writes + stat.other + stat.errors + stat.reconnects, sysbench.tid)
end
