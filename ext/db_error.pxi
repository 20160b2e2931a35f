# One policy for all drivers: which errors restart an event, and what happens when a connection is lost.

cdef bint db_is_ignored(db_connection *con) noexcept nogil:
    cdef db_driver *d = con.driver
    cdef char number[16]
    cdef int i
    if d.ignore_all:
        return True
    snprintf(number, sizeof(number), "%d", con.pub.sql_errno)
    for i in range(d.n_ignored):
        if strcmp(d.ignored[i], con.sqlstate) == 0:
            return True
        if con.pub.sql_errno != 0 and strcmp(d.ignored[i], number) == 0:
            return True
    return False


cdef void db_failed(db_connection *con, const char *query, size_t length) noexcept nogil:
    """Classify the error in the record, count it, and do what its class asks for."""
    cdef char line[1200]
    if con.pub.sql_state == NULL:
        con.pub.error = DB_ERROR_FATAL          # misuse or an unusual reply: `SQL API error`
        count(worker_of(con.pub.thread_id), <int>SB_CNT_ERROR, 1)
        return
    if not db_is_ignored(con):
        con.pub.error = DB_ERROR_FATAL
        count(worker_of(con.pub.thread_id), <int>SB_CNT_ERROR, 1)
        con.driver.ops.report(con, con.operation, query, length)
        if con.lost:
            db_drop_session_keeping_error(con)
        return
    con.pub.error = DB_ERROR_IGNORABLE
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
    memcpy(sqlstate, con.sqlstate, sizeof(sqlstate))
    memcpy(message, con.message, sizeof(message))
    sb_log(LOG_DEBUG, b"Reconnecting")
    db_drop_session(con)
    while db_connect(con, False) != DB_OK:
        if not sb_event_may_restart(con.pub.thread_id) or clock_ns() - started > reconnect_timeout_ns:
            if not sb_flag(&run.stop):
                snprintf(line, sizeof(line), "the connection was lost (%s) and could not be made again: %s",
                         <char *>message, <char *>con.message)
                sb_log(LOG_FATAL, line)
                sb_run_fail()
            con.pub.error = DB_ERROR_FATAL
            return
        worker_sleep_ns(pause_ns)
        if pause_ns < 100000000:
            pause_ns *= 2
    sb_log(LOG_DEBUG, b"Reconnected")
    count(worker_of(con.pub.thread_id), <int>SB_CNT_RECONNECT, 1)
    db_set_error(con, number, sqlstate, message, strlen(message))
    con.pub.error = DB_ERROR_IGNORABLE


cdef public int db_connection_reconnect(sql_connection *handle) noexcept nogil:
    """Close the session, if any, and connect anew with the same parameters. Counts one reconnect."""
    cdef db_connection *con = <db_connection *>handle
    db_drop_session(con)
    if db_connect(con, True) != DB_OK:
        count(worker_of(con.pub.thread_id), <int>SB_CNT_ERROR, 1)
        return 1
    count(worker_of(con.pub.thread_id), <int>SB_CNT_RECONNECT, 1)
    return 0
