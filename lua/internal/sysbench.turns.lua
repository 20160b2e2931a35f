-- What LuaJIT has once in a state and each of several workers for itself. It is the one's that has used it last; who
-- uses it next keeps what it was, and puts its own in that place.
-- SPDX-License-Identifier: GPL-2.0-or-later
-- Argument of the chunk: the globals as LuaJIT has made them. Returns functions that take what a worker has, a table; and
-- a table of the workers' hooks, by their globals.
local original = ...
local copy, open = ffi.copy, open

local function turns(keep, put)
   local last
   return function(own)
      if own ~= last then
         if last then
            keep(last)
         end
         put(own)
         last = own
      end
   end
end

-- The default files of io.
local io = original.io

local function choose(kind, file)
   if io.type(file) ~= "closed file" then
      io[kind](file)
      return
   end
   -- It is closed when it is the default one already, or LuaJIT would not have it.
   file = open("/dev/null", "r+")
   io[kind](file)
   file:close()
end

local function keep_files(own)
   own.input, own.output = io.input(), io.output()
end

local function put_files(own)
   choose("input", own.input or io.stdin)
   choose("output", own.output or io.stdout)
end

-- The generator of math.random and math.randomseed, whose state LuaJIT keeps in a userdata of 4 64-bit words.
local _, state = original.debug.getupvalue(original.math.random, 1)
local SIZE = 32
local words = ffi.typeof("uint64_t[4]")
local first = words()
copy(first, state, SIZE)

local function keep_numbers(own)
   copy(own.words, state, SIZE)
end

local function put_numbers(own)
   own.words = own.words or words(first)
   copy(state, own.words, SIZE)
end

return { io = turns(keep_files, put_files), math = turns(keep_numbers, put_numbers), hooks = {} }
