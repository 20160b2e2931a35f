# PostgreSQL: psycopg2 connects and logs in, everything else is said here on its socket or TLS stream.

from os import set_blocking

cdef extern from "<stdlib.h>" nogil:
    double strtod(const char *, char **)

# Numbers for names. The clock differs in every process: behind a pool their names may meet on one server session.
cdef uint64_t pgsql_names = clock_ns()


# -- connections

cdef int pgsql_connect_with_gil(db_connection *con) noexcept with gil:
    cdef pg_session *s
    cdef void *libpq
    try:
        connection = _connectors["pgsql"](con.slot)
        s = <pg_session *>calloc(1, sizeof(pg_session))
        if s == NULL:
            connection.close()
            raise MemoryError()
        libpq = <void *><size_t>connection.pgconn_ptr
        try:
            s.tls = libpq_tls(libpq)
            s.fd = s.tls.fd
            s.polled = connection.info.host.startswith(("/", "@"))
            if s.tls.ssl == NULL:
                set_blocking(s.fd, True)
        except BaseException:
            free(s)
            connection.close()
            raise
    except BaseException as why:
        connect_failed_with_gil(con, why)
        return DB_FAILED
    s.owner = <PyObject *>connection
    Py_INCREF(connection)
    con.session = s
    return DB_OK


cdef void pgsql_close_with_gil(PyObject *owner) noexcept with gil:
    connection = <object>owner
    Py_DECREF(connection)
    connection.close()


cdef void pgsql_disconnect(db_connection *con) noexcept nogil:
    cdef pg_session *s = <pg_session *>con.session
    pgsql_close_with_gil(s.owner)
    free(s.output)
    free(s.input)
    free(s.results)
    free(s.explanation)
    free(s)


cdef int pgsql_wait_fd(db_connection *con) noexcept nogil:
    return (<pg_session *>con.session).fd


# -- messages

cdef void pgsql_report(db_connection *con, db_operation operation, const char *query, size_t length) noexcept nogil:
    cdef pg_session *s = <pg_session *>con.session
    cdef char line[4200]
    if operation == DB_OP_PREPARE:
        snprintf(line, sizeof(line), "PQprepare() failed: %s",
                 s.explanation if s.explanation != NULL and s.explanation[0] else <char *>con.message)
        sb_log(LOG_FATAL, line)
        return
    snprintf(line, sizeof(line), "%s failed: 7 %s",
             <const char *>(b"PQexecPrepared()" if operation == DB_OP_EXECUTE else b"PQexec()"), <char *>con.message)
    sb_log(LOG_FATAL, line)
    if operation == DB_OP_QUERY:
        snprintf(line, sizeof(line), "failed query was: %.*s%s", <int>(length if length <= 1000 else 1000), query,
                 <const char *>(b"" if length <= 1000 else b"..."))
        sb_log(LOG_FATAL, line)


cdef int pgsql_rollback(db_connection *con) noexcept nogil:
    cdef int rc = pgsql_send_query(con, b"ROLLBACK", 8)
    if rc == DB_OK:
        rc = db_receive(con)
    pgsql_free_result(con)
    return rc


# -- sending

cdef int pgsql_send_query(db_connection *con, const char *query, size_t length) noexcept nogil:
    cdef pg_session *s = <pg_session *>con.session
    cdef char *message = pg_begin(con, s, PG_HEADER + length + 1)
    if message == NULL:
        return DB_FAILED
    return pg_send(s, pg_ended(message, put_text(pg_message(message, c"Q"), query, length)), False)


cdef size_t pgsql_put_numbered(char *to, db_statement *stmt) noexcept nogil:
    """The statement's text with $1, $2 ... for its markers, at most 11 bytes each; its length."""
    cdef size_t at = 0, n = 0, marker
    cdef int i = 0
    while True:
        marker = next_marker(stmt.query, at, stmt.length, False)
        memcpy(to + n, stmt.query + at, marker - at)
        n += marker - at
        if marker >= stmt.length:
            return n
        i += 1
        n += snprintf(to + n, 12, "$%d", i)
        at = marker + 1


cdef pg_statement *pgsql_new_statement(uint32_t nparams) noexcept nogil:
    """A statement and its types in one piece of memory."""
    cdef pg_statement *p = <pg_statement *>calloc(1, sizeof(pg_statement) + nparams * sizeof(uint32_t))
    if p != NULL:
        p.types = <uint32_t *>(p + 1)
    return p


cdef bint pgsql_take_types(db_statement *stmt, pg_statement *p) noexcept nogil:
    """Take over the types of the bound parameters; whether any has changed."""
    cdef bint changed = False
    cdef uint32_t i
    cdef uint32_t type
    for i in range(stmt.nbound):
        if stmt.params[i].type == SQL_TYPE_BIGINT:
            type = PG_OID_INT8
        elif stmt.params[i].type == SQL_TYPE_DOUBLE:
            type = PG_OID_FLOAT8
        else:
            type = PG_OID_VARCHAR
        changed = changed or type != p.types[i]
        p.types[i] = type
    return changed


cdef int pgsql_send_prepare(db_statement *stmt) noexcept nogil:
    """Prepare under a new name, unless the types of the parameters are yet to be bound, or are as they were.

    The server describes the statement at once, so that it need not at each execution."""
    cdef db_connection *con = stmt.connection
    cdef pg_session *s = <pg_session *>con.session
    cdef pg_statement *p = <pg_statement *>stmt.session
    cdef uint32_t nparams = <uint32_t>stmt.pub.nparams
    cdef uint32_t i
    cdef char *message
    cdef char *to
    if p == NULL:
        p = pgsql_new_statement(nparams)
        if p == NULL:
            return pg_no_memory(con)
        stmt.session = p
    if stmt.nbound < nparams or (not pgsql_take_types(stmt, p) and p.epoch == con.epoch):
        return DB_OK
    message = pg_begin(con, s, stmt.length + 16 * <size_t>nparams + 128)
    if message == NULL:
        return DB_FAILED
    snprintf(p.name, sizeof(p.name), "sb%llx", <unsigned long long>sb_fetch_add(&pgsql_names, 1))
    p.epoch = 0
    to = put_text(pg_message(message, c"P"), p.name, strlen(p.name))
    s.query_at = to - s.output
    to += pgsql_put_numbered(to, stmt)
    to[0] = 0
    to = put_be16(to + 1, nparams)
    for i in range(nparams):
        to = put_be32(to, p.types[i])
    message = pg_ended(message, to)
    to = pg_message(message, c"D")
    to[0] = c"S"
    message = pg_ended(message, put_text(to + 1, p.name, strlen(p.name)))
    s.preparing = p
    return pg_send(s, pg_sync(message), True)


cdef inline char *pgsql_put_integer(char *to, int64_t value) noexcept nogil:
    """Decimal digits, at most 20 bytes with the sign; the end of them."""
    cdef char digits[20]
    cdef int n = 20
    cdef uint64_t rest = <uint64_t>value if value >= 0 else 0 - <uint64_t>value
    if value < 0:
        to[0] = 45
        to += 1
    while True:
        n -= 1
        digits[n] = <char>(48 + rest % 10)
        rest //= 10
        if rest == 0:
            break
    memcpy(to, digits + n, 20 - n)
    return to + 20 - n


cdef char *pgsql_put_real(char *to, double value) noexcept nogil:
    """15 digits where they stand for exactly this value, else the 17 that always do; the end of them."""
    cdef int n
    if value != value:
        memcpy(to, b"NaN", 3)
        return to + 3
    n = snprintf(to, PG_NUMBER_SIZE, "%.15g", value)
    if strtod(to, NULL) != value:
        n = snprintf(to, PG_NUMBER_SIZE, "%.17g", value)
    return to + n


cdef char *pgsql_put_parameter(char *to, sql_param *param) noexcept nogil:
    """Length and text; the length of NULL is -1."""
    cdef char *text = to + 4
    cdef char *end = text
    if param.is_null:
        return put_be32(to, <uint32_t>-1)
    if param.type == SQL_TYPE_BIGINT:
        end = pgsql_put_integer(text, (<int64_t *>param.buffer)[0])
    elif param.type == SQL_TYPE_DOUBLE:
        end = pgsql_put_real(text, (<double *>param.buffer)[0])
    else:
        memcpy(text, param.buffer, param.data_len)
        end = text + param.data_len
    put_be32(to, <uint32_t>(end - text))
    return end


cdef int pgsql_send_execute(db_statement *stmt) noexcept nogil:
    cdef db_connection *con = stmt.connection
    cdef pg_session *s = <pg_session *>con.session
    cdef pg_statement *p = <pg_statement *>stmt.session
    cdef size_t room = 128
    cdef uint32_t i
    cdef char *message
    cdef char *to
    for i in range(stmt.nbound):
        room += 4 + PG_NUMBER_SIZE + <size_t>stmt.params[i].data_len
    message = pg_begin(con, s, room)
    if message == NULL:
        return DB_FAILED
    to = pg_message(message, c"B")
    to[0] = 0                               # the portal without a name
    to = put_text(to + 1, p.name, strlen(p.name))
    to = put_be16(to, 0)                    # all parameters are text
    to = put_be16(to, stmt.nbound)
    for i in range(stmt.nbound):
        to = pgsql_put_parameter(to, stmt.params[i])
    message = pg_ended(message, put_be16(to, 0))    # and all results
    to = pg_message(message, c"E")
    to[0] = 0
    message = pg_ended(message, put_be32(to + 1, 0))        # all rows
    s.executing = p
    return pg_send(s, pg_sync(message), True)


cdef void pgsql_close_statement(db_statement *stmt, bint live) noexcept nogil:
    free(stmt.session)          # as in the original, the server keeps it as long as the session lasts
    stmt.session = NULL


# -- receiving

cdef int pgsql_receive(db_connection *con) noexcept nogil:
    cdef pg_session *s = <pg_session *>con.session
    if not s.waiting:
        return DB_OK            # nothing had to be sent
    if s.sent and s.tls.ssl != NULL:
        s.sent = False
        return DB_AGAIN         # reading before the server can have answered would be a system call for nothing
    return pg_receive_reply(con, s)


# -- loads: "COPY Operations" in the chapter on the protocol

cdef size_t pgsql_load_statement(char *to, size_t room, insert_target *t) noexcept nogil:
    return snprintf(to, room, "COPY %.*s%.*s FROM STDIN", <int>t.table_length, t.table, <int>t.columns_length, t.columns)


cdef int pgsql_send_rows(db_connection *con, char *rows, size_t length) noexcept nogil:
    cdef pg_session *s = <pg_session *>con.session
    cdef char *message = rows - PG_HEADER
    cdef char said
    # An error that is there already ends it; the server would drop all rows to come.
    if s.tls.ssl == NULL and recv(s.fd, &said, 1, MSG_PEEK | MSG_DONTWAIT) == 1 and said == c"E":
        return DB_FAILED
    message[0] = c"d"
    return DB_OK if pg_write(s, message, pg_ended(message, rows + length) - message) else DB_FAILED


cdef int pgsql_send_load_end(db_connection *con) noexcept nogil:
    """If that fails, the reply tells why."""
    cdef pg_session *s = <pg_session *>con.session
    cdef char done[PG_HEADER]
    pg_write(s, done, pg_ended(done, pg_message(done, c"c")) - done)
    s.waiting = s.sent = True
    return DB_OK


cdef load_ops pgsql_loads
pgsql_loads.statement = pgsql_load_statement
pgsql_loads.send_rows = pgsql_send_rows
pgsql_loads.send_end = pgsql_send_load_end
pgsql_loads.check = NULL


# -- results

cdef bint pgsql_more_results(db_connection *con) noexcept nogil:
    cdef pg_session *s = <pg_session *>con.session
    return s.current + 1 < s.nresults


cdef int pgsql_next_result(db_connection *con) noexcept nogil:
    cdef pg_session *s = <pg_session *>con.session
    if s.current + 1 >= s.nresults:
        return DB_FAILED
    pg_select(con, s, s.current + 1)
    return DB_OK


cdef bint pgsql_fetch_row(db_connection *con, sql_value *values) noexcept nogil:
    cdef pg_session *s = <pg_session *>con.session
    cdef const char *p
    cdef const char *end
    cdef uint32_t i, length
    if s.rows_left == 0:
        return False
    # Notices may stand between rows.
    while s.input[s.row_at] != c"D":
        s.row_at += 1 + get_be32(s.input + s.row_at + 1)
    p = s.input + s.row_at
    end = p + 1 + get_be32(p + 1)
    s.row_at = end - s.input
    s.rows_left -= 1
    p += PG_HEADER + 2
    for i in range(con.result.pub.nfields):
        if end - p < 4:
            return False
        length = get_be32(p)
        p += 4
        values[i].buffer = NULL
        values[i].length = 0
        if length == <uint32_t>-1:
            continue
        if length > <size_t>(end - p):
            return False
        values[i].buffer = p
        values[i].length = length
        p += length
    return True


cdef void pgsql_free_result(db_connection *con) noexcept nogil:
    cdef pg_session *s = <pg_session *>con.session
    s.nresults = 0
    s.rows_left = 0
    if s.input_at == s.input_end:
        s.input_at = s.input_end = 0
        shrink_buffer(&s.input, &s.input_size)
    shrink_buffer(&s.output, &s.output_size)


cdef db_ops pgsql_ops
pgsql_ops.connect = pgsql_connect_with_gil
pgsql_ops.disconnect = pgsql_disconnect
pgsql_ops.send_query = pgsql_send_query
pgsql_ops.send_prepare = pgsql_send_prepare
pgsql_ops.send_execute = pgsql_send_execute
pgsql_ops.prepares_when_bound = True
pgsql_ops.receive = pgsql_receive
pgsql_ops.wait_fd = pgsql_wait_fd
pgsql_ops.next_result = pgsql_next_result
pgsql_ops.more_results = pgsql_more_results
pgsql_ops.fetch_row = pgsql_fetch_row
pgsql_ops.free_result = pgsql_free_result
pgsql_ops.close_statement = pgsql_close_statement
pgsql_ops.rollback = pgsql_rollback
pgsql_ops.report = pgsql_report
pgsql_ops.loads = &pgsql_loads
