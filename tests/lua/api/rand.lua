-- sysbench.rand and the legacy random functions: arguments and results.
local t = require("show")
local rand = sysbench.rand

local function draw()
   t.show("uint64", rand.uniform_uint64(), type(rand.uniform_uint64()))
   t.show("double", rand.uniform_double())
   for _, name in ipairs { "default", "uniform", "gaussian", "special", "pareto" } do
      local f = rand[name]
      t.try(name, f, 1, 100)
      t.try(name .. " truncates", f, 1.9, 1.99)
      t.try(name .. " of negative numbers", f, -1, -1)
      t.try(name .. " of a string", f, "1", "10")
      t.try(name .. " of one", f, 1)
      t.try(name .. " of none", f)
      t.try(name .. " of three", f, 1, 1, 3)
      t.try(name .. " of everything", f, 0, 4294967295)
      t.try(name .. " of more than 32 bits", f, 4294967296, 4294967297)
      t.try(name .. " of cdata", f, 7ULL, 7LL)
      t.try(name .. " of a table", f, {}, {})
   end
   t.show("unique", rand.unique(), rand.unique(), rand.unique())
   t.show("string", rand.string("###-@@@-abc"), rand.string(""), rand.string("x"), #rand.string(("#"):rep(300)))
   t.show("legacy", sb_rnd(), sb_rand(1, 10), sb_rand_uniform(1, 10), sb_rand_gaussian(1, 10), sb_rand_special(1, 10))
   t.show("legacy strings", sb_rand_str("##@@"), sb_rand_str(("#"):rep(60)))
   t.show("legacy unique", sb_rand_uniq(), sb_rand_uniq(1, 4000000000))
   t.show("next", rand.uniform_uint64())
end

draw()
function prepare() draw() end
function thread_init() draw() end
function event() return true end
