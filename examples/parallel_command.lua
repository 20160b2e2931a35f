-- A command that runs in all threads at once: they share its work out, and wait for each other.
--
--    sysbench examples/parallel_command.lua --threads=3 --verbosity=0 fill
--
-- The order of the blocks is that of their threads; what a block draws depends on its number alone.

local cmdline, rand = sysbench.cmdline, sysbench.rand

local function fill()
   for block in cmdline.share(4) do                   -- 0, 1, 2 and 3, each for one of the threads
      rand.seed(sysbench.opt.rand_seed, block)
      io.write("filled a block\n")
   end

   if not cmdline.meet() then                         -- false if a thread has failed
      return false
   end
   if sysbench.tid == 0 then
      print("all blocks are there")
      rand.seed(sysbench.opt.rand_seed, 3)
      print(rand.uniform(1, 1000), rand.uniform(1, 1000))
   end
end

cmdline.commands = { fill = { fill, cmdline.PARALLEL_COMMAND } }
--> filled a block
--> filled a block
--> filled a block
--> filled a block
--> all blocks are there
--> 700	521
