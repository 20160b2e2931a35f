# Any database with a DB-API 2.0 module: an operation is a call of a Python object, with the interpreter lock, which a
# query takes once. It runs in the send phase; its outcomes are a list of (rows or None, number of columns, rows
# changed), which is kept until the next one.
from cpython.bytes cimport PyBytes_AS_STRING

cdef struct dbapi_session:
    void *session               # its Python object: execute, prepare, rollback, explain, close
    void *outcomes              # of the last statement, a list; NULL without
    Py_ssize_t n_outcomes
    Py_ssize_t current          # the one that is shown
    Py_ssize_t next_row
    void *shown                 # the texts of the row that is shown
    char name[64]               # of the module, for messages

cdef struct dbapi_statement:
    void *prepared              # its Python object: text, arguments


def split_statement(bytes text not None, bint backslash) -> list:
    """A statement as pieces (kind, text): "?" is a parameter, "quoted" a string, quoted identifier or comment,
    "code" the rest. `backslash` tells whether that escapes in strings, as in MySQL."""
    cdef const char *q = text
    cdef size_t length = len(text), at = 0, begin = 0, past
    pieces = []
    while at < length:
        past = at + 1 if q[at] == 63 else skip_literal(q, at, length, backslash)
        if past == at:
            at += 1
            continue
        if at > begin:
            pieces.append(("code", text[begin:at]))
        pieces.append(("?" if q[at] == 63 else "quoted", text[at:past]))
        at = begin = past
    if at > begin:
        pieces.append(("code", text[begin:at]))
    return pieces


cdef object dbapi_text(const char *text, size_t length):
    return text[:length].decode("utf-8", "surrogateescape")


cdef object dbapi_parameter(sql_param *p):
    """The Python object of a parameter; text that is not UTF-8 is bytes."""
    if p.is_null:
        return None
    if p.type == SQL_TYPE_BIGINT:
        return (<long long *>p.buffer)[0]
    if p.type == SQL_TYPE_DOUBLE:
        return (<double *>p.buffer)[0]
    text = (<const char *>p.buffer)[:p.data_len]
    try:
        return text.decode()
    except UnicodeDecodeError:
        return text


cdef void dbapi_forget(void **kept) noexcept:
    """Let go of an object that C has kept."""
    if kept[0] != NULL:
        Py_DECREF(<object>kept[0])
        kept[0] = NULL


cdef void dbapi_keep(void **kept, object value) noexcept:
    dbapi_forget(kept)
    Py_INCREF(value)
    kept[0] = <void *>value


cdef int dbapi_fail(db_connection *con, object why) noexcept:
    """Fill the error record by what the session makes of an exception."""
    cdef bytes message, sqlstate
    try:
        number, state, text, lost, restart = (<object>(<dbapi_session *>con.session).session).explain(why)
    except BaseException as worse:
        number, state, text, lost, restart = 0, "HY000", f"{type(worse).__name__}: {worse}", False, False
    message = text.encode("utf-8", "replace")
    sqlstate = state.encode("ascii", "replace")[:5].ljust(5, b"0")
    db_set_error(con, number, sqlstate, message, len(message))
    con.lost = lost
    con.restart = restart
    return DB_FAILED


cdef void dbapi_hand_over(db_connection *con) noexcept:
    """Make the current outcome the connection's."""
    cdef dbapi_session *s = <dbapi_session *>con.session
    rows, columns, affected = (<list>s.outcomes)[s.current]
    s.next_row = 0
    con.has_rows = rows is not None
    con.affected = affected
    con.result.pub.nrows = len(rows) if rows is not None else 0
    con.result.pub.nfields = columns


# -- the operations of the driver table

cdef int dbapi_connect_with_gil(db_connection *con) noexcept with gil:
    cdef dbapi_session *s
    cdef bytes name
    try:
        session = _connectors["dbapi"](con.slot)
    except BaseException as why:
        connect_failed_with_gil(con, why)
        return DB_FAILED
    s = <dbapi_session *>calloc(1, sizeof(dbapi_session))
    if s == NULL:
        connect_failed_with_gil(con, MemoryError("not enough memory for a connection"))
        return DB_FAILED
    name = session.name.encode()[:63]
    memcpy(s.name, <const char *>name, len(name))
    dbapi_keep(&s.session, session)
    con.session = s
    return DB_OK


cdef void dbapi_disconnect_with_gil(db_connection *con) noexcept with gil:
    cdef dbapi_session *s = <dbapi_session *>con.session
    try:
        (<object>s.session).close()
    except BaseException as why:
        name = con.driver.key.decode()
        log_message(LOG_DEBUG, f"{name}: close(): {type(why).__name__}: {why}".encode("utf-8", "replace"))
    dbapi_forget(&s.shown)
    dbapi_forget(&s.outcomes)
    dbapi_forget(&s.session)
    free(s)


cdef int dbapi_run(db_connection *con, object text, object arguments) noexcept:
    cdef dbapi_session *s = <dbapi_session *>con.session
    try:
        dbapi_keep(&s.outcomes, (<object>s.session).execute(text, arguments))
    except BaseException as why:
        return dbapi_fail(con, why)
    s.n_outcomes = len(<list>s.outcomes)
    s.current = 0
    dbapi_hand_over(con)
    return DB_OK


cdef int dbapi_send_query_with_gil(db_connection *con, const char *query, size_t length) noexcept with gil:
    return dbapi_run(con, dbapi_text(query, length), None)


cdef int dbapi_send_prepare_with_gil(db_statement *stmt) noexcept with gil:
    cdef db_connection *con = stmt.connection
    if stmt.session != NULL:
        return DB_OK            # the translation survives a reconnect
    stmt.session = calloc(1, sizeof(dbapi_statement))
    if stmt.session == NULL:
        return dbapi_fail(con, MemoryError("not enough memory for a statement"))
    try:
        prepared = (<object>(<dbapi_session *>con.session).session).prepare(stmt.query[:stmt.length])
    except BaseException as why:
        free(stmt.session)
        stmt.session = NULL
        return dbapi_fail(con, why)
    dbapi_keep(&(<dbapi_statement *>stmt.session).prepared, prepared)
    return DB_OK


cdef int dbapi_send_execute_with_gil(db_statement *stmt) noexcept with gil:
    cdef object prepared = <object>(<dbapi_statement *>stmt.session).prepared
    cdef uint32_t i
    cdef tuple values = tuple([dbapi_parameter(stmt.params[i]) for i in range(stmt.nbound)])
    return dbapi_run(stmt.connection, prepared.text, prepared.arguments(values) if stmt.nbound else None)


cdef int dbapi_receive(db_connection *con) noexcept nogil:
    return DB_OK                # sending has handed over


cdef int dbapi_wait_fd(db_connection *con) noexcept nogil:
    return -1


cdef bint dbapi_more_results(db_connection *con) noexcept nogil:
    cdef dbapi_session *s = <dbapi_session *>con.session
    return s.current + 1 < s.n_outcomes


cdef int dbapi_next_result_with_gil(db_connection *con) noexcept with gil:
    if not dbapi_more_results(con):
        return DB_FAILED
    (<dbapi_session *>con.session).current += 1
    dbapi_hand_over(con)
    return DB_OK


cdef bint dbapi_fetch_row_with_gil(db_connection *con, sql_value *values) noexcept with gil:
    cdef dbapi_session *s = <dbapi_session *>con.session
    cdef list texts
    cdef bytes text
    cdef uint32_t i
    if s.next_row >= con.result.pub.nrows:
        return False
    row = (<list>s.outcomes)[s.current][0][s.next_row]
    s.next_row += 1
    try:
        texts = [(<object>s.session).text_of(value) for value in row]
    except BaseException as why:
        message = f"{(<bytes>s.name).decode()}: a value cannot be shown: {type(why).__name__}: {why}"
        log_message(LOG_ALERT, message.encode("utf-8", "replace"))
        return False
    dbapi_keep(&s.shown, texts)
    for i in range(con.result.pub.nfields):
        text = texts[i]
        values[i].buffer = NULL if text is None else PyBytes_AS_STRING(text)
        values[i].length = 0 if text is None else len(text)
    return True


cdef void dbapi_free_result(db_connection *con) noexcept nogil:
    (<dbapi_session *>con.session).n_outcomes = 0


cdef void dbapi_close_statement_with_gil(db_statement *stmt, bint live) noexcept with gil:
    if stmt.session != NULL:
        dbapi_forget(&(<dbapi_statement *>stmt.session).prepared)
        free(stmt.session)
        stmt.session = NULL


cdef int dbapi_rollback_with_gil(db_connection *con) noexcept with gil:
    try:
        (<object>(<dbapi_session *>con.session).session).rollback()
    except BaseException as why:
        return dbapi_fail(con, why)
    return DB_OK


cdef void dbapi_report(db_connection *con, db_operation operation, const char *query, size_t length) noexcept nogil:
    cdef char line[2400]
    snprintf(line, sizeof(line), "%s returned error %d (%s) for query '%.*s%s'",
             <char *>(<dbapi_session *>con.session).name, con.pub.sql_errno, con.message,
             <int>(length if length < 1000 else 1000), query, b"..." if length > 1000 else b"")
    sb_log(LOG_FATAL, line)


cdef db_ops dbapi_ops
dbapi_ops.connect = dbapi_connect_with_gil
dbapi_ops.disconnect = dbapi_disconnect_with_gil
dbapi_ops.send_query = dbapi_send_query_with_gil
dbapi_ops.send_prepare = dbapi_send_prepare_with_gil
dbapi_ops.send_execute = dbapi_send_execute_with_gil
dbapi_ops.receive = dbapi_receive
dbapi_ops.wait_fd = dbapi_wait_fd
dbapi_ops.next_result = dbapi_next_result_with_gil
dbapi_ops.more_results = dbapi_more_results
dbapi_ops.fetch_row = dbapi_fetch_row_with_gil
dbapi_ops.free_result = dbapi_free_result
dbapi_ops.close_statement = dbapi_close_statement_with_gil
dbapi_ops.rollback = dbapi_rollback_with_gil
dbapi_ops.report = dbapi_report
dbapi_ops.loads = NULL
