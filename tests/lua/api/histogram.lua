-- sysbench.histogram
local t = require("show")
local h = sysbench.histogram.new(10, 1, 100)
for _, value in ipairs { 5, 50, 50, -1, 0, 1000, 1, 100, 3.3 } do h:update(value) end
h:print()
local many = sysbench.histogram.new(1024, 0.001, 100000)
for i = 1, 1000 do many:update(i % 7 * 0.4 + 0.2) end
many:print()
t.show("type", type(h))
t.try("no size", sysbench.histogram.new)
t.show("draws", sysbench.rand.uniform_uint64())
print("empty:")
sysbench.histogram.new(5, 1, 2):print()
