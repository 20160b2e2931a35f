-- sysbench.histogram: a histogram of logarithmic buckets for scripts' own values.
-- SPDX-License-Identifier: GPL-2.0-or-later
local ffi = require("ffi")
local C = ffi.C

sysbench.histogram = {}

function sysbench.histogram.new(size, range_min, range_max)
   local h = C.sb_histogram_new(size, range_min, range_max)
   if h == nil then
      error(string.format("a histogram needs a size above 1 and 0 < min < max, not size %s, min %s, max %s",
                          tostring(size), tostring(range_min), tostring(range_max)), 2)
   end
   return ffi.gc(h, C.sb_histogram_delete)
end

local histogram = {}

function histogram:update(value) C.sb_histogram_update(self, value) end
function histogram:print() C.sb_histogram_print(self) end

ffi.metatype("sb_histogram", { __index = histogram, __tostring = function() return "<sb_histogram>" end })
