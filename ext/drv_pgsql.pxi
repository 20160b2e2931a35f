# The PostgreSQL driver: psycopg2 connects and logs in, then the core drives its PGconn.

from cpython.ref cimport Py_DECREF, Py_INCREF, PyObject

include "libpq.pxi"

cdef extern from "<stdlib.h>" nogil:
    double strtod(const char *, char **)
    unsigned long long strtoull(const char *, char **, int)

cdef enum:
    PG_NUMBER_SIZE = 32         # room for the text of any int8 or float8

cdef enum pgsql_phase:
    PG_IDLE, PG_SENT, PG_READING

cdef struct pgsql_session:
    PGconn *conn
    PyObject *owner             # psycopg2's connection, which closes the PGconn
    bint tls
    pgsql_phase phase
    pgsql_statement *preparing  # whose prepare is being received; the outcome is not a result
    bint copying_out            # the rows of a COPY are being skipped
    bint failed                 # a result of this operation was an error
    PGresult *error             # that result, for the report
    PGresult **results          # of the last operation, in order
    uint32_t nresults
    uint32_t room
    uint32_t current            # the one in the connection's result slot
    int row                     # the next one of it

cdef struct pgsql_statement:
    char name[24]
    uint32_t epoch              # of the connection whose server knows the name; 0 is none
    Oid *types                  # of the parameters, one array entry each, as are
    const char **values         # what is sent
    char *numbers               # PG_NUMBER_SIZE bytes each, for those values that are numbers

# Numbers for names. The clock differs in every process: behind a pool their names may meet on one server session.
cdef uint64_t pgsql_names = clock_ns()


# -- connections

cdef void pgsql_ignore_notice(void *nothing, const PGresult *notice) noexcept nogil:
    # psycopg2's receiver would keep them all for a Python program that never reads them.
    pass


cdef int pgsql_connect_with_gil(db_connection *con) noexcept with gil:
    cdef pgsql_session *s
    try:
        connection = _connectors["pgsql"](con.slot)
        s = <pgsql_session *>calloc(1, sizeof(pgsql_session))
        if s == NULL:
            connection.close()
            raise MemoryError()
        s.conn = <PGconn *><size_t>connection.pgconn_ptr
    except BaseException as why:
        connect_failed_with_gil(con, why)
        return DB_FAILED
    s.owner = <PyObject *>connection
    Py_INCREF(connection)
    s.tls = pq.ssl_in_use(s.conn)
    pq.set_notice_receiver(s.conn, pgsql_ignore_notice, NULL)
    con.session = s
    return DB_OK


cdef void pgsql_close_with_gil(PyObject *owner) noexcept with gil:
    connection = <object>owner
    Py_DECREF(connection)
    connection.close()


cdef void pgsql_disconnect(db_connection *con) noexcept nogil:
    cdef pgsql_session *s = <pgsql_session *>con.session
    pgsql_forget_error(s)
    pgsql_free_result(con)
    pgsql_close_with_gil(s.owner)
    free(s.results)
    free(s)


cdef int pgsql_wait_fd(db_connection *con) noexcept nogil:
    return pq.socket((<pgsql_session *>con.session).conn)


# -- errors

cdef void pgsql_forget_error(pgsql_session *s) noexcept nogil:
    pq.clear(s.error)           # which may be NULL
    s.error = NULL
    s.failed = False


cdef void pgsql_client_error(db_connection *con, const char *text) noexcept nogil:
    """For an error that libpq itself met: the first line of its text says what, more lines only what may be why."""
    cdef const char *end = <const char *>memchr(text, 10, strlen(text))
    con.lost = pq.status((<pgsql_session *>con.session).conn) != PG_CONNECTION_OK
    db_set_error(con, 0, b"08006" if con.lost else b"HY000", text, end - text if end != NULL else strlen(text))


cdef void pgsql_result_error(db_connection *con, PGresult *result) noexcept nogil:
    cdef const char *sqlstate = pq.result_error_field(result, PG_DIAG_SQLSTATE)
    cdef const char *message = pq.result_error_field(result, PG_DIAG_PRIMARY)
    cdef const char *severity = pq.result_error_field(result, PG_DIAG_SEVERITY)
    if sqlstate == NULL or strlen(sqlstate) != 5 or message == NULL:
        pgsql_client_error(con, pq.result_error_message(result))
        return
    db_set_error(con, 0, sqlstate, message, strlen(message))
    # After a FATAL error the server ends the session. 57P01 to 57P03: it is going down, or not up yet.
    con.lost = (severity != NULL and (strcmp(severity, b"FATAL") == 0 or strcmp(severity, b"PANIC") == 0)
                or strcmp(sqlstate, b"57P01") == 0 or strcmp(sqlstate, b"57P02") == 0
                or strcmp(sqlstate, b"57P03") == 0)


cdef void pgsql_report(db_connection *con, db_operation operation, const char *query, size_t length) noexcept nogil:
    cdef pgsql_session *s = <pgsql_session *>con.session
    cdef char line[2048]
    cdef size_t n
    if operation == DB_OP_PREPARE:
        snprintf(line, sizeof(line), "PQprepare() failed: %s",
                 pq.result_error_message(s.error) if s.error != NULL else con.message)
        n = strlen(line)
        if line[n - 1] == 10:
            line[n - 1] = 0
        sb_log(LOG_FATAL, line)
        return
    snprintf(line, sizeof(line), "%s failed: %d %s",
             <const char *>(b"PQexecPrepared()" if operation == DB_OP_EXECUTE else b"PQexec()"),
             <int>PG_FATAL_ERROR, <char *>con.message)
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

cdef int pgsql_sent(db_connection *con, int accepted, pgsql_statement *preparing) noexcept nogil:
    cdef pgsql_session *s = <pgsql_session *>con.session
    if not accepted:
        s.phase = PG_IDLE
        pgsql_client_error(con, pq.error_message(s.conn))
        return DB_FAILED
    s.preparing = preparing
    s.phase = PG_SENT
    return DB_OK


cdef int pgsql_send_query(db_connection *con, const char *query, size_t length) noexcept nogil:
    cdef pgsql_session *s = <pgsql_session *>con.session
    pgsql_forget_error(s)
    pgsql_free_result(con)
    if query == con.bulk:
        con.bulk[length] = 0    # libpq needs a terminator, and a bulk statement has room for one
    return pgsql_sent(con, pq.send_query(s.conn, query), NULL)


cdef char *pgsql_numbered(db_statement *stmt) noexcept nogil:
    """The statement's text with $1, $2 ... for its markers; malloc'ed, NULL without memory."""
    cdef char *text = <char *>malloc(stmt.length + 12 * <size_t>stmt.pub.nparams + 1)
    cdef size_t at = 0, n = 0, marker
    cdef int i = 0
    if text == NULL:
        return NULL
    while True:
        marker = next_marker(stmt.query, at, stmt.length, False)
        memcpy(text + n, stmt.query + at, marker - at)
        n += marker - at
        if marker >= stmt.length:
            break
        i += 1
        n += snprintf(text + n, 12, "$%d", i)
        at = marker + 1
    text[n] = 0
    return text


cdef pgsql_statement *pgsql_new_statement(uint32_t nparams) noexcept nogil:
    """A statement and its arrays in one piece of memory."""
    cdef pgsql_statement *p = <pgsql_statement *>calloc(
        1, sizeof(pgsql_statement) + nparams * (sizeof(char *) + sizeof(Oid) + PG_NUMBER_SIZE))
    if p != NULL:
        p.values = <const char **>(p + 1)
        p.types = <Oid *>(p.values + nparams)
        p.numbers = <char *>(p.types + nparams)
    return p


cdef bint pgsql_take_types(db_statement *stmt, pgsql_statement *p) noexcept nogil:
    """Take over the types of the bound parameters; whether any has changed."""
    cdef bint changed = False
    cdef uint32_t i
    cdef Oid type
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
    """Prepare under a new name, unless the types of the parameters are yet to be bound, or are as they were."""
    cdef db_connection *con = stmt.connection
    cdef pgsql_session *s = <pgsql_session *>con.session
    cdef pgsql_statement *p = <pgsql_statement *>stmt.session
    cdef uint32_t nparams = <uint32_t>stmt.pub.nparams
    cdef char *text
    cdef int accepted
    pgsql_forget_error(s)
    if p == NULL:
        p = pgsql_new_statement(nparams)
        stmt.session = p
    if p != NULL and stmt.nbound < nparams:
        return DB_OK
    if p != NULL and not pgsql_take_types(stmt, p) and p.epoch == con.epoch:
        return DB_OK
    text = pgsql_numbered(stmt)
    if p == NULL or text == NULL:
        free(text)
        db_set_error(con, 0, b"53200", b"out of memory", 13)
        return DB_FAILED
    snprintf(p.name, sizeof(p.name), "sb%llx", <unsigned long long>sb_fetch_add(&pgsql_names, 1))
    p.epoch = 0
    accepted = pq.send_prepare(s.conn, p.name, text, <int>nparams, p.types)
    free(text)
    return pgsql_sent(con, accepted, p)


cdef const char *pgsql_integer(int64_t value, char *room) noexcept nogil:
    """The decimal digits of value, at the end of PG_NUMBER_SIZE bytes of room."""
    cdef char *at = room + PG_NUMBER_SIZE - 1
    cdef uint64_t rest = <uint64_t>value if value >= 0 else 0 - <uint64_t>value
    at[0] = 0
    while True:
        at -= 1
        at[0] = <char>(48 + rest % 10)
        rest //= 10
        if rest == 0:
            break
    if value < 0:
        at -= 1
        at[0] = 45
    return at


cdef const char *pgsql_real(double value, char *room) noexcept nogil:
    """15 digits where they stand for exactly this value, else the 17 that always do."""
    if value != value:
        return b"NaN"
    snprintf(room, PG_NUMBER_SIZE, "%.15g", value)
    if strtod(room, NULL) != value:
        snprintf(room, PG_NUMBER_SIZE, "%.17g", value)
    return room


cdef int pgsql_send_execute(db_statement *stmt) noexcept nogil:
    cdef db_connection *con = stmt.connection
    cdef pgsql_session *s = <pgsql_session *>con.session
    cdef pgsql_statement *p = <pgsql_statement *>stmt.session
    cdef char *number = p.numbers
    cdef sql_param *param
    cdef uint32_t i
    for i in range(stmt.nbound):
        param = stmt.params[i]
        if param.is_null:
            p.values[i] = NULL
        elif param.type == SQL_TYPE_BIGINT:
            p.values[i] = pgsql_integer((<int64_t *>param.buffer)[0], number)
        elif param.type == SQL_TYPE_DOUBLE:
            p.values[i] = pgsql_real((<double *>param.buffer)[0], number)
        else:
            (<char *>param.buffer)[param.data_len] = 0      # a parameter has a byte more than max_len
            p.values[i] = <const char *>param.buffer
        number += PG_NUMBER_SIZE
    pgsql_forget_error(s)
    pgsql_free_result(con)
    return pgsql_sent(con, pq.send_query_prepared(s.conn, p.name, <int>stmt.nbound, p.values, NULL, NULL, 0), NULL)


cdef void pgsql_close_statement(db_statement *stmt, bint live) noexcept nogil:
    free(stmt.session)          # as in the original, the server keeps it as long as the session lasts
    stmt.session = NULL


# -- receiving

cdef bint pgsql_keep(pgsql_session *s, PGresult *result) noexcept nogil:
    cdef void *grown
    if s.nresults == s.room:
        grown = realloc(s.results, (2 * s.room + 1) * sizeof(PGresult *))
        if grown == NULL:
            return False
        s.results = <PGresult **>grown
        s.room = 2 * s.room + 1
    s.results[s.nresults] = result
    s.nresults += 1
    return True


cdef void pgsql_take(db_connection *con, PGresult *result) noexcept nogil:
    """Keep a result, or make the operation fail by it. Of several failures the first one counts."""
    cdef pgsql_session *s = <pgsql_session *>con.session
    cdef int status = pq.result_status(result)
    if status == PG_TUPLES_OK or status == PG_COMMAND_OK:
        if s.preparing != NULL or not pgsql_keep(s, result):
            pq.clear(result)
        return
    if status == PG_FATAL_ERROR and not s.failed:
        pgsql_result_error(con, result)
        s.error = result
    else:
        # A COPY, or an empty statement: a failure without SQL state.
        pq.clear(result)
    s.failed = True
    if status == PG_COPY_IN or status == PG_COPY_BOTH:
        pq.put_copy_end(s.conn, b"COPY is not supported")
    s.copying_out = status == PG_COPY_OUT or status == PG_COPY_BOTH


cdef bint pgsql_skip_copy(pgsql_session *s, bint block) noexcept nogil:
    """Skip the rows of a COPY; whether its end, or an error, has come."""
    cdef char *row = NULL
    cdef int n = pq.get_copy_data(s.conn, &row, not block)
    while n > 0:
        pq.freemem(row)
        n = pq.get_copy_data(s.conn, &row, not block)
    s.copying_out = n == 0
    return n != 0


cdef int pgsql_receive(db_connection *con) noexcept nogil:
    cdef pgsql_session *s = <pgsql_session *>con.session
    cdef PGresult *result
    cdef bint block
    if s.phase == PG_IDLE:
        return DB_OK            # nothing had to be sent
    if s.phase == PG_SENT:
        s.phase = PG_READING
        if pq.socket(s.conn) >= 0:
            return DB_AGAIN     # reading before the server can have answered would be a system call for nothing
    # Under TLS, bytes that OpenSSL has already taken in do not make the descriptor readable: wait inside libpq,
    # which knows of them. On a connection that has broken, libpq returns what it has without waiting.
    block = s.tls or pq.consume_input(s.conn) == 0
    while True:
        if s.copying_out and not pgsql_skip_copy(s, block):
            return DB_AGAIN
        if not block and pq.is_busy(s.conn):
            return DB_AGAIN
        result = pq.get_result(s.conn)
        if result == NULL:
            break
        pgsql_take(con, result)
    s.phase = PG_IDLE
    if s.preparing != NULL and not s.failed:
        s.preparing.epoch = con.epoch
        return DB_OK
    if s.nresults == 0 and not s.failed:
        s.failed = True
        pgsql_client_error(con, pq.error_message(s.conn))
    if s.failed:
        con.lost = con.lost or pq.status(s.conn) != PG_CONNECTION_OK
        return DB_FAILED
    pgsql_show(con, 0)
    return DB_OK


# -- results

cdef void pgsql_show(db_connection *con, uint32_t number) noexcept nogil:
    """Put one of the results into the connection's result slot."""
    cdef pgsql_session *s = <pgsql_session *>con.session
    cdef PGresult *result = s.results[number]
    s.current = number
    s.row = 0
    con.has_rows = pq.result_status(result) == PG_TUPLES_OK
    con.affected = 0 if con.has_rows else strtoull(pq.cmd_tuples(result), NULL, 10)
    con.result.pub.nrows = <uint32_t>pq.ntuples(result)
    con.result.pub.nfields = <uint32_t>pq.nfields(result)


cdef bint pgsql_more_results(db_connection *con) noexcept nogil:
    cdef pgsql_session *s = <pgsql_session *>con.session
    return s.current + 1 < s.nresults


cdef int pgsql_next_result(db_connection *con) noexcept nogil:
    if not pgsql_more_results(con):
        return DB_FAILED
    pgsql_show(con, (<pgsql_session *>con.session).current + 1)
    return DB_OK


cdef bint pgsql_fetch_row(db_connection *con, sql_value *values) noexcept nogil:
    cdef pgsql_session *s = <pgsql_session *>con.session
    cdef PGresult *result
    cdef int i
    if s.nresults == 0 or s.row >= pq.ntuples(s.results[s.current]):
        return False
    result = s.results[s.current]
    for i in range(<int>con.result.pub.nfields):
        if pq.getisnull(result, s.row, i):
            values[i].buffer = NULL
            values[i].length = 0
        else:
            values[i].buffer = pq.getvalue(result, s.row, i)
            values[i].length = <size_t>pq.getlength(result, s.row, i)
    s.row += 1
    return True


cdef void pgsql_free_result(db_connection *con) noexcept nogil:
    cdef pgsql_session *s = <pgsql_session *>con.session
    cdef uint32_t i
    for i in range(s.nresults):
        pq.clear(s.results[i])
    s.nresults = 0
    s.current = 0


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
