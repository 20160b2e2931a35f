-- Random numbers, strings and histograms.
--
--    sysbench examples/random.lua --verbosity=0 prepare
--
-- In `prepare` the numbers are the same in every run; in `run` they follow --rand-seed and the thread's number.
function prepare()
   local rand = sysbench.rand
   print(rand.uniform_uint64())                       --> 14972179374201007161ULL
   print(rand.uniform_double() < 1)                   --> true
   print(rand.uniform(1, 6))                          --> 6
   print(rand.default(1, 100))                        --> 51
   print(rand.gaussian(1, 100))                       --> 54
   print(rand.special(1, 100))                        --> 51
   print(rand.pareto(1, 100))                         --> 16
   print(rand.zipfian(1, 100))                        --> 37
   print(rand.unique(), rand.unique())                --> 2672933100	2916245674
   print(rand.string("###-@@@"))                      --> 837-qct
   print(#rand.varstring(5, 5))                       --> 5

   -- Values count to the nearest of 5 buckets from 1 to 16, each twice the one before.
   local h = sysbench.histogram.new(5, 1, 16)
   for _, value in ipairs { 1, 2, 2, 2.1, 16, 99 } do h:update(value) end
   h:print()
   -->        value  ------------- distribution ------------- count
   -->        1.000 |*************                            1
   -->        2.000 |**************************************** 3
   -->       16.000 |***************************              2
end
