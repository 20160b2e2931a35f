-- The core's functions through LuaJIT's ffi: an event loop of one's own, counters, constants.
--
--    sysbench examples/event_loop.lua --verbosity=0 --events=3 run
local C = ffi.C
-- ffi.C knows the core already; what scripts usually declare may be declared all the same.
ffi.cdef [[
int usleep(unsigned int);
int printf(const char *format, ...);
void sb_counter_inc(int thread_id, sb_counter_type type);
void sb_counter_add(int thread_id, sb_counter_type type, uint64_t n);
uint64_t sb_counter_val(int thread_id, sb_counter_type type);
]]

function event(thread_id)
   C.printf("event in thread %d\n", ffi.new("int", thread_id))
   C.sb_counter_inc(thread_id, C.SB_CNT_ERROR)
   C.sb_counter_add(thread_id, C.SB_CNT_BYTES_READ, 100)
end

-- This is, in short, what the built-in thread_run does.
function thread_run(thread_id)
   while C.sb_more_events(thread_id) do
      C.sb_event_start(thread_id)
      event(thread_id)
      C.sb_event_stop(thread_id)
      C.usleep(1000)                            -- time to think, which no latency includes
   end
end
--> event in thread 0
--> event in thread 0
--> event in thread 0

function thread_done(thread_id)
   print(C.sb_counter_val(thread_id, C.SB_CNT_ERROR), C.sb_counter_val(thread_id, C.SB_CNT_BYTES_READ))
end
--> 3ULL	300ULL
