# The SQLite driver. There is nobody to wait for, so a statement runs in the send phase, and receive only hands
# over what it has left behind.

include "sqlite_api.pxi"
include "sqlite_session.pxi"
include "sqlite_run.pxi"


# -- the operations of the driver table

cdef int sqlite_connect(db_connection *con) noexcept nogil:
    cdef sqlite_session *s = NULL
    pthread_mutex_lock(&sqlite_connect_mutex)
    if sqlite_loaded or sqlite_load_with_gil(con):
        s = sqlite_open(con)
    pthread_mutex_unlock(&sqlite_connect_mutex)
    con.session = s
    return DB_OK if s != NULL else DB_FAILED


cdef void sqlite_disconnect(db_connection *con) noexcept nogil:
    sqlite_close(<sqlite_session *>con.session)


cdef int sqlite_send_query(db_connection *con, const char *query, size_t length) noexcept nogil:
    cdef sqlite_session *s = <sqlite_session *>con.session
    # A bulk insert that fails ends the program, whatever the class of its error.
    sqlite_start(s, con.bulk != NULL and query == con.bulk.sent)
    if sqlite_run_text(s, query, length, True) != DB_OK:
        return DB_FAILED
    # Nothing but comments: nothing has happened.
    return DB_OK if s.n_outcomes or sqlite_new_outcome(s) != NULL else sqlite_no_memory(s)


cdef int sqlite_send_prepare(db_statement *stmt) noexcept nogil:
    cdef sqlite_session *s = <sqlite_session *>stmt.connection.session
    sqlite_start(s, False)
    return sqlite_prepare(s, stmt)


cdef int sqlite_send_execute(db_statement *stmt) noexcept nogil:
    cdef sqlite_session *s = <sqlite_session *>stmt.connection.session
    sqlite_start(s, False)
    return sqlite_execute(s, stmt)


cdef int sqlite_receive(db_connection *con) noexcept nogil:
    if con.operation != DB_OP_PREPARE:
        sqlite_hand_over(<sqlite_session *>con.session, 0)
    return DB_OK


cdef int sqlite_wait_fd(db_connection *con) noexcept nogil:
    return -1


cdef bint sqlite_more_results(db_connection *con) noexcept nogil:
    cdef sqlite_session *s = <sqlite_session *>con.session
    return s.current + 1 < s.n_outcomes


cdef int sqlite_next_result(db_connection *con) noexcept nogil:
    cdef sqlite_session *s = <sqlite_session *>con.session
    if s.current + 1 >= s.n_outcomes:
        return DB_FAILED
    sqlite_hand_over(s, s.current + 1)
    return DB_OK


cdef bint sqlite_fetch_row(db_connection *con, sql_value *values) noexcept nogil:
    cdef sqlite_session *s = <sqlite_session *>con.session
    cdef sqlite_outcome *outcome = &s.outcomes[s.current]
    cdef sqlite_cell *cell
    cdef uint32_t i
    if s.next_row >= outcome.nrows:
        return False
    cell = &s.cells[outcome.first_cell + <size_t>s.next_row * outcome.nfields]
    s.next_row += 1
    for i in range(outcome.nfields):
        values[i].buffer = s.text + cell[i].start if cell[i].start != SQLITE_NULL else NULL
        values[i].length = cell[i].length
    return True


cdef void sqlite_free_result(db_connection *con) noexcept nogil:
    sqlite_forget_results(<sqlite_session *>con.session)


cdef void sqlite_close_statement(db_statement *stmt, bint live) noexcept nogil:
    sqlite_drop_statement(stmt, live)


cdef int sqlite_rollback(db_connection *con) noexcept nogil:
    cdef sqlite_session *s = <sqlite_session *>con.session
    if not sqlite.get_autocommit(s.db):
        sqlite.execute(s.db, b"ROLLBACK", NULL, NULL, NULL)
    return DB_OK


cdef void sqlite_report(db_connection *con, db_operation operation, const char *query, size_t length) noexcept nogil:
    cdef char line[2400]
    cdef int shown = 1000 if length > 1000 else <int>length
    snprintf(line, sizeof(line), "%s returned error %d (%s) for query '%.*s%s'",
             (<sqlite_session *>con.session).failed_call, con.pub.sql_errno, con.pub.sql_errmsg, shown, query,
             b"..." if length > 1000 else b"")
    sb_log(LOG_FATAL, line)


cdef db_ops sqlite_ops
sqlite_ops.connect = sqlite_connect
sqlite_ops.disconnect = sqlite_disconnect
sqlite_ops.send_query = sqlite_send_query
sqlite_ops.send_prepare = sqlite_send_prepare
sqlite_ops.send_execute = sqlite_send_execute
sqlite_ops.receive = sqlite_receive
sqlite_ops.wait_fd = sqlite_wait_fd
sqlite_ops.next_result = sqlite_next_result
sqlite_ops.more_results = sqlite_more_results
sqlite_ops.fetch_row = sqlite_fetch_row
sqlite_ops.free_result = sqlite_free_result
sqlite_ops.close_statement = sqlite_close_statement
sqlite_ops.rollback = sqlite_rollback
sqlite_ops.report = sqlite_report
sqlite_ops.loads = NULL
