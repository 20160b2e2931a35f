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
    SQLITE_READONLY_DIRECTORY = 1544
    SQLITE_ROW = 100
    SQLITE_DONE = 101
    SQLITE_CONFIG_MEMSTATUS = 9
    SQLITE_FCNTL_SIZE_LIMIT = 36

cdef struct sqlite_functions:
    int (*bind_double)(sqlite3_stmt *, int, double) noexcept nogil
    int (*bind_int64)(sqlite3_stmt *, int, int64_t) noexcept nogil
    int (*bind_null)(sqlite3_stmt *, int) noexcept nogil
    int (*bind_text)(sqlite3_stmt *, int, const char *, int, void *) noexcept nogil
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

# The names of the fields, in their order.
_sqlite_functions = (
    "bind_double", "bind_int64", "bind_null", "bind_text", "busy_handler", "changes", "close", "column_bytes",
    "column_count", "column_text", "config", "db_readonly", "errmsg", "errstr", "exec", "extended_errcode",
    "file_control", "finalize", "get_autocommit", "initialize", "libversion_number", "next_stmt", "open_v2",
    "prepare_v2", "reset", "step", "stmt_readonly", "system_errno", "threadsafe", "total_changes",
)

cdef sqlite_functions sqlite
cdef bint sqlite_loaded = False


cdef bint sqlite_fill(void *library) except -1:
    """Fill the table from a library; False if it is not SQLite's."""
    if dlsym(library, b"sqlite3_open_v2") == NULL:
        return False
    missing = find_functions(library, &sqlite, sizeof(sqlite_functions), "sqlite3_", _sqlite_functions)
    if missing is not None:
        line = f"the SQLite library has no function {missing}: install SQLite 3.12 or newer"
        raise ConnectError(0, "HY000", line, (line,))
    return True


def sqlite_load(*libraries: str | None) -> int:
    """Find SQLite's functions in the first of these files that has them; None stands for this program.

    Returns the version as SQLite numbers it: 3040001 is 3.40.1. Raises ConnectError."""
    global sqlite_loaded
    cdef bytes path
    cdef void *library
    for name in libraries:
        if name is None:
            library = dlopen(NULL, RTLD_NOW)
        else:
            path = name.encode()
            library = dlopen(path, RTLD_NOW)
        if library != NULL and sqlite_fill(library):
            break
    else:
        line = ("the SQLite library is missing: "
                "install the package libsqlite3-0 (Debian, Ubuntu) or sqlite-libs (Fedora)")
        raise ConnectError(0, "HY000", line, (line,))
    if not sqlite.threadsafe():
        line = "the SQLite library was built without support for threads (SQLITE_THREADSAFE=0): install another one"
        raise ConnectError(0, "HY000", line, (line,))
    # Statistics on memory would take a lock that all threads share at every allocation. If something else in the
    # process has used the library before, this is refused, and does no harm.
    sqlite.config(SQLITE_CONFIG_MEMSTATUS, 0)
    sqlite.initialize()
    sqlite_loaded = True
    return sqlite.libversion_number()


cdef bint sqlite_load_with_gil(db_connection *con) noexcept with gil:
    """Let the driver's connect function load the library, at the first connection of the process."""
    try:
        _connectors["sqlite"](con.slot)
    except Exception as error:
        connect_failed_with_gil(con, error)
        return False
    return True
