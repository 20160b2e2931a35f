-- Its own event loop, which thinks between events and stops by itself.
ffi.cdef [[
int usleep(unsigned int usec);
uint64_t sb_counter_val(int, sb_counter_type);
]]
local C = ffi.C
local limit = 5

function thread_init(thread_id)
   con = sysbench.sql.driver():connect()
   mine = 0
end

function thread_run(thread_id)
   while mine < limit and C.sb_more_events(thread_id) do
      C.sb_event_start(thread_id)
      local ok, err = pcall(event, thread_id)
      if not ok then error(err, 0) end
      C.sb_event_stop(thread_id)
      mine = mine + 1
      C.usleep(1000)
   end
end

function event() con:query("SELECT 1") end
function thread_done(thread_id)
   print(("thread %d: %d events, %d reads"):format(thread_id, mine, tonumber(C.sb_counter_val(thread_id, C.SB_CNT_READ))))
end
