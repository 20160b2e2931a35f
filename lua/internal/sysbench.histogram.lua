-- sysbench.histogram: a histogram of logarithmic buckets for scripts' own values.
-- SPDX-License-Identifier: GPL-2.0-or-later
-- Returns what belongs into sysbench.histogram.
local ffi, metatype, error, part, setmetatable, tostring, format =
   ffi, ffi.metatype, error, part, setmetatable, tostring, format
local sb_histogram_new, sb_histogram_update, sb_histogram_print, sb_histogram_delete =
   native("sb_histogram_new"), native("sb_histogram_update"), native("sb_histogram_print"),
   native("sb_histogram_delete")

local function new(size, range_min, range_max)
   local h = sb_histogram_new(size, range_min, range_max)
   if h == nil then
      error(format("a histogram needs a size above 1 and 0 < min < max, not size %s, min %s, max %s",
                   tostring(size), tostring(range_min), tostring(range_max)), 2)
   end
   return ffi.gc(h, sb_histogram_delete)
end

local histogram = {}

function histogram:update(value) sb_histogram_update(self, value) end
function histogram:print() sb_histogram_print(self) end

metatype("sb_histogram", {
   __index = setmetatable(histogram, {
      __index = function(_, key) part("sysbench.members").missing("sb_histogram", histogram, key) end,
   }),
   __newindex = function(_, key) part("sysbench.members").refuse("sb_histogram", key) end,
   __tostring = function() return "<sb_histogram>" end,
})

return { new = new }
