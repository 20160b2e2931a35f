# The database layer: one table of functions a driver, connections with an error record, text queries, results.
#
# Every operation has two phases: send, and receive, which either completes or returns DB_AGAIN to be called
# again when the descriptor of wait_fd is readable. A worker thread that has nothing else to do waits in between.

cdef enum:
    DB_OK = 0
    DB_AGAIN = 1                # receive only: wait for the descriptor, then call again
    DB_FAILED = -1              # the connection's error record says why
    DB_MAX_DRIVERS = 8
    DB_MAX_IGNORED = 64

cdef enum db_operation:
    DB_OP_QUERY, DB_OP_PREPARE, DB_OP_EXECUTE

cdef struct db_driver:
    sql_driver pub              # first: Lua holds a pointer to it
    const char *key             # the name of --db-driver
    db_ops *ops
    db_ops *own_ops             # of the driver itself, when ops are null's in a dry run
    bint emulate                # --db-ps-mode=disable
    bint backslash_escapes      # in string literals
    bint trace                  # log a DEBUG line a call
    bint ends_at_nul            # a text for it can only go up to a NUL byte
    bint draws_for_names        # two hidden draws a prepared statement, as the original's pgsql driver
    bint ignore_all
    int n_ignored
    char ignored[DB_MAX_IGNORED][8]     # error numbers in decimal, or SQLSTATEs

cdef struct db_result:
    sql_result pub              # first: Lua holds a pointer to it
    db_connection *connection

cdef struct db_connection:
    sql_connection pub          # first: Lua holds a pointer to it
    db_driver *driver
    void *session               # the driver's own state; NULL when closed
    int refs                    # the Lua object, and one a statement
    uint32_t slot               # number of the connection, for the rotation of hosts
    uint32_t epoch              # counts reconnects: statements of an earlier epoch are prepared anew
    db_operation operation      # what receive is to receive
    db_statement *statement     # of a prepare or an execute
    bint say_why                # connect prints why it fails
    bint lost                   # the last error means that the connection is gone
    bint restart                # the driver itself says that the last error restarts the event
    bint has_rows               # outcome of receive: a result set, or
    uint64_t affected           # so many rows changed
    bint result_open
    db_result result            # the one result slot
    sql_row row
    sql_value *values
    uint32_t values_size
    bulk_insert *bulk           # under construction by bulk_insert_*, or NULL
    db_statement *garbage       # statements that were released while it may have been at work
    bint missing_told           # the last fatal error is a prepare for want of a table
    bint aborted                # the last error has left a transaction that can only be rolled back
    char sqlstate[6]
    char message[1024]
    db_connection *next_free

cdef struct db_statement:
    sql_statement pub           # first: Lua holds a pointer to it
    db_connection *connection
    char *query                 # with ? for parameters
    size_t length
    bint emulated
    bint prepared               # on the server, in the connection's epoch
    uint32_t epoch
    void *session               # the driver's own state
    sql_param **params          # bound
    uint32_t nbound
    bint types_changed          # since the last execute
    statement_record *record    # of its text and worker, found in record_epoch
    uint32_t record_epoch
    db_statement *next_garbage

# A driver: what it does, in phases. Functions return DB_OK, DB_AGAIN (receive only) or DB_FAILED.
cdef struct db_ops:
    int (*connect)(db_connection *) noexcept nogil
    void (*disconnect)(db_connection *) noexcept nogil
    int (*send_query)(db_connection *, const char *, size_t) noexcept nogil
    int (*send_prepare)(db_statement *) noexcept nogil
    int (*send_execute)(db_statement *) noexcept nogil
    bint prepares_when_bound    # a prepare names the types of the parameters
    int (*receive)(db_connection *) noexcept nogil
    int (*wait_fd)(db_connection *) noexcept nogil
    int (*next_result)(db_connection *) noexcept nogil          # DB_OK, or DB_FAILED if there is none
    bint (*more_results)(db_connection *) noexcept nogil
    bint (*fetch_row)(db_connection *, sql_value *) noexcept nogil
    void (*free_result)(db_connection *) noexcept nogil
    void (*close_statement)(db_statement *, bint) noexcept nogil    # true: tell the server
    int (*rollback)(db_connection *) noexcept nogil             # after an ignorable error; NULL if not needed
    void (*report)(db_connection *, db_operation, const char *, size_t) noexcept nogil   # a fatal error, to the log
    load_ops *loads             # NULL if the database has no statement that takes rows

cdef db_driver drivers[DB_MAX_DRIVERS]
cdef int driver_count = 0
cdef db_driver *default_driver = NULL
cdef const char *no_default_driver = b"No DB drivers available"
cdef uint64_t reconnect_timeout_ns = 30000000000
cdef db_connection *free_connections = NULL
cdef pthread_mutex_t db_mutex
pthread_mutex_init(&db_mutex, NULL)
_connectors = {}                 # driver -> Python function(slot) that connects and logs in


class ConnectError(Exception):
    """A connection could not be made. `lines` are the fatal messages that say so to the user."""

    def __init__(self, number: int, sqlstate: str, message: str, lines: tuple = ()) -> None:
        super().__init__(message)
        self.number, self.sqlstate, self.message, self.lines = number, sqlstate, message, lines


# -- the error record

cdef void db_clear_error(db_connection *con) noexcept nogil:
    con.pub.error = DB_ERROR_NONE
    con.pub.sql_errno = 0
    con.pub.sql_state = NULL
    con.pub.sql_errmsg = NULL
    con.lost = False
    con.restart = False
    con.aborted = False


cdef void db_set_error(db_connection *con, int number, const char *sqlstate, const char *message,
                       size_t length) noexcept nogil:
    """Fill the record; sqlstate has 5 characters. The class follows in db_failed."""
    if length > sizeof(con.message) - 1:
        length = sizeof(con.message) - 1
    memmove(con.message, message, length)
    con.message[length] = 0
    memcpy(con.sqlstate, sqlstate, 5)
    con.sqlstate[5] = 0
    con.pub.sql_errno = number
    con.pub.sql_state = con.sqlstate
    con.pub.sql_errmsg = con.message


cdef void db_api_error(db_connection *con, const char *alert) noexcept nogil:
    """Misuse of the API: no SQL state, so that Lua says `SQL API error`."""
    db_clear_error(con)
    con.pub.error = DB_ERROR_FATAL
    if alert != NULL:
        sb_log(LOG_ALERT, alert)


# -- connections

cdef int db_connect(db_connection *con, bint say_why) noexcept nogil:
    """Connect; on failure the error record is filled and, if say_why, the driver's fatal lines are printed."""
    cdef worker *w = worker_of(con.pub.thread_id)
    cdef int rc
    db_clear_error(con)
    con.say_why = say_why
    statement_begins(w, b"(connecting)", 12, NULL)
    rc = on_carrier(<fiber_errand>con.driver.ops.connect, con)
    statement_ended(w)
    if rc != DB_OK:
        con.pub.error = DB_ERROR_FATAL
        if say_why:
            note_first(con, &across.refused)
        return DB_FAILED
    con.epoch += 1
    if this_fiber() != NULL:
        socket_must_not_block(con.driver.ops.wait_fd(con))
    return DB_OK


cdef int db_disconnect(void *con) noexcept nogil:
    (<db_connection *>con).driver.ops.disconnect(<db_connection *>con)
    return DB_OK


cdef void connect_failed_with_gil(db_connection *con, object why) noexcept:
    """For a driver's connect: turn a ConnectError (or any exception) into the error record and messages."""
    cdef bytes message, sqlstate
    number = getattr(why, "number", 0)
    message = str(why).encode("utf-8", "replace")
    sqlstate = getattr(why, "sqlstate", "HY000").encode("ascii", "replace").ljust(5, b"0")
    lines = getattr(why, "lines", ()) or (f"{type(why).__name__}: {why}",)
    db_set_error(con, number, sqlstate, message, len(message))
    if con.say_why:
        for line in lines:
            message = line.encode("utf-8", "replace")
            sb_log(LOG_FATAL, message)


cdef sql_driver *db_use(db_driver *d) noexcept nogil:
    """The driver for Lua. What is to be traced has to be seen."""
    global log_verbosity
    if d.trace:
        log_verbosity = LOG_DEBUG
    return &d.pub


cdef public sql_driver *db_create(const char *name) noexcept nogil:
    """The driver of that name, or of --db-driver for NULL; NULL after a message if there is none."""
    cdef int i
    cdef char line[256]
    sb_set_flag(&across.sql_used, 1)
    if name == NULL:
        if default_driver == NULL:
            sb_log(LOG_FATAL, no_default_driver)
            return NULL
        return db_use(default_driver)
    for i in range(driver_count):
        if strcmp(drivers[i].key, name) == 0:
            return db_use(&drivers[i])
    snprintf(line, sizeof(line), "invalid database driver name: '%s'", name)
    sb_log(LOG_FATAL, line)
    return NULL


cdef db_connection *db_connection_new(db_driver *driver, int thread_id) noexcept nogil:
    """A connection that is not yet made; NULL without memory."""
    cdef db_connection *con
    global free_connections
    pthread_mutex_lock(&db_mutex)
    con = free_connections
    if con != NULL:
        free_connections = con.next_free
    pthread_mutex_unlock(&db_mutex)
    # Never given back to the allocator: a script may hold a result longer than its connection.
    if con == NULL:
        con = <db_connection *>malloc(sizeof(db_connection))
        if con == NULL:
            return NULL
    memset(con, 0, sizeof(db_connection))
    con.driver = driver
    con.pub.driver = &driver.pub
    con.pub.thread_id = thread_id
    con.slot = <uint32_t>sb_fetch_add(&across.connections, 1)
    con.result.connection = con
    con.refs = 1
    return con


cdef public sql_connection *db_connection_create(sql_driver *driver, int thread_id) noexcept nogil:
    """Connect; NULL after a message if that fails."""
    cdef db_connection *con = db_connection_new(<db_driver *>driver, thread_id)
    if con != NULL and db_connect(con, True) != DB_OK:
        db_unref(con)
        con = NULL
    return <sql_connection *>con


cdef void db_unref(db_connection *con) noexcept nogil:
    global free_connections
    con.refs -= 1
    if con.refs > 0:
        return
    bulk_free(con)
    free(con.values)
    con.values = NULL
    pthread_mutex_lock(&db_mutex)
    con.next_free = free_connections
    free_connections = con
    pthread_mutex_unlock(&db_mutex)


cdef void db_drop_session(db_connection *con) noexcept nogil:
    db_free_result(con)
    if con.bulk != NULL:
        con.bulk.under_way = False
        con.bulk.load.state = LOAD_NONE
    if con.session != NULL:
        forget_fd(con.driver.ops.wait_fd(con))
        on_carrier(db_disconnect, con)
        con.session = NULL
    release_garbage(con)


cdef public void db_connection_release(sql_connection *handle) noexcept nogil:
    """The Lua object is gone."""
    db_connection_settle(handle)
    db_drop_session(<db_connection *>handle)
    db_unref(<db_connection *>handle)


# -- results

cdef void db_free_result(db_connection *con) noexcept nogil:
    if con.result_open:
        con.result_open = False
        con.driver.ops.free_result(con)


cdef sql_result *db_take_outcome(db_connection *con, sql_statement *stmt) noexcept nogil:
    """Count a statement that succeeded by its outcome; its result set, or NULL."""
    cdef int counter = <int>SB_CNT_OTHER
    if con.has_rows:
        counter = <int>SB_CNT_READ
    elif con.affected > 0:
        counter = <int>SB_CNT_WRITE
    count(worker_of(con.pub.thread_id), counter, 1)
    con.result.pub.counter = counter
    con.result.pub.statement = stmt
    con.result_open = True
    return &con.result.pub if con.has_rows else NULL


cdef bint db_ready(db_connection *con) noexcept nogil:
    """Make the connection ready for the next operation: its result slot empty, its error record clear."""
    if con.session == NULL:
        db_api_error(con, b"attempt to use an already closed connection")
        return False
    if db_is_waiting(con) or con.bulk != NULL and con.bulk.under_way and bulk_settle(con) != 0:
        return False
    release_garbage(con)
    db_free_result(con)
    db_clear_error(con)
    con.has_rows = False
    con.affected = 0
    return True


cdef int db_receive(db_connection *con) noexcept nogil:
    """The second phase, waiting as long as it takes."""
    cdef int rc = con.driver.ops.receive(con)
    while rc == DB_AGAIN:
        wait_for(con.driver.ops.wait_fd(con), POLLIN)
        rc = con.driver.ops.receive(con)
    return rc


cdef int db_run_query(db_connection *con, const char *query, size_t length, db_statement *emulated) noexcept nogil:
    """Send a text and receive its outcome; `emulated` is the statement that it stands for, or NULL."""
    cdef worker *w = worker_of(con.pub.thread_id)
    cdef uint64_t began_ns = call_begin()
    cdef int rc
    con.operation = DB_OP_QUERY
    con.statement = NULL
    statement_begins(w, query, length, NULL)
    rc = con.driver.ops.send_query(con, query, length)
    worker_settle(w)
    if rc == DB_OK:
        rc = db_receive(con)
    statement_ended(w)
    if began_ns:
        call_end(con, emulated, query, length, began_ns, rc == DB_OK)
    return rc


cdef public sql_result *db_query(sql_connection *handle, const char *query, size_t length) noexcept nogil:
    cdef db_connection *con = <db_connection *>handle
    if not db_ready(con) or db_would_be_cut(con, query, length):
        return NULL
    if db_run_query(con, query, length, NULL) != DB_OK:
        db_failed(con, query, length)
        return NULL
    return db_take_outcome(con, NULL)


cdef db_result no_result            # empty, and of no connection


cdef public sql_result *db_no_result() noexcept nogil:
    """What Lua shows for a statement without a result set: a result that can be asked and is empty."""
    return &no_result.pub


cdef inline bint result_is_open(sql_result *rs) noexcept nogil:
    cdef db_connection *con
    if rs == NULL:
        return False
    con = (<db_result *>rs).connection
    return con != NULL and con.result_open


cdef public cbool db_more_results(sql_connection *handle) noexcept nogil:
    cdef db_connection *con = <db_connection *>handle
    return con.session != NULL and con.result_open and con.driver.ops.more_results(con)


cdef public sql_result *db_next_result(sql_connection *handle) noexcept nogil:
    """The next result of the last operation, counted as one more statement; NULL at the end."""
    cdef db_connection *con = <db_connection *>handle
    if con.session == NULL:
        db_api_error(con, b"attempt to use an already closed connection")
        return NULL
    db_clear_error(con)
    con.has_rows = False
    con.affected = 0
    if not con.result_open or con.driver.ops.next_result(con) != DB_OK:
        return NULL
    return db_take_outcome(con, con.result.pub.statement)


cdef public sql_row *db_fetch_row(sql_result *rs) noexcept nogil:
    """The next row; its values are valid until the next call on the connection. NULL at the end."""
    cdef db_connection *con
    cdef void *grown
    if not result_is_open(rs):
        sb_log(LOG_ALERT, b"attempt to fetch row from an invalid result set")
        return NULL
    if rs.nrows == 0 or rs.nfields == 0:
        sb_log(LOG_ALERT, b"attempt to fetch row from an empty result set")
        return NULL
    con = (<db_result *>rs).connection
    if con.values_size < rs.nfields:
        grown = realloc(con.values, rs.nfields * sizeof(sql_value))
        if grown == NULL:
            return NULL
        con.values = <sql_value *>grown
        con.values_size = rs.nfields
    if not con.driver.ops.fetch_row(con, con.values):
        return NULL
    con.row.values = con.values
    return &con.row


cdef public int db_free_results(sql_result *rs) noexcept nogil:
    if not result_is_open(rs):
        sb_log(LOG_ALERT, b"attempt to free an invalid result set")
        return 1
    db_free_result((<db_result *>rs).connection)
    return 0


# -- set-up, from Python

cdef void add_driver(const char *key, db_ops *ops) noexcept:
    global driver_count
    drivers[driver_count].key = key
    drivers[driver_count].pub.name_of_dialect = key
    drivers[driver_count].ops = ops
    drivers[driver_count].own_ops = ops
    driver_count += 1


cdef db_driver *driver_of(str key) except NULL:
    cdef int i
    for i in range(driver_count):
        if (<bytes>drivers[i].key).decode() == key:
            return &drivers[i]
    raise KeyError(key)


_kept = []                      # strings that drivers point to


def driver_setup(str key, *, connect=None, str dialect="", bint emulate=False, ignore=(),
                 bint dry_run=False, bint trace=False) -> None:
    """Configure a driver for the coming commands.

    connect(slot) is called with the GIL for every new connection. dialect is what drv:name() tells. ignore
    lists the error numbers and SQLSTATEs that restart an event, or "all". With trace, the log becomes as verbose as
    can be once a script uses the driver."""
    cdef db_driver *d = driver_of(key)
    cdef bytes text
    _connectors[key] = connect
    text = (dialect or key).encode()
    _kept.append(text)
    d.pub.name_of_dialect = text
    d.emulate = emulate
    d.trace = trace
    d.backslash_escapes = key == "mysql" or (key == "dbapi" and dialect == "mysql")
    d.ends_at_nul = key == "pgsql" or key == "sqlite"
    d.draws_for_names = key == "pgsql"
    d.ignore_all = "all" in ignore
    d.n_ignored = 0
    for entry in ignore:
        text = entry.encode()
        if entry == "all":
            continue
        if len(text) > 7 or d.n_ignored == DB_MAX_IGNORED:
            raise ValueError(entry)
        memcpy(d.ignored[d.n_ignored], <const char *>text, len(text) + 1)
        d.n_ignored += 1
    d.ops = &null_ops if dry_run else d.own_ops


def db_setup(str driver, double reconnect_timeout_s, bytes problem=b"No DB drivers available", *,
             bint copy=False) -> None:
    """The driver of db_create(NULL); None for none, and `problem` is what a script is told then. `copy` is
    --bulk=copy. Forgets that SQL was used, and with what trouble."""
    global default_driver, no_default_driver, reconnect_timeout_ns
    load_setup(copy)
    default_driver = driver_of(driver) if driver is not None else NULL
    _kept.append(problem)
    no_default_driver = problem
    reconnect_timeout_ns = <uint64_t>(reconnect_timeout_s * 1e9)
    across.sql_used = 0
    across.table_trouble = DB_TROUBLE_NONE
    across.connections = 0
    across.refused.times = across.bulk_ignored.times = across.bulk_rows_lost = 0
