# SQLite's C API, found at run time: no header is needed to build, and no second copy of the library is loaded
# beside the one of Python's own sqlite3 module.

ctypedef void sqlite3
ctypedef void sqlite3_stmt

cdef enum:
    SQLITE_OK = 0
    SQLITE_ERROR = 1
    SQLITE_BUSY = 5
    SQLITE_LOCKED = 6
    SQLITE_NOMEM = 7
    SQLITE_IOERR = 10
    SQLITE_CANTOPEN = 14
    SQLITE_CONSTRAINT = 19
    SQLITE_ROW = 100
    SQLITE_DONE = 101
    SQLITE_OPEN_READWRITE = 0x2
    SQLITE_OPEN_CREATE = 0x4
    SQLITE_OPEN_URI = 0x40
    SQLITE_OPEN_NOMUTEX = 0x8000
    SQLITE_CONFIG_MEMSTATUS = 9
    SQLITE_FCNTL_SIZE_LIMIT = 36

# In the order of SQLITE_FUNCTIONS.
cdef struct sqlite_api:
    int (*bind_double)(sqlite3_stmt *, int, double) noexcept nogil
    int (*bind_int64)(sqlite3_stmt *, int, int64_t) noexcept nogil
    int (*bind_null)(sqlite3_stmt *, int) noexcept nogil
    int (*bind_text)(sqlite3_stmt *, int, const char *, int, void (*)(void *) noexcept nogil) noexcept nogil
    int (*busy_handler)(sqlite3 *, int (*)(void *, int) noexcept nogil, void *) noexcept nogil
    int (*changes)(sqlite3 *) noexcept nogil
    int (*close)(sqlite3 *) noexcept nogil
    int (*column_bytes)(sqlite3_stmt *, int) noexcept nogil
    int (*column_count)(sqlite3_stmt *) noexcept nogil
    const char *(*column_text)(sqlite3_stmt *, int) noexcept nogil
    int (*config)(int, ...) noexcept nogil
    int (*db_readonly)(sqlite3 *, const char *) noexcept nogil
    const char *(*errmsg)(sqlite3 *) noexcept nogil
    const char *(*errstr)(int) noexcept nogil
    int (*execute)(sqlite3 *, const char *, void *, void *, char **) noexcept nogil
    int (*extended_errcode)(sqlite3 *) noexcept nogil
    int (*file_control)(sqlite3 *, const char *, int, void *) noexcept nogil
    int (*finalize)(sqlite3_stmt *) noexcept nogil
    int (*get_autocommit)(sqlite3 *) noexcept nogil
    int (*initialize)() noexcept nogil
    int (*libversion_number)() noexcept nogil
    sqlite3_stmt *(*next_stmt)(sqlite3 *, sqlite3_stmt *) noexcept nogil
    int (*open_v2)(const char *, sqlite3 **, int, const char *) noexcept nogil
    int (*prepare_v2)(sqlite3 *, const char *, int, sqlite3_stmt **, const char **) noexcept nogil
    int (*reset)(sqlite3_stmt *) noexcept nogil
    int (*step)(sqlite3_stmt *) noexcept nogil
    int (*stmt_readonly)(sqlite3_stmt *) noexcept nogil
    int (*system_errno)(sqlite3 *) noexcept nogil
    int (*threadsafe)() noexcept nogil
    int (*total_changes)(sqlite3 *) noexcept nogil

SQLITE_FUNCTIONS = (
    "sqlite3_bind_double", "sqlite3_bind_int64", "sqlite3_bind_null", "sqlite3_bind_text",
    "sqlite3_busy_handler", "sqlite3_changes", "sqlite3_close", "sqlite3_column_bytes",
    "sqlite3_column_count", "sqlite3_column_text", "sqlite3_config", "sqlite3_db_readonly",
    "sqlite3_errmsg", "sqlite3_errstr", "sqlite3_exec", "sqlite3_extended_errcode",
    "sqlite3_file_control", "sqlite3_finalize", "sqlite3_get_autocommit", "sqlite3_initialize",
    "sqlite3_libversion_number", "sqlite3_next_stmt", "sqlite3_open_v2", "sqlite3_prepare_v2",
    "sqlite3_reset", "sqlite3_step", "sqlite3_stmt_readonly", "sqlite3_system_errno",
    "sqlite3_threadsafe", "sqlite3_total_changes",
)

cdef sqlite_api sqlite
cdef bint sqlite_loaded = False


cdef bint sqlite_load_with_gil(db_connection *con) noexcept with gil:
    """Fill the table from the driver's connect function, at the first connection of the process."""
    global sqlite_loaded
    try:
        addresses = connectors["sqlite"](con.slot)
        if len(addresses) * sizeof(void *) != sizeof(sqlite_api):
            raise AssertionError("sqlite_api and SQLITE_FUNCTIONS differ")
        for i, address in enumerate(addresses):
            (<void **>&sqlite)[i] = <void *><size_t>address
        if not sqlite.threadsafe():
            line = "the SQLite library was built without support for threads (SQLITE_THREADSAFE=0)"
            raise ConnectError(0, "HY000", line, (line,))
    except Exception as error:
        connect_failed_with_gil(con, error)
        return False
    # Statistics on memory would take a lock that all threads share at every allocation. Refused, without harm,
    # if something else in the process has used the library before.
    sqlite.config(SQLITE_CONFIG_MEMSTATUS, 0)
    sqlite.initialize()
    sqlite_loaded = True
    return True
