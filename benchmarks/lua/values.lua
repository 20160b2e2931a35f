-- What a script does for the statements that it forms itself: the texts of 1000 random rows an event, sent nowhere.
local TEMPLATE = ("###########-"):rep(10)

function event()
   local length = 0
   for _ = 1, 1000 do
      local row = string.format("INSERT INTO sbtest1 (k, c) VALUES (%d, '%s')",
         sysbench.rand.default(1, 10000), sysbench.rand.string(TEMPLATE))
      length = length + #row
   end
   assert(length > 120000)
end
