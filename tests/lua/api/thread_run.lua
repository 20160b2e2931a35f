-- A script with its own event loop.
local t = require("show")
local builtin = thread_run
function event(id) t.show("event", id) end
function thread_run(id)
   t.show("thread_run", id, type(builtin))
   while ffi.C.sb_more_events(id) do
      ffi.C.sb_event_start(id)
      event(id)
      ffi.C.sb_event_stop(id)
   end
   t.show("counted", tonumber(ffi.C.sb_counter_val(id, ffi.C.SB_CNT_TRX)) >= 0)
end
ffi.cdef "uint64_t sb_counter_val(int, sb_counter_type);"
