# What a carrier needs of LuaJIT itself: to run a worker's coroutine on the worker's own C stack, and to be called by it
# in a way at which compiled code ends. Nothing is linked: the functions come by dlsym from lupa's module.

ctypedef void lua_State

ctypedef int (*lua_function)(lua_State *) noexcept nogil

cdef enum:
    LUA_GLOBALS = -10002
    LUA_UPVALUE_1 = -10003
    LUA_GC_IS_RUNNING = 9

cdef struct lua_api:
    int (*pcall)(lua_State *, int, int, int) noexcept nogil
    double (*tonumber)(lua_State *, int) noexcept nogil
    const char *(*tolstring)(lua_State *, int, size_t *) noexcept nogil
    void *(*touserdata)(lua_State *, int) noexcept nogil
    void (*pushnumber)(lua_State *, double) noexcept nogil
    void (*pushlightuserdata)(lua_State *, void *) noexcept nogil
    void (*pushcclosure)(lua_State *, lua_function, int) noexcept nogil
    void (*createtable)(lua_State *, int, int) noexcept nogil
    void (*setfield)(lua_State *, int, const char *) noexcept nogil
    int (*gc)(lua_State *, int, int) noexcept nogil

cdef lua_api lua
# In the order of the fields.
_lua_functions = (
    "pcall", "tonumber", "tolstring", "touserdata", "pushnumber", "pushlightuserdata", "pushcclosure", "createtable",
    "setfield", "gc",
)

# Takes its arguments from the stack, as sysbench.waiting.lua passes them.
ctypedef double (*waiting_call)(lua_State *) noexcept nogil


cdef inline int number_at(lua_State *state, int i) noexcept nogil:
    return <int>lua.tonumber(state, i)


cdef inline void *pointer_at(lua_State *state, int i) noexcept nogil:
    """Addresses have 47 bits, so they pass as numbers."""
    return <void *><size_t>lua.tonumber(state, i)


cdef inline double as_number(const void *pointer) noexcept nogil:
    return <double><size_t>pointer


cdef double call_worker_ready(lua_State *state) noexcept nogil:
    return sb_worker_ready(number_at(state, 1))

cdef double call_more_events(lua_State *state) noexcept nogil:
    return sb_more_events(number_at(state, 1))

cdef double call_event_next(lua_State *state) noexcept nogil:
    return sb_event_next(number_at(state, 1))

cdef double call_worker_done(lua_State *state) noexcept nogil:
    sb_worker_done(number_at(state, 1))
    return 0

cdef double call_team_meet(lua_State *state) noexcept nogil:
    return sb_team_meet()

cdef double call_connection_create(lua_State *state) noexcept nogil:
    return as_number(db_connection_create(<sql_driver *>pointer_at(state, 1), number_at(state, 2)))

cdef double call_connection_reconnect(lua_State *state) noexcept nogil:
    return db_connection_reconnect(<sql_connection *>pointer_at(state, 1))

cdef double call_connection_settle(lua_State *state) noexcept nogil:
    return db_connection_settle(<sql_connection *>pointer_at(state, 1))

cdef double call_connection_close(lua_State *state) noexcept nogil:
    return db_connection_close(<sql_connection *>pointer_at(state, 1))

cdef double call_query(lua_State *state) noexcept nogil:
    cdef size_t length
    cdef const char *text = lua.tolstring(state, 2, &length)
    return as_number(db_query(<sql_connection *>pointer_at(state, 1), text, length))

cdef double call_more_results(lua_State *state) noexcept nogil:
    return db_more_results(<sql_connection *>pointer_at(state, 1))

cdef double call_next_result(lua_State *state) noexcept nogil:
    return as_number(db_next_result(<sql_connection *>pointer_at(state, 1)))

cdef double call_prepare(lua_State *state) noexcept nogil:
    cdef size_t length
    cdef const char *text = lua.tolstring(state, 2, &length)
    return as_number(db_prepare(<sql_connection *>pointer_at(state, 1), text, length))

cdef double call_bind_param(lua_State *state) noexcept nogil:
    return db_bind_param(<sql_statement *>pointer_at(state, 1), <sql_param **>pointer_at(state, 2),
                         <size_t>number_at(state, 3))

cdef double call_execute(lua_State *state) noexcept nogil:
    return as_number(db_execute(<sql_statement *>pointer_at(state, 1)))

cdef double call_close(lua_State *state) noexcept nogil:
    return db_close(<sql_statement *>pointer_at(state, 1))

cdef double call_bulk_insert_init(lua_State *state) noexcept nogil:
    cdef size_t length
    cdef const char *text = lua.tolstring(state, 2, &length)
    return db_bulk_insert_init(<sql_connection *>pointer_at(state, 1), text, length)

cdef double call_bulk_insert_next(lua_State *state) noexcept nogil:
    cdef size_t length
    cdef const char *text = lua.tolstring(state, 2, &length)
    return db_bulk_insert_next(<sql_connection *>pointer_at(state, 1), text, length)

cdef double call_bulk_insert_done(lua_State *state) noexcept nogil:
    return db_bulk_insert_done(<sql_connection *>pointer_at(state, 1))


cdef int lua_waiting_call(lua_State *state) noexcept nogil:
    """A function of Lua's: call the waiting_call that is its upvalue, in which the worker may leave the processor.

    A finalizer, during which the collector does not run, may be another worker's: it keeps the processor."""
    cdef fiber *f = this_fiber()
    cdef waiting_call call = <waiting_call>lua.touserdata(state, LUA_UPVALUE_1)
    cdef double result
    if f != NULL:
        f.may_leave = lua.gc(state, LUA_GC_IS_RUNNING, 0) != 0
    result = call(state)
    if f != NULL:
        f.may_leave = False
    lua.pushnumber(state, result)
    return 1


cdef void add_waiting_call(lua_State *state, const char *name, waiting_call call) noexcept nogil:
    lua.pushlightuserdata(state, <void *>call)
    lua.pushcclosure(state, lua_waiting_call, 1)
    lua.setfield(state, -2, name)


cdef void lua_run_worker(void *state) noexcept nogil:
    """Run a coroutine that has not begun to its end. It handles all errors itself."""
    cdef const char *message
    if lua.pcall(<lua_State *>state, 0, 0, 0) != 0:
        message = lua.tolstring(<lua_State *>state, -1, NULL)
        sb_log(LOG_FATAL, message if message != NULL else <const char *>b"a worker has ended with an error")
        sb_run_fail()


def lua_load(bytes module not None) -> bool:
    """Find LuaJIT's functions in a loaded extension module, by its path; whether they are there."""
    cdef void *handle = dlopen(module, RTLD_NOW | RTLD_NOLOAD)
    return handle != NULL and find_functions(handle, &lua, sizeof(lua_api), "lua_", _lua_functions) is None


def lua_give_calls(size_t coroutine, bytes name not None) -> None:
    """Make a global table of the functions that sysbench.waiting.lua needs; `coroutine` is the address of one of the
    state's that does not run."""
    cdef lua_State *state = <lua_State *>coroutine
    lua.createtable(state, 0, 20)
    add_waiting_call(state, b"sb_worker_ready", call_worker_ready)
    add_waiting_call(state, b"sb_more_events", call_more_events)
    add_waiting_call(state, b"sb_event_next", call_event_next)
    add_waiting_call(state, b"sb_worker_done", call_worker_done)
    add_waiting_call(state, b"sb_team_meet", call_team_meet)
    add_waiting_call(state, b"db_connection_create", call_connection_create)
    add_waiting_call(state, b"db_connection_reconnect", call_connection_reconnect)
    add_waiting_call(state, b"db_connection_settle", call_connection_settle)
    add_waiting_call(state, b"db_connection_close", call_connection_close)
    add_waiting_call(state, b"db_query", call_query)
    add_waiting_call(state, b"db_more_results", call_more_results)
    add_waiting_call(state, b"db_next_result", call_next_result)
    add_waiting_call(state, b"db_prepare", call_prepare)
    add_waiting_call(state, b"db_bind_param", call_bind_param)
    add_waiting_call(state, b"db_execute", call_execute)
    add_waiting_call(state, b"db_close", call_close)
    add_waiting_call(state, b"db_bulk_insert_init", call_bulk_insert_init)
    add_waiting_call(state, b"db_bulk_insert_next", call_bulk_insert_next)
    add_waiting_call(state, b"db_bulk_insert_done", call_bulk_insert_done)
    lua.setfield(state, LUA_GLOBALS, name)


def lua_run(size_t coroutine) -> None:
    """Run a coroutine that has not begun, by its address, to its end."""
    with nogil:
        lua_run_worker(<void *>coroutine)


def carrier_run(list coroutines not None, size_t stack_size) -> None:
    """Run workers on the calling thread, in turn, until all have ended.

    `coroutines` has (thread id, address of a coroutine that has not begun) of each, all of one Lua state. Each gets a C
    stack of `stack_size` bytes, in whole pages. Raises MemoryError before any of them has begun."""
    global carrier_lag_ns
    cdef int n = <int>len(coroutines)
    cdef int i
    cdef carrier c
    cdef fiber *fibers = <fiber *>calloc(n or 1, sizeof(fiber))
    memset(&c, 0, sizeof(c))
    c.stack_size = (stack_size + FIBER_GUARD_SIZE - 1) // FIBER_GUARD_SIZE * FIBER_GUARD_SIZE
    c.sleeping = <fiber **>malloc((n or 1) * sizeof(fiber *))
    c.epoll = epoll_create1(EPOLL_CLOEXEC)
    try:
        if fibers == NULL or c.sleeping == NULL or c.epoll < 0:
            raise MemoryError("no room for the workers of a carrier")
        for i in range(n):
            thread_id, address = coroutines[i]
            if fiber_init(&fibers[i], &c, thread_id, lua_run_worker, <void *><size_t>address) != 0:
                raise MemoryError("no room for the stack of another worker")
            count_together(coroutines[0][0], thread_id)
        with nogil:
            carrier_loop(&c)
    finally:
        for i in range(n if fibers != NULL else 0):
            if fibers[i].stack != NULL:
                munmap(fibers[i].stack, c.stack_size)
        free(fibers)
        free(c.sleeping)
        free(c.watched)
        if c.epoll >= 0:
            close(c.epoll)
