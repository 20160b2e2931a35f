# MySQL and MariaDB: PyMySQL connects and logs in, everything else is said here on its socket.
from cpython.ref cimport Py_DECREF, Py_INCREF

cdef uint32_t my_most_prepared = 0      # statements of one connection, for advice


cdef void my_trace(db_connection *con, const char *what, const char *text, size_t length) noexcept nogil:
    cdef char line[1100]
    snprintf(line, sizeof(line), "mysql %u: %s %.*s", con.slot, what, <int>(length if length < 1000 else 1000), text)
    sb_log(LOG_DEBUG, line)


# -- connections

cdef int my_connect_with_gil(db_connection *con) noexcept with gil:
    cdef my_session *s = <my_session *>calloc(1, sizeof(my_session))
    if s == NULL:
        return my_fail(con, 2008, b"Client ran out of memory")
    try:
        opened = _connectors["mysql"](con.slot)
        s.fd = opened.fd
        s.deprecate_eof = opened.deprecate_eof
        s.cache_metadata = opened.cache_metadata
        s.numbered = opened.numbered
        s.polled = opened.polled
        if opened.tls is not None:
            s.tls = (<TlsStream?>opened.tls).take()
        if opened.transport is not None:
            Py_INCREF(opened.transport)
            s.transport = <void *>opened.transport
    except BaseException as why:
        free(s)
        connect_failed_with_gil(con, why)
        return DB_FAILED
    con.session = s
    return DB_OK


cdef int my_connect(db_connection *con) noexcept nogil:
    if con.driver.trace:
        my_trace(con, b"connect", b"", 0)
    return my_connect_with_gil(con)


cdef void my_leave_with_gil(my_session *s, const char *quit) noexcept with gil:
    (<object>s.transport).leave(b"" if s.broken else quit[:MY_HEADER + 1])
    Py_DECREF(<object>s.transport)


cdef void my_disconnect(db_connection *con) noexcept nogil:
    cdef my_session *s = <my_session *>con.session
    cdef char quit[MY_HEADER + 1]
    put_bytes(quit, 1 | <uint64_t>MY_QUIT << 32, MY_HEADER + 1)
    if con.driver.trace:
        my_trace(con, b"disconnect", b"", 0)
    if s.transport != NULL:
        my_leave_with_gil(s, quit)
    else:
        if not s.broken and s.tls.ssl == NULL:
            send(s.fd, quit, sizeof(quit), MSG_NOSIGNAL | MSG_DONTWAIT)
        elif not s.broken:
            socket_must_not_block(s.fd)
            s.tls.lib.write(s.tls.ssl, quit, sizeof(quit))
        tls_free(&s.tls)
        close(s.fd)
    free(s.output)
    free(s.input)
    free(s.results)
    free(s.fields)
    free(s.text)
    free(s)


# -- sending

cdef int my_send_query(db_connection *con, const char *query, size_t length) noexcept nogil:
    cdef my_session *s = <my_session *>con.session
    cdef char *to = my_begin(con, s, MY_QUERY, length)
    if con.driver.trace:
        my_trace(con, b"query", query, length)
    if to == NULL:
        return DB_FAILED
    memcpy(to, query, length)
    return my_send(con, s, to + length)


cdef int my_send_prepare(db_statement *stmt) noexcept nogil:
    cdef db_connection *con = stmt.connection
    cdef my_session *s = <my_session *>con.session
    cdef char *to = my_begin(con, s, MY_PREPARE, stmt.length)
    if con.driver.trace:
        my_trace(con, b"prepare", stmt.query, stmt.length)
    if stmt.session == NULL:
        stmt.session = calloc(1, sizeof(my_statement))
    if to == NULL or stmt.session == NULL:
        return my_fail(con, 2008, b"Client ran out of memory")
    memcpy(to, stmt.query, stmt.length)
    return my_send(con, s, to + stmt.length)


cdef char *my_put_parameters(char *to, db_statement *stmt) noexcept nogil:
    """One bit a parameter for NULL, the types if they have changed, and the values that are not NULL."""
    cdef uint32_t i
    cdef uint64_t bits
    cdef char *nulls = to
    cdef sql_param *p
    memset(nulls, 0, (stmt.nbound + 7) // 8)
    to += (stmt.nbound + 7) // 8
    to = put_bytes(to, stmt.types_changed, 1)
    if stmt.types_changed:
        for i in range(stmt.nbound):
            p = stmt.params[i]
            if p.type == SQL_TYPE_BIGINT:
                to = put_bytes(to, MY_LONGLONG, 2)
            elif p.type == SQL_TYPE_DOUBLE:
                to = put_bytes(to, MY_DOUBLE, 2)
            else:
                to = put_bytes(to, MY_VAR_STRING, 2)
    for i in range(stmt.nbound):
        p = stmt.params[i]
        if p.is_null:
            nulls[i // 8] |= 1 << i % 8
        elif p.type == SQL_TYPE_VARCHAR:
            to = put_length(to, p.data_len)
            memcpy(to, p.buffer, p.data_len)
            to += p.data_len
        else:
            memcpy(&bits, p.buffer, 8)
            to = put_bytes(to, bits, 8)
    return to


cdef int my_send_execute(db_statement *stmt) noexcept nogil:
    cdef db_connection *con = stmt.connection
    cdef my_session *s = <my_session *>con.session
    cdef size_t room = 16
    cdef uint32_t i
    cdef char *to
    if con.driver.trace:
        my_trace(con, b"execute", stmt.query, stmt.length)
    if <int>stmt.nbound != stmt.pub.nparams:
        return my_fail(con, 2034, b"The server now sees another number of parameters in the statement")
    for i in range(stmt.nbound):
        room += <size_t>stmt.params[i].data_len + 16
    to = my_begin(con, s, MY_EXECUTE, room)
    if to == NULL:
        return DB_FAILED
    to = put_bytes(to, (<my_statement *>stmt.session).id, 4)
    to = put_bytes(to, 0, 1)                # no cursor
    to = put_bytes(to, 1, 4)                # once
    if stmt.nbound > 0:
        to = my_put_parameters(to, stmt)
    return my_send(con, s, to)


# -- receiving

cdef int my_receive(db_connection *con) noexcept nogil:
    cdef my_session *s = <my_session *>con.session
    cdef int rc = my_receive_reply(con, s)
    if rc == DB_FAILED:
        s.nresults = 0
        if con.operation == DB_OP_PREPARE and con.pub.sql_errno == 1295:
            return my_emulate(con.statement)
    return rc


cdef int my_emulate(db_statement *stmt) noexcept nogil:
    """The server cannot prepare a statement of this kind, but it can run it."""
    cdef db_connection *con = stmt.connection
    cdef char line[2200]
    snprintf(line, sizeof(line), "Failed to prepare query \"%.1000s\" (%d: %s), using emulation",
             stmt.query, con.pub.sql_errno, con.message)
    sb_log(LOG_INFO, line)
    db_clear_error(con)
    my_forget(stmt)
    stmt.emulated = True
    return DB_OK


cdef int my_wait_fd(db_connection *con) noexcept nogil:
    """-1 if there is nothing to wait for: a transport in Python waits itself."""
    cdef my_session *s = <my_session *>con.session
    return s.fd if s.transport == NULL else -1


cdef bint my_more_results(db_connection *con) noexcept nogil:
    cdef my_session *s = <my_session *>con.session
    return s.current + 1 < s.nresults


cdef int my_next_result(db_connection *con) noexcept nogil:
    if not my_more_results(con):
        return DB_FAILED
    my_select(con, <my_session *>con.session, (<my_session *>con.session).current + 1)
    return DB_OK


cdef void my_free_result(db_connection *con) noexcept nogil:
    cdef my_session *s = <my_session *>con.session
    s.nresults = 0
    s.rows_left = 0
    if s.input_at == s.input_end:
        s.input_at = s.input_end = 0
        shrink_buffer(&s.input, &s.input_size)
    shrink_buffer(&s.text, &s.text_size)


cdef void my_forget(db_statement *stmt) noexcept nogil:
    if stmt.session != NULL:
        free((<my_statement *>stmt.session).columns)
        free(stmt.session)
        stmt.session = NULL


cdef void my_close_statement(db_statement *stmt, bint live) noexcept nogil:
    cdef my_session *s = <my_session *>stmt.connection.session
    cdef char packet[MY_HEADER + 5]
    if live:
        s.prepared -= 1
        put_bytes(packet, 5 | <uint64_t>MY_CLOSE_STATEMENT << 32, MY_HEADER + 1)
        put_bytes(packet + MY_HEADER + 1, (<my_statement *>stmt.session).id, 4)
        # There is no reply; if the connection is gone, the next command finds out.
        my_write(s, packet, sizeof(packet))
    my_forget(stmt)


# -- loads: "LOCAL INFILE Request" in the client/server protocol. What the server asks for is no file: rows are sent
#    if it names what our own statement has named.

cdef const char *MY_ROWS_NAME = b"rows of sysbench"


cdef size_t my_load_statement(char *to, size_t room, insert_target *t) noexcept nogil:
    # All characters are ASCII, whichever charset the connection has.
    return snprintf(to, room, "LOAD DATA LOCAL INFILE '%s' INTO TABLE %.*s CHARACTER SET latin1 "
                    "FIELDS TERMINATED BY '\\t' ESCAPED BY '\\\\' LINES TERMINATED BY '\\n' %.*s", MY_ROWS_NAME,
                    <int>t.table_length, t.table, <int>t.columns_length, t.columns)


cdef bint my_wants_rows(db_connection *con, const uint8_t *name, size_t length) noexcept nogil:
    """Whether the server asks for the rows of the load that has been begun, and not for a file."""
    if con.bulk == NULL or con.bulk.load.state != LOAD_ASKED:
        return False
    if length != strlen(MY_ROWS_NAME) or memcmp(name, MY_ROWS_NAME, length) != 0:
        return False
    con.bulk.load.state = LOAD_OPEN
    return True


cdef int my_send_rows(db_connection *con, char *rows, size_t length) noexcept nogil:
    cdef my_session *s = <my_session *>con.session
    put_bytes(rows - MY_HEADER, length | <uint64_t>s.sequence << 24, MY_HEADER)
    s.sequence += 1
    return DB_OK if my_write(s, rows - MY_HEADER, MY_HEADER + length) else my_gone(con, s)


cdef int my_send_load_end(db_connection *con) noexcept nogil:
    """An empty packet."""
    cdef char packet[MY_HEADER]
    return my_send_rows(con, packet + MY_HEADER, 0)


cdef int my_check_load(db_connection *con) noexcept nogil:
    """With LOCAL the server leaves out or changes rows that an INSERT would be refused for, and only warns."""
    cdef my_session *s = <my_session *>con.session
    cdef sql_value values[3]        # level, number, message
    cdef uint64_t loaded = con.affected
    cdef char line[128]
    if s.warnings == 0 and loaded == con.bulk.load.sent:
        return DB_OK
    if my_send_query(con, b"SHOW WARNINGS LIMIT 1", 21) != DB_OK or db_receive(con) != DB_OK:
        return DB_FAILED
    con.result_open = True
    if con.result.pub.nfields == 3 and con.result.pub.nrows > 0 and my_fetch_row(con, values):
        snprintf(line, sizeof(line), "%.*s", <int>values[1].length, values[1].buffer)
        db_set_error(con, <int>strtoull(line, NULL, 10), b"HY000", values[2].buffer, values[2].length)
    else:
        snprintf(line, sizeof(line), "%llu of %llu rows were loaded", <unsigned long long>loaded,
                 <unsigned long long>con.bulk.load.sent)
        db_set_error(con, 0, b"HY000", line, strlen(line))
    db_free_result(con)
    return DB_FAILED


cdef load_ops mysql_loads
mysql_loads.statement = my_load_statement
mysql_loads.send_rows = my_send_rows
mysql_loads.send_end = my_send_load_end
mysql_loads.check = my_check_load


# -- messages

cdef void my_report(db_connection *con, db_operation operation, const char *query, size_t length) noexcept nogil:
    cdef char line[2300]
    cdef const char *function = b"mysql_drv_query()"
    if operation == DB_OP_PREPARE:
        sb_log(LOG_FATAL, b"mysql_stmt_prepare() failed")
        snprintf(line, sizeof(line), "MySQL error: %d \"%s\"", con.pub.sql_errno, con.message)
        sb_log(LOG_FATAL, line)
        if con.pub.sql_errno == 1461:
            my_advise(con)
        return
    if operation == DB_OP_EXECUTE:
        function = b"mysql_stmt_execute()"
    snprintf(line, sizeof(line), "%s returned error %d (%s) for query '%.*s%s'", function, con.pub.sql_errno,
             con.message, <int>(length if length < 1000 else 1000), query, b"..." if length > 1000 else b"")
    sb_log(LOG_FATAL, line)


cdef void my_advise(db_connection *con) noexcept nogil:
    """max_prepared_stmt_count is exceeded: say what this run needs at least."""
    cdef char line[300]
    cdef unsigned each = my_most_prepared + 1
    cdef unsigned threads = worker_count or 1
    snprintf(line, sizeof(line), "max_prepared_stmt_count of the server must be %u or more (threads: %u, "
             "statements prepared by each: %u or more); with --db-ps-mode=disable none are prepared",
             threads * each, threads, each)
    sb_log(LOG_FATAL, line)


cdef db_ops mysql_ops
mysql_ops.connect = my_connect
mysql_ops.disconnect = my_disconnect
mysql_ops.send_query = my_send_query
mysql_ops.send_prepare = my_send_prepare
mysql_ops.send_execute = my_send_execute
mysql_ops.receive = my_receive
mysql_ops.wait_fd = my_wait_fd
mysql_ops.next_result = my_next_result
mysql_ops.more_results = my_more_results
mysql_ops.fetch_row = my_fetch_row
mysql_ops.free_result = my_free_result
mysql_ops.close_statement = my_close_statement
mysql_ops.rollback = NULL
mysql_ops.report = my_report
mysql_ops.loads = &mysql_loads
