-- The three report functions that scripts assign to the report hooks.
-- SPDX-License-Identifier: GPL-2.0-or-later
-- Returns what belongs into sysbench.
local _G, sysbench, format = _G, sysbench, format
local sb_json_element = native("sb_json_element")

local report = {}

local function rates(stat)
   local s = stat.time_interval
   local function per_second(n) return s > 0 and n / s or 0 end
   return {
      tps = per_second(stat.events),
      qps = per_second(stat.reads + stat.writes + stat.other),
      reads = per_second(stat.reads),
      writes = per_second(stat.writes),
      other = per_second(stat.other),
      errors = per_second(stat.errors),
      reconnects = per_second(stat.reconnects),
      latency_ms = stat.latency_pct * 1000,
   }
end

function report.report_default(stat)
   local r = rates(stat)
   _G.print(format("[ %.0fs ] thds: %u tps: %4.2f qps: %4.2f (r/w/o: %4.2f/%4.2f/%4.2f) lat (ms,%g%%): %4.2f " ..
                "err/s %4.2f reconn/s: %4.2f",
                stat.time_total, stat.threads_running, r.tps, r.qps, r.reads, r.writes, r.other, sysbench.opt.percentile,
                r.latency_ms, r.errors, r.reconnects))
end

function report.report_csv(stat)
   local r = rates(stat)
   _G.print(format("%.0f,%u,%4.2f,%4.2f,%4.2f,%4.2f,%4.2f,%4.2f,%4.2f,%4.2f",
                stat.time_total, stat.threads_running, r.tps, r.qps, r.reads, r.writes, r.other, r.latency_ms,
                r.errors, r.reconnects))
end

-- All JSON reports of a run, of whatever state, are elements of one array; the engine closes it.
function report.report_json(stat)
   local r = rates(stat)
   local object = format([[
  {
    "time": %4.0f,
    "threads": %u,
    "tps": %4.2f,
    "qps": {
      "total": %4.2f,
      "reads": %4.2f,
      "writes": %4.2f,
      "other": %4.2f
    },
    "latency": %4.2f,
    "errors": %4.2f,
    "reconnects": %4.2f
  }]], stat.time_total, stat.threads_running, r.tps, r.qps, r.reads, r.writes, r.other, r.latency_ms,
                         r.errors, r.reconnects)
   _G.io.write(sb_json_element() and "[\n" or ",\n", object)
end

return report
