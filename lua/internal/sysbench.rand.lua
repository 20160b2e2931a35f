-- sysbench.rand: random numbers and strings of the calling thread's generator.
-- SPDX-License-Identifier: GPL-2.0-or-later
-- Returns what belongs into sysbench.rand.
local ffi, assert = ffi, assert
local sb_rand_uniform, sb_rand_uniform_uint64, sb_rand_uniform_double, sb_rand_default, sb_rand_gaussian,
   sb_rand_special, sb_rand_pareto, sb_rand_zipfian, sb_rand_unique, sb_rand_str, sb_rand_varstr, sb_rand_seed =
   native("sb_rand_uniform"), native("sb_rand_uniform_uint64"), native("sb_rand_uniform_double"),
   native("sb_rand_default"), native("sb_rand_gaussian"), native("sb_rand_special"), native("sb_rand_pareto"),
   native("sb_rand_zipfian"), native("sb_rand_unique"), native("sb_rand_str"), native("sb_rand_varstr"),
   native("sb_rand_seed")

local rand = {}

function rand.uniform_uint64() return sb_rand_uniform_uint64() end
function rand.uniform_double() return sb_rand_uniform_double() end
function rand.default(a, b) return sb_rand_default(a, b) end
function rand.uniform(a, b) return sb_rand_uniform(a, b) end
function rand.gaussian(a, b) return sb_rand_gaussian(a, b) end
function rand.special(a, b) return sb_rand_special(a, b) end
function rand.pareto(a, b) return sb_rand_pareto(a, b) end
function rand.zipfian(a, b) return sb_rand_zipfian(a, b) end
function rand.unique() return sb_rand_unique() end

-- Begin this thread's numbers anew: what follows is the same for the same numbers.
function rand.seed(seed, stream, part) return sb_rand_seed(seed, stream or 0, part or 0) end

-- One buffer for all strings, grown when a longer one is asked for.
local buffer, size = ffi.new("char[?]", 256), 256

local function room(length)
   if length > size then
      buffer, size = ffi.new("char[?]", length), length
   end
   return buffer
end

function rand.string(template)
   local length = #template
   local buf = room(length)
   sb_rand_str(template, buf)
   return ffi.string(buf, length)
end

function rand.varstring(min_len, max_len)
   assert(min_len <= max_len, "min_len must not be greater than max_len")
   assert(max_len > 0, "max_len must be greater than 0")
   local buf = room(max_len)
   return ffi.string(buf, sb_rand_varstr(buf, min_len, max_len))
end

return rand
