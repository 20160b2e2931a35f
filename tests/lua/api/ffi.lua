-- What scripts reach through ffi.C.
local t = require("show")
local C = ffi.C
for _, name in ipairs {
   "SB_CNT_OTHER", "SB_CNT_READ", "SB_CNT_WRITE", "SB_CNT_TRX", "SB_CNT_ERROR", "SB_CNT_RECONNECT",
   "SQL_TYPE_NONE", "SQL_TYPE_TINYINT", "SQL_TYPE_SMALLINT", "SQL_TYPE_INT", "SQL_TYPE_BIGINT", "SQL_TYPE_FLOAT",
   "SQL_TYPE_DOUBLE", "SQL_TYPE_TIME", "SQL_TYPE_DATE", "SQL_TYPE_DATETIME", "SQL_TYPE_TIMESTAMP", "SQL_TYPE_CHAR",
   "SQL_TYPE_VARCHAR", "DB_ERROR_NONE", "DB_ERROR_IGNORABLE", "DB_ERROR_FATAL", "SB_ARG_TYPE_NULL",
   "SB_ARG_TYPE_BOOL", "SB_ARG_TYPE_INT", "SB_ARG_TYPE_SIZE", "SB_ARG_TYPE_DOUBLE", "SB_ARG_TYPE_STRING",
   "SB_ARG_TYPE_LIST", "SB_ARG_TYPE_FILE", "SB_ARG_TYPE_MAX",
} do
   t.show(name, C[name], type(C[name]))
end
for _, name in ipairs {
   "sb_more_events", "sb_event_start", "sb_event_stop", "sb_rand_uniform_uint64", "sb_rand_default", "sb_rand_uniform",
   "sb_rand_gaussian", "sb_rand_special", "sb_rand_pareto", "sb_rand_unique", "sb_rand_str", "sb_rand_uniform_double",
   "sb_histogram_new", "sb_histogram_delete", "sb_histogram_update", "sb_histogram_print", "sb_print_test_options",
   "sb_lua_set_test_args", "db_create", "db_connection_create", "db_connection_close", "db_connection_reconnect",
   "db_query", "db_prepare", "db_bind_param", "db_execute", "db_close", "db_fetch_row", "db_free_results",
   "db_bulk_insert_init", "db_bulk_insert_next", "db_bulk_insert_done",
} do
   t.show(name, type(C[name]))
end

-- Functions may be declared again and again, in any words.
t.try("usleep", ffi.cdef, "int usleep(unsigned int);")
t.try("usleep again", ffi.cdef, "int usleep(unsigned int usec); typedef unsigned int useconds_t;")
t.try("sleep", ffi.cdef, "unsigned int sleep(unsigned int seconds);")
t.try("printf", ffi.cdef, "int printf(const char *fmt, ...);")
t.try("sb_counter_inc", ffi.cdef, "void sb_counter_inc(int, sb_counter_type);")
t.try("sb_counter_val", ffi.cdef, "uint64_t sb_counter_val(int thread_id, sb_counter_type type);")
t.try("sb_rand_uniform", ffi.cdef, "uint32_t sb_rand_uniform(uint32_t, uint32_t);")
t.try("a struct", ffi.cdef, "struct own { int a; }; typedef struct { int b; } own_t;")
t.try("the struct again", ffi.cdef, "struct own { int a; };")
t.try("a mistake", ffi.cdef, "int broken(")
t.at("a mistake in a line", function() ffi.cdef("int broken(") end)
t.show("unknown", pcall(function() return C.no_such_function end))

print("printf and print keep their order")
C.printf("%s %d\n", "from C:", ffi.new("int", 42))
print("from Lua")
io.write("from io.write\n")
t.show("usleep returns", C.usleep(1), C.sleep(0))

function thread_init(id)
   t.show("before", C.sb_counter_val(id, C.SB_CNT_ERROR))
   C.sb_counter_inc(id, C.SB_CNT_ERROR)
   C.sb_counter_inc(sysbench.tid, C.SB_CNT_ERROR)
   C.sb_counter_inc(id, C.SB_CNT_READ)
   t.show("after", C.sb_counter_val(id, C.SB_CNT_ERROR), C.sb_counter_val(id, C.SB_CNT_READ))
   local buf = ffi.new("char[10]")
   C.sb_rand_str("abc", buf)
   t.show("sb_rand_str", ffi.string(buf, 3), C.sb_rand_uniform(5, 5), C.sb_rand_default(6, 6))
end
function event() return true end
