-- The three report functions, given a table.
local stat = {
   threads_running = 4, time_interval = 2, time_total = 10.4, latency_pct = 0.0123, events = 100, reads = 200,
   writes = 40, other = 60, errors = 3, reconnects = 1, queue_length = 0, concurrency = 0,
   latency_min = 0.001, latency_max = 0.5, latency_avg = 0.01, latency_sum = 1,
}
function prepare()
   sysbench.report_default(stat)
   sysbench.report_csv(stat)
   print(sysbench.report_default(stat), sysbench.report_csv(stat))
   stat.time_total, stat.threads_running, stat.events = 123456.7, 1024, 1e9
   sysbench.report_default(stat)
   sysbench.report_csv(stat)
   sysbench.report_json(stat)
   sysbench.report_json(stat)
end
