-- Reports of a script's own.
--
--    sysbench examples/reports.lua --verbosity=0 --threads=2 --time=3 --report-interval=2 run
ffi.cdef("int usleep(unsigned int);")
function event() ffi.C.usleep(1000) end

function sysbench.hooks.report_intermediate(stat)
   print(("%.0f s, %d threads"):format(stat.time_total, stat.threads_running))   --> 2 s, 2 threads
   assert(stat.events / stat.time_interval > 1 and stat.latency_pct < 10)
   assert(stat.queue_length == 0 and stat.concurrency == 0)        -- these are for --rate
end

function sysbench.hooks.report_cumulative(stat)
   print(stat.reads, stat.writes, stat.other, stat.errors, stat.reconnects)   --> 0	0	0	0	0
   assert(stat.latency_min <= stat.latency_avg and stat.latency_avg <= stat.latency_max)   -- seconds
   assert(stat.latency_sum > 1)
   -- There are three to use as they are: report_default, report_csv and report_json.
   stat.time_total, stat.time_interval, stat.events, stat.latency_pct = 3, 3, 300, 0.0012
   sysbench.report_csv(stat)   --> 3,2,100.00,0.00,0.00,0.00,0.00,1.20,0.00,0.00
   sysbench.report_default(stat)   --> [ 3s ] thds: 2 tps: 100.00 qps: 0.00 (r/w/o: 0.00/0.00/0.00) lat (ms,95%): 1.20 err/s 0.00 reconn/s: 0.00
   sysbench.report_json(stat)
end
--> [
-->   {
-->     "time":    3,
-->     "threads": 2,
-->     "tps": 100.00,
-->     "qps": {
-->       "total": 0.00,
-->       "reads": 0.00,
-->       "writes": 0.00,
-->       "other": 0.00
-->     },
-->     "latency": 1.20,
-->     "errors": 0.00,
-->     "reconnects": 0.00
-->   }
--> ]
