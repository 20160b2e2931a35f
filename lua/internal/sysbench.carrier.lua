-- What a carrier runs of a worker.
-- SPDX-License-Identifier: GPL-2.0-or-later
-- Returns the function.
local ffi, tonumber = ffi, tonumber

-- A C function without arguments that calls a function, and one that tells, once, how it went.
return function(run, argument)
   local ok = false
   local body = ffi.cast("void (*)(void)", function() ok = run(argument) end)
   return tonumber(ffi.cast("uintptr_t", body)), function()
      body:free()
      return ok
   end
end
