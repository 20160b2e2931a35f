-- Reports of its own: CSV while it runs, one JSON object at the end.
local opened

function sysbench.hooks.report_intermediate(stat)
   if not opened then
      print("time,threads,events,p")
      opened = true
   end
   print(("%d,%d,%s,%s"):format(stat.time_total + 0.5, stat.threads_running, stat.events > 0 and "some" or "none",
         stat.latency_pct > 0 and "some" or "none"))
end

function sysbench.hooks.report_cumulative(stat)
   local seconds = stat.time_interval
   print(("{\"threads\": %d, \"per_second\": %s, \"average\": %s}"):format(sysbench.opt.threads,
         stat.events / seconds > 10 and "\"many\"" or "\"few\"",
         stat.latency_avg >= 0.001 and stat.latency_avg <= stat.latency_max and "\"plausible\"" or "\"odd\""))
end

ffi.cdef("int usleep(unsigned int);")
function event() ffi.C.usleep(1000) end
