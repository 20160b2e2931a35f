# A session of the SQLite driver: options, opening and closing a database, waiting for a lock, errors, results.
from libc.errno cimport ENOENT
from libc.string cimport strerror, strrchr

cdef extern from "<unistd.h>" nogil:
    int access(const char *, int)
    int W_OK

cdef enum sqlite_dialect:
    SQLITE_SPEAKS_MYSQL, SQLITE_SPEAKS_PGSQL, SQLITE_SPEAKS_SQLITE

cdef enum sqlite_begin_mode:
    SQLITE_BEGIN_AUTO, SQLITE_BEGIN_DEFERRED, SQLITE_BEGIN_IMMEDIATE

cdef enum:
    SQLITE_OPEN_FLAGS = 0x8046          # READWRITE, CREATE, URI; NOMUTEX: a connection is one thread's
    SQLITE_ROOM = 16                    # of arrays at first, in elements
    SQLITE_SHORTEST_PAUSE_NS = 50000
    SQLITE_PAUSE_DOUBLINGS = 6          # to 3.2 ms
    SQLITE_HUNGER_NS = 20000000
    SQLITE_COURTESY = 100               # shortest pauses
    SQLITE_GRACE_NS = 200000000         # for an event that waits for a lock when the run is over
    SQLITE_KEPT_RESULT = 1048576        # what is larger is given back after use
    SQLITE_MEMDB_VERSION = 3036000      # the first that shares a database of the memdb VFS

cdef size_t SQLITE_NULL = <size_t>-1    # where the text of a NULL begins

# Options, the same for all connections.
cdef struct sqlite_options:
    const char *database        # as it was typed
    bint in_memory
    const char *journal         # the mode, in lower case
    const char *synchronous     # PRAGMA
    uint64_t busy_timeout_ns
    sqlite_begin_mode begin
    sqlite_dialect dialect

# What a statement left behind.
cdef struct sqlite_outcome:
    size_t first_cell           # of its rows
    uint32_t nrows
    uint32_t nfields
    uint64_t affected

cdef struct sqlite_cell:
    size_t start                # in the session's text, or SQLITE_NULL
    size_t length

# What the driver says in its own words, each prepared at its first use.
cdef enum sqlite_phrase:
    SQLITE_SAY_BEGIN, SQLITE_SAY_BEGIN_IMMEDIATE, SQLITE_SAY_COMMIT, SQLITE_SAY_ROLLBACK, SQLITE_PHRASES

cdef struct sqlite_session:
    sqlite3 *db
    db_connection *con
    sqlite3_stmt *phrases[SQLITE_PHRASES]
    const char *failed_call     # for the report of an error
    bint patient                # the failure of the operation would not start an event again but end the program
    int pauses                  # so far, for locks that the operation has met
    uint64_t patience_ns        # until when it waits for them
    uint64_t hungry_ns          # from when on it goes first
    bint hurried                # whether the end of the run has been seen, or is of no concern
    bint has_read               # the transaction
    bint has_written
    sqlite_outcome *outcomes    # of the operation
    size_t n_outcomes
    size_t outcomes_room
    size_t current              # the one in the connection's result slot
    uint32_t next_row           # of it
    sqlite_cell *cells
    size_t n_cells
    size_t cells_room
    char *text
    size_t text_length
    size_t text_room

cdef sqlite_options sqlite_opt
# By worker: whether a transaction of one of its connections has read first and then written.
cdef char sqlite_upgrades[65536]
cdef uint64_t sqlite_first_in_line = 0  # the session that writers of this process give way to
cdef sqlite3 *sqlite_anchor = NULL      # keeps the database in memory alive when nobody is connected
cdef pthread_mutex_t sqlite_connect_mutex       # the journal mode can only be changed by one who is alone
pthread_mutex_init(&sqlite_connect_mutex, NULL)


cdef inline char *sqlite_upgrades_of(sqlite_session *s) noexcept nogil:
    return &sqlite_upgrades[s.con.pub.thread_id & 0xFFFF]


# -- errors

cdef const char *sqlite_message(sqlite_session *s, int rc) noexcept nogil:
    """SQLite's words for a result code."""
    # Not the database's own if they tell of something else, or there is no database.
    if s.db != NULL and ((sqlite.extended_errcode(s.db) ^ rc) & 0xFF) == 0:
        return sqlite.errmsg(s.db)
    return sqlite.errstr(rc)


cdef int sqlite_set_error(sqlite_session *s, int number, const char *message) noexcept nogil:
    """Fill the error record; DB_FAILED."""
    cdef const char *sqlstate = b"HY000"
    if number == SQLITE_BUSY or number == SQLITE_LOCKED:
        sqlstate = b"40001"
    elif number == SQLITE_CONSTRAINT:
        sqlstate = b"23000"
    db_set_error(s.con, number, sqlstate, message, strlen(message))
    return DB_FAILED


cdef int sqlite_failed(sqlite_session *s, int rc, const char *call) noexcept nogil:
    """Fill the error record with what a call of SQLite's has returned; DB_FAILED."""
    cdef int number = rc & 0xFF
    cdef int extended = sqlite.extended_errcode(s.db)
    cdef const char *message = sqlite_message(s, rc)
    cdef char text[1024]
    # Of these two the extended code says more than the message does.
    if (number == SQLITE_BUSY or number == SQLITE_IOERR) and extended != number and (extended & 0xFF) == number:
        snprintf(text, sizeof(text), "%s, extended code %d", message, extended)
        message = text
    s.failed_call = call
    return sqlite_set_error(s, number, message)


cdef int sqlite_no_memory(sqlite_session *s) noexcept nogil:
    s.failed_call = b"malloc()"
    return sqlite_set_error(s, SQLITE_NOMEM, b"out of memory")


# -- locks

cdef int sqlite_wait_for_lock(void *session, int ignored) noexcept nogil:
    """Pause; 0 if it is time to give up. SQLite calls it whenever it finds a lock."""
    cdef sqlite_session *s = <sqlite_session *>session
    cdef uint64_t now = clock_ns(), pause_ns = SQLITE_SHORTEST_PAUSE_NS
    if s.pauses == 0:
        s.patience_ns = now + sqlite_opt.busy_timeout_ns
        # The moment in which another thread opens the database and finds its log in order is not a lock.
        if s.patient and s.patience_ns < now + SQLITE_GRACE_NS:
            s.patience_ns = now + SQLITE_GRACE_NS
        s.hungry_ns = now + SQLITE_HUNGER_NS
        s.hurried = s.patient
    # An event does not hold up the end of the run, but most locks are gone in a moment.
    if not s.hurried and not sb_event_may_restart(s.con.pub.thread_id):
        s.hurried = True
        if s.patience_ns > now + SQLITE_GRACE_NS:
            s.patience_ns = now + SQLITE_GRACE_NS
    if now >= s.patience_ns:
        sqlite_leave_line(s)
        return 0
    if now > s.hungry_ns and sb_load(&sqlite_first_in_line) == 0:
        sb_store(&sqlite_first_in_line, <uint64_t><size_t>s)
    if sb_load(&sqlite_first_in_line) != <uint64_t><size_t>s:
        pause_ns <<= s.pauses if s.pauses < SQLITE_PAUSE_DOUBLINGS else SQLITE_PAUSE_DOUBLINGS
    s.pauses += 1
    sleep_ns(pause_ns if pause_ns < s.patience_ns - now else s.patience_ns - now)
    return 1


cdef void sqlite_leave_line(sqlite_session *s) noexcept nogil:
    if sb_load(&sqlite_first_in_line) == <uint64_t><size_t>s:
        sb_store(&sqlite_first_in_line, 0)


cdef void sqlite_give_way(sqlite_session *s) noexcept nogil:
    """Before a write: let the one pass that waits for too long. One who writes again and again would else keep
    the lock from all who look for it now and then."""
    cdef int pauses = SQLITE_COURTESY
    while pauses and sb_load(&sqlite_first_in_line) not in (0, <uint64_t><size_t>s):
        sleep_ns(SQLITE_SHORTEST_PAUSE_NS)
        pauses -= 1


# -- opening and closing

cdef int sqlite_ask(sqlite_session *s, const char *pragma, char *answer, size_t size) noexcept nogil:
    """Run a pragma; the first value of its answer, if any. A result code of SQLite."""
    cdef sqlite3_stmt *handle = NULL
    cdef int rc
    answer[0] = 0
    while True:
        rc = sqlite.prepare_v2(s.db, pragma, -1, &handle, NULL)
        if rc == SQLITE_OK:
            rc = sqlite.step(handle)
            if rc == SQLITE_ROW:
                snprintf(answer, size, "%s", sqlite.column_text(handle, 0))
            if rc == SQLITE_ROW or rc == SQLITE_DONE:
                rc = SQLITE_OK
        if (rc & 0xFF) != SQLITE_BUSY or not sqlite_wait_for_lock(s, 0):
            break
        # A change of the journal mode does not wait by itself.
        sqlite.finalize(handle)
    sqlite.finalize(handle)
    return rc


cdef const char *sqlite_file_name() noexcept nogil:
    if not sqlite_opt.in_memory:
        return sqlite_opt.database
    if sqlite.libversion_number() >= SQLITE_MEMDB_VERSION:
        return b"file:/sysbench?vfs=memdb"
    return b"file:sysbench?mode=memory&cache=shared"


cdef int sqlite_raise_anchor(sqlite_session *s) noexcept nogil:
    """Hold the database in memory open, and let it grow beyond the 1 GiB that it may have by default."""
    global sqlite_anchor
    cdef int64_t limit = <int64_t>1 << 46
    cdef int rc = sqlite.open_v2(sqlite_file_name(), &sqlite_anchor, SQLITE_OPEN_FLAGS, NULL)
    if rc == SQLITE_OK:
        sqlite.file_control(sqlite_anchor, b"main", SQLITE_FCNTL_SIZE_LIMIT, &limit)
    else:
        s.db = sqlite_anchor                # which has the message
        sqlite_anchor = NULL
    return rc


cdef int sqlite_system_error(sqlite_session *s) noexcept nogil:
    """Why the file system has not let the database be opened or created; 0 if it is not to blame."""
    cdef const char *file_name = strrchr(sqlite_opt.database, 47)
    cdef char folder[4096]
    cdef int error = sqlite.system_errno(s.db)
    cdef int prefix = 0
    if error == ENOENT and strncmp(sqlite_opt.database, b"file:", 5) != 0:
        # Where SQLite may not create a file, it says only that there is none.
        if file_name != NULL:
            prefix = <int>(file_name + 1 - sqlite_opt.database)
        snprintf(folder, sizeof(folder), "%.*s.", prefix, sqlite_opt.database)
        if access(folder, W_OK) != 0:
            return errno
    return error


cdef sqlite_session *sqlite_refuse(sqlite_session *s, int rc, const char *problem) noexcept nogil:
    """Close what is open and say why: `problem`, followed by SQLite's words for rc if that is an error; NULL."""
    cdef db_connection *con = s.con
    cdef char line[1200]
    cdef char reason[600]
    cdef int system_error = 0
    if rc == SQLITE_OK:
        snprintf(reason, sizeof(reason), "%s", problem)
    elif s.db != NULL and sqlite.extended_errcode(s.db) == SQLITE_READONLY_DIRECTORY:
        snprintf(reason, sizeof(reason), "%sits folder cannot be written to", problem)
    else:
        if s.db != NULL and (rc & 0xFF) == SQLITE_CANTOPEN:
            system_error = sqlite_system_error(s)
        if system_error:
            snprintf(reason, sizeof(reason), "%s%s (%s)", problem, sqlite_message(s, rc), strerror(system_error))
        else:
            snprintf(reason, sizeof(reason), "%s%s", problem, sqlite_message(s, rc))
    snprintf(line, sizeof(line), "unable to open SQLite database '%s': %s", sqlite_opt.database, <char *>reason)
    db_set_error(con, rc & 0xFF, b"08001", reason, strlen(reason))
    if con.say_why:
        sb_log(LOG_FATAL, line)
    sqlite_close(s)
    return NULL


cdef sqlite_session *sqlite_open(db_connection *con) noexcept nogil:
    """Open the database and apply the options; NULL after a message if that fails."""
    cdef sqlite_session *s = <sqlite_session *>calloc(1, sizeof(sqlite_session))
    cdef char mode[16]
    cdef char change[64]
    cdef int rc = SQLITE_OK
    if s == NULL:
        return NULL
    s.con = con
    sqlite_start(s, False)
    if sqlite_opt.in_memory and sqlite_anchor == NULL:
        rc = sqlite_raise_anchor(s)
    if rc == SQLITE_OK:
        rc = sqlite.open_v2(sqlite_file_name(), &s.db, SQLITE_OPEN_FLAGS, NULL)
    if rc != SQLITE_OK:
        return sqlite_refuse(s, rc, b"")
    sqlite.busy_handler(s.db, sqlite_wait_for_lock, s)
    if sqlite_opt.in_memory:
        # Pages are a copy away: a large cache a connection would only hold the database many times over.
        rc = sqlite_ask(s, b"PRAGMA cache_size=-64", mode, sizeof(mode))
        return s if rc == SQLITE_OK else sqlite_refuse(s, rc, b"")
    # This reads the schema, and so finds out whether the file is a database.
    rc = sqlite_ask(s, b"PRAGMA journal_mode", mode, sizeof(mode))
    if rc != SQLITE_OK:
        return sqlite_refuse(s, rc, b"")
    if sqlite.db_readonly(s.db, b"main") == 1:
        if strncmp(sqlite_opt.database, b"file:", 5) != 0:
            return sqlite_refuse(s, 0, b"it cannot be written to (file:NAME?mode=ro opens it for reading)")
    elif strcmp(mode, sqlite_opt.journal) != 0:
        snprintf(change, sizeof(change), "PRAGMA journal_mode=%s", sqlite_opt.journal)
        rc = sqlite_ask(s, change, mode, sizeof(mode))
        if rc != SQLITE_OK:
            return sqlite_refuse(s, rc, b"cannot change its journal mode: ")
        if strcmp(mode, sqlite_opt.journal) != 0:
            return sqlite_refuse(s, 0, b"it does not take the journal mode of --sqlite-journal")
    rc = sqlite_ask(s, sqlite_opt.synchronous, mode, sizeof(mode))
    return s if rc == SQLITE_OK else sqlite_refuse(s, rc, b"")


cdef void sqlite_close(sqlite_session *s) noexcept nogil:
    cdef sqlite3_stmt *handle
    sqlite_leave_line(s)
    if s.db != NULL:
        # Also those of scripts, which will be told that they are not live any more.
        handle = sqlite.next_stmt(s.db, NULL)
        while handle != NULL:
            sqlite.finalize(handle)
            handle = sqlite.next_stmt(s.db, NULL)
        sqlite.close(s.db)
    free(s.outcomes)
    free(s.cells)
    free(s.text)
    free(s)


# -- operations and their results

cdef void sqlite_start(sqlite_session *s, bint patient) noexcept nogil:
    """Begin an operation: no results, no lock met. Outside of events it is patient anyway."""
    s.patient = patient or worker_of(s.con.pub.thread_id).event_start_ns == 0
    s.pauses = 0
    s.n_outcomes = s.n_cells = s.text_length = 0


cdef sqlite_outcome *sqlite_new_outcome(sqlite_session *s) noexcept nogil:
    """The outcome of one more statement: so far no rows, none affected. NULL without memory."""
    cdef sqlite_outcome *outcome
    if not make_room(<void **>&s.outcomes, &s.outcomes_room, s.n_outcomes + 1, sizeof(sqlite_outcome), SQLITE_ROOM):
        return NULL
    outcome = &s.outcomes[s.n_outcomes]
    s.n_outcomes += 1
    memset(outcome, 0, sizeof(sqlite_outcome))
    outcome.first_cell = s.n_cells
    return outcome


cdef bint sqlite_keep_row(sqlite_session *s, sqlite_outcome *outcome, sqlite3_stmt *handle) noexcept nogil:
    """Copy the current row as text; False without memory."""
    cdef uint32_t i
    cdef const char *text
    cdef size_t length
    if not make_room(<void **>&s.cells, &s.cells_room, s.n_cells + outcome.nfields, sizeof(sqlite_cell),
                     SQLITE_ROOM):
        return False
    for i in range(outcome.nfields):
        text = sqlite.column_text(handle, <int>i)
        s.cells[s.n_cells].start = s.text_length if text != NULL else SQLITE_NULL
        length = <size_t>sqlite.column_bytes(handle, <int>i)
        s.cells[s.n_cells].length = length
        s.n_cells += 1
        if text != NULL:
            # With the zero that SQLite puts behind every text.
            if not make_room(<void **>&s.text, &s.text_room, s.text_length + length + 1, 1, SQLITE_ROOM):
                return False
            memcpy(s.text + s.text_length, text, length + 1)
            s.text_length += length + 1
    outcome.nrows += 1
    return True


cdef void sqlite_hand_over(sqlite_session *s, size_t number) noexcept nogil:
    """Make an outcome the connection's."""
    cdef sqlite_outcome *outcome = &s.outcomes[number]
    s.current = number
    s.next_row = 0
    s.con.has_rows = outcome.nfields > 0
    s.con.affected = outcome.affected
    s.con.result.pub.nrows = outcome.nrows
    s.con.result.pub.nfields = outcome.nfields


cdef void sqlite_forget_results(sqlite_session *s) noexcept nogil:
    """Give large buffers back; small ones serve the next operation."""
    if s.text_room > SQLITE_KEPT_RESULT or s.cells_room * sizeof(sqlite_cell) > SQLITE_KEPT_RESULT:
        free(s.text)
        free(s.cells)
        s.text = NULL
        s.cells = NULL
        s.text_room = s.cells_room = 0
    s.n_outcomes = s.n_cells = s.text_length = 0


# -- set-up, from Python

def sqlite_setup(bytes database not None, str journal, str synchronous, int busy_timeout_ms, str begin, str dialect,
                 translate, loosen) -> None:
    """Options of the coming connections, in the words of the --sqlite-* options.

    translate(statement) and loosen(statement) rewrite statements; they give None for what stays as it is."""
    global sqlite_translate, sqlite_loosen
    cdef bytes mode = journal.encode()
    cdef bytes pragma = f"PRAGMA synchronous={synchronous}".encode()
    _kept.extend((database, mode, pragma))
    sqlite_opt.database = database
    sqlite_opt.in_memory = database == b":memory:"
    sqlite_opt.journal = mode
    sqlite_opt.synchronous = pragma
    sqlite_opt.busy_timeout_ns = <uint64_t>busy_timeout_ms * 1000000
    sqlite_opt.begin = <sqlite_begin_mode>("auto", "deferred", "immediate").index(begin)
    sqlite_opt.dialect = <sqlite_dialect>("mysql", "pgsql", "sqlite").index(dialect)
    sqlite_translate, sqlite_loosen = translate, loosen
    memset(sqlite_upgrades, 0, sizeof(sqlite_upgrades))
