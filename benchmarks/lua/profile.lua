-- Where LuaJIT spends the time of a workload, by its own profiler: samples in machine code (N), in the interpreter (I),
-- in C functions called from it (C), in the garbage collector (G) and in the compiler (J); then the lines that most of
-- the samples outside of machine code are from.
--
--    WORKLOAD=lua/oltp_read_only.lua sysbench benchmarks/lua/profile.lua --db-driver=null --time=3 run
local workload = assert(os.getenv("WORKLOAD"), "WORKLOAD is to name a script")
dofile(workload)

local profile = require("jit.profile")
local begin, finish = thread_init, thread_done
local total, states, lines = 0, {}, {}

local function sampled(thread, samples, state)
   total = total + samples
   states[state] = (states[state] or 0) + samples
   if state ~= "N" then
      local line = state .. " " .. profile.dumpstack(thread, "l", 1)
      lines[line] = (lines[line] or 0) + samples
   end
end

-- Names, those with most samples first.
local function by_samples(counts)
   local names = {}
   for name in pairs(counts) do names[#names + 1] = name end
   table.sort(names, function(a, b) return counts[a] > counts[b] end)
   return names
end

function thread_init()
   if begin then begin() end
   profile.start("li1", sampled)
end

function thread_done()
   profile.stop()
   local shares = {}
   for i, state in ipairs(by_samples(states)) do
      shares[i] = ("%s %.0f %%"):format(state, 100 * states[state] / total)
   end
   print(("%s: %s"):format(workload, table.concat(shares, ", ")))
   for i, line in ipairs(by_samples(lines)) do
      if i > 5 then break end
      print(("   %.1f %% %s"):format(100 * lines[line] / total, line))
   end
   if finish then finish() end
end
