# One policy for all drivers: what is an error, which errors restart an event, and what follows a lost connection.

# What the last fatal error was about, if there is a way out to be named.
cdef enum db_trouble:
    DB_TROUBLE_NONE, DB_TROUBLE_TABLE_EXISTS, DB_TROUBLE_TABLE_MISSING


cdef bint db_is_ignored(db_connection *con) noexcept nogil:
    cdef db_driver *d = con.driver
    cdef char number[16]
    cdef int i
    if d.ignore_all or con.restart:
        return True
    snprintf(number, sizeof(number), "%d", con.pub.sql_errno)
    for i in range(d.n_ignored):
        if strcmp(d.ignored[i], con.sqlstate) == 0:
            return True
        if con.pub.sql_errno != 0 and strcmp(d.ignored[i], number) == 0:
            return True
    return False


cdef bint db_would_be_cut(db_connection *con, const char *text, size_t length) noexcept nogil:
    """Whether the driver would not send all of the text; then that is the error of the operation."""
    cdef const char *nul = <const char *>memchr(text, 0, length) if con.driver.ends_at_nul else NULL
    cdef char message[400]
    if nul == NULL:
        return False
    snprintf(message, sizeof(message), "a statement for %s cannot have a NUL byte, as behind '%.*s%s'", con.driver.key,
             200, text, <const char *>(b"..." if nul - text > 200 else b""))
    # 22021 is the SQLSTATE of a character that cannot be.
    db_set_error(con, 0, b"22021", message, strlen(message))
    con.pub.error = DB_ERROR_FATAL
    count(worker_of(con.pub.thread_id), <int>SB_CNT_ERROR, 1)
    sb_log(LOG_FATAL, message)
    return True


cdef db_trouble trouble_of(db_connection *con) noexcept nogil:
    """By the SQLSTATEs of MySQL and PostgreSQL; SQLite has only its messages."""
    if strcmp(con.sqlstate, b"42S01") == 0 or strcmp(con.sqlstate, b"42P07") == 0:
        return DB_TROUBLE_TABLE_EXISTS
    if strcmp(con.sqlstate, b"42S02") == 0 or strcmp(con.sqlstate, b"42P01") == 0:
        return DB_TROUBLE_TABLE_MISSING
    if strcmp(con.driver.key, b"sqlite") == 0:
        if strncmp(con.message, b"no such table:", 14) == 0:
            return DB_TROUBLE_TABLE_MISSING
        if strncmp(con.message, b"table ", 6) == 0 and strstr(con.message, b" already exists") != NULL:
            return DB_TROUBLE_TABLE_EXISTS
    return DB_TROUBLE_NONE


cdef bint is_told(db_connection *con, db_trouble trouble) noexcept nogil:
    """Whether a worker's connection has told already that a table is missing, and this is one more statement that needs
    one: where a script goes on after a failed prepare, they are as many as it has statements and tables."""
    cdef bint told = con.missing_told
    con.missing_told = con.operation == DB_OP_PREPARE and trouble == DB_TROUBLE_TABLE_MISSING
    return log_collapse_fatal and told and con.missing_told


cdef void db_failed(db_connection *con, const char *query, size_t length) noexcept nogil:
    """Classify the error in the record, count it, and do what its class asks for."""
    cdef char line[1200]
    cdef db_trouble trouble
    if con.pub.sql_state == NULL:
        con.pub.error = DB_ERROR_FATAL          # misuse or an unusual reply: `SQL API error`
        error_note(con)
        count(worker_of(con.pub.thread_id), <int>SB_CNT_ERROR, 1)
        return
    if not db_is_ignored(con):
        con.pub.error = DB_ERROR_FATAL
        error_note(con)
        count(worker_of(con.pub.thread_id), <int>SB_CNT_ERROR, 1)
        trouble = trouble_of(con)
        if not is_told(con, trouble):
            con.driver.ops.report(con, con.operation, query, length)
        sb_set_flag(&across.table_trouble, trouble)
        if con.lost:
            db_drop_session_keeping_error(con)
        return
    con.pub.error = DB_ERROR_IGNORABLE
    error_note(con)
    if con.lost:
        db_recover(con)
        return
    count(worker_of(con.pub.thread_id), <int>SB_CNT_ERROR, 1)
    if log_verbosity >= LOG_DEBUG:
        snprintf(line, sizeof(line), "Ignoring error %d %s, ", con.pub.sql_errno, con.message)
        sb_log(LOG_DEBUG, line)
    if con.driver.ops.rollback != NULL and con.driver.ops.rollback(con) != DB_OK and con.lost:
        db_recover(con)


cdef void db_drop_session_keeping_error(db_connection *con) noexcept nogil:
    # A session that is lost has nobody to say goodbye to; the record of why stays for the script.
    cdef int number = con.pub.sql_errno
    db_drop_session(con)
    con.pub.sql_errno = number


cdef void db_recover(db_connection *con) noexcept nogil:
    """Connect again until that succeeds, the run ends, or the patience of --db-reconnect-timeout does.

    The record keeps the error that was met, so that a script sees why its event starts again."""
    cdef int number = con.pub.sql_errno
    cdef char sqlstate[6]
    cdef char message[1024]
    cdef char line[1400]
    cdef uint64_t started = clock_ns()
    cdef uint64_t pause_ns = 1000000
    cdef worker *w = worker_of(con.pub.thread_id)
    memcpy(sqlstate, con.sqlstate, sizeof(sqlstate))
    memcpy(message, con.message, sizeof(message))
    sb_log(LOG_DEBUG, b"Reconnecting")
    db_drop_session(con)
    while db_connect(con, False) != DB_OK:
        if not run_goes_on() or clock_ns() - started > reconnect_timeout_ns:
            if not sb_flag(&run.stop):
                snprintf(line, sizeof(line), "the connection was lost (%s) and could not be made again: %s",
                         <char *>message, <char *>con.message)
                sb_log(LOG_FATAL, line)
                sb_run_fail()
            con.pub.error = DB_ERROR_FATAL
            error_recovered(con, False)
            return
        statement_begins(w, b"(waiting to connect anew)", 25, NULL)
        worker_sleep_ns(pause_ns)
        if pause_ns < 100000000:
            pause_ns *= 2
    sb_log(LOG_DEBUG, b"Reconnected")
    count(worker_of(con.pub.thread_id), <int>SB_CNT_RECONNECT, 1)
    db_set_error(con, number, sqlstate, message, strlen(message))
    con.pub.error = DB_ERROR_IGNORABLE
    error_recovered(con, True)


cdef bint db_is_waiting(db_connection *con) noexcept nogil:
    """Whether the connection waits for a reply, after a message: only a finalizer that another worker runs comes here
    then. Its error record is the waiting worker's."""
    if con.session == NULL or not another_waits_for(con.driver.ops.wait_fd(con)):
        return False
    sb_log(LOG_ALERT, b"what a finalizer asks of a connection is left out: the connection waits for a reply")
    return True


cdef public int db_connection_close(sql_connection *handle) noexcept nogil:
    """1 if a bulk insert was under way and has failed."""
    cdef db_connection *con = <db_connection *>handle
    cdef int rc
    if db_is_waiting(con):
        return 0
    db_clear_error(con)
    if con.session == NULL:
        sb_log(LOG_ALERT, b"attempt to close an already closed connection")
        return 0
    rc = db_connection_settle(handle)
    db_drop_session(con)
    return rc


cdef public int db_connection_reconnect(sql_connection *handle) noexcept nogil:
    """Close the session, if any, and connect anew with the same parameters. Counts one reconnect."""
    cdef db_connection *con = <db_connection *>handle
    if db_is_waiting(con) or db_connection_settle(handle) != 0:
        return 1
    db_drop_session(con)
    if db_connect(con, True) != DB_OK:
        error_note(con)
        count(worker_of(con.pub.thread_id), <int>SB_CNT_ERROR, 1)
        return 1
    count(worker_of(con.pub.thread_id), <int>SB_CNT_RECONNECT, 1)
    return 0


def db_used() -> bool:
    """Whether any script has asked for an SQL driver, so that reports have their SQL form."""
    return bool(sb_flag(&across.sql_used))


def db_table_trouble() -> str | None:
    """Whether a statement has failed because its table "exists" or is "missing"."""
    cdef int trouble = sb_flag(&across.table_trouble)
    return "exists" if trouble == DB_TROUBLE_TABLE_EXISTS else "missing" if trouble == DB_TROUBLE_TABLE_MISSING else None


cdef void note_first(db_connection *con, first_error *record) noexcept nogil:
    """Remember the connection's error, if it is the first of its kind since db_setup."""
    if sb_fetch_add(&record.times, 1) == 0:
        record.driver = con.driver - drivers
        record.number = con.pub.sql_errno
        memcpy(record.message, con.message, sizeof(con.message))


cdef tuple first_of(first_error *record):
    if not record.times:
        return "", 0, ""
    text = (<bytes><char *>record.message).decode("utf-8", "replace")
    return (<bytes>drivers[record.driver].key).decode(), record.number, text


def db_first_refusal() -> tuple:
    """(driver, error number, message) of the first connection that could not be made, once no worker runs any more;
    ("", 0, "") if all could."""
    return first_of(&across.refused)


def db_bulk_rows_lost() -> int:
    """How many rows were in bulk inserts that have failed since db_setup."""
    return sb_load(&across.bulk_rows_lost)


def db_first_ignored_bulk() -> tuple:
    """The same of the first bulk insert that has failed with an error that events would ignore."""
    return first_of(&across.bulk_ignored)
