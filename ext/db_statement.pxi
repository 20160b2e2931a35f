# Prepared statements and their parameters; emulation by literals where a server is not to prepare.

cdef struct param_memory:
    sql_param pub               # first: Lua holds a pointer to it
    int refs                    # the Lua object, and one a statement that it is bound to


# -- markers and literals

cdef inline bint in_identifier(char c) noexcept nogil:
    return (97 <= (c | 32) <= 122 or 48 <= c <= 57 or c == 95 or c == 36        # a-z A-Z 0-9 _ $
            or <unsigned char>c >= 128)


cdef size_t skip_dollar_quoted(const char *q, size_t at, size_t length) noexcept nogil:
    """Past the $tag$string$tag$ that begins at `at`; `at` itself if none does."""
    cdef size_t i = at + 1, size
    if at > 0 and in_identifier(q[at - 1]):
        return at
    while i < length and q[i] != 36 and in_identifier(q[i]):
        i += 1
    # $1$ is a parameter, and not a quote.
    if i >= length or q[i] != 36 or 48 <= q[at + 1] <= 57:
        return at
    i += 1
    size = i - at
    while i + size <= length:
        if memcmp(q + i, q + at, size) == 0:
            return i + size
        i += 1
    return length


cdef size_t skip_comment(const char *q, size_t at, size_t length, bint nested) noexcept nogil:
    """Past the /* comment */ that begins at `at`."""
    cdef size_t i = at + 2
    cdef int depth = 1
    while i + 1 < length:
        if q[i] == 42 and q[i + 1] == 47:
            depth -= 1
            i += 2
            if depth == 0:
                return i
        elif nested and q[i] == 47 and q[i + 1] == 42:
            depth += 1
            i += 2
        else:
            i += 1
    return length


cdef size_t skip_literal(const char *q, size_t at, size_t length, bint backslash) noexcept nogil:
    """Past the string, quoted identifier or comment that begins at `at`; `at` itself if none does.

    Without `backslash`, as PostgreSQL reads it: also E'' and $$ $$ strings, and comments that nest."""
    cdef char c = q[at]
    cdef size_t i = at + 1
    cdef bint escapes = backslash
    if c == 39 or c == 34 or c == 96:                               # ' " `
        if c == 39 and at > 0 and (q[at - 1] | 32) == 101:          # E'
            escapes = escapes or at == 1 or not in_identifier(q[at - 2])
        while i < length and (q[i] != c or i + 1 < length and q[i + 1] == c):
            i += 2 if q[i] == c or (escapes and q[i] == 92 and c != 96) else 1      # a quote is doubled or escaped
        return i + 1 if i < length else length
    if c == 45 and i < length and q[i] == 45:                       # -- to the end of the line
        while i < length and q[i] != 10:
            i += 1
        return i
    if c == 47 and i < length and q[i] == 42 and not (backslash and i + 1 < length and q[i + 1] == 33):
        return skip_comment(q, at, length, not backslash)           # but not MySQL's /*! code */
    if c == 36 and not backslash:
        return skip_dollar_quoted(q, at, length)
    return at


cdef size_t next_marker(const char *q, size_t at, size_t length, bint backslash) noexcept nogil:
    """Where the next ? outside of strings and comments stands; length if there is none."""
    cdef size_t past
    while at < length:
        if q[at] == 63:
            return at
        past = skip_literal(q, at, length, backslash)
        at = past if past > at else at + 1
    return length


cdef uint32_t count_markers(const char *q, size_t length, bint backslash) noexcept nogil:
    cdef uint32_t n = 0
    cdef size_t at = next_marker(q, 0, length, backslash)
    while at < length:
        n += 1
        at = next_marker(q, at + 1, length, backslash)
    return n


cdef size_t literal_room(sql_param *p) noexcept nogil:
    if p.type == SQL_TYPE_DOUBLE:
        return 352                      # %f of the largest double has 317 characters
    return 2 * <size_t>p.data_len + 32


cdef size_t write_literal(char *to, sql_param *p, bint backslash) noexcept nogil:
    cdef const char *text = <const char *>p.buffer
    cdef size_t n = 0
    cdef uint32_t i
    if p.is_null:
        memcpy(to, b"NULL", 4)
        return 4
    if p.type == SQL_TYPE_BIGINT:
        return snprintf(to, 32, "%lld", (<long long *>p.buffer)[0])
    if p.type == SQL_TYPE_DOUBLE:
        return snprintf(to, 352, "%f", (<double *>p.buffer)[0])
    to[0] = 39
    n = 1
    for i in range(p.data_len):
        if text[i] == 39 or (backslash and text[i] == 92):
            to[n] = text[i]
            n += 1
        to[n] = text[i]
        n += 1
    to[n] = 39
    return n + 1


cdef char *emulated_query(db_statement *stmt, size_t *length) noexcept nogil:
    """The text with every marker replaced by its parameter; malloc'ed, NULL without memory."""
    cdef size_t room = stmt.length + 1
    cdef size_t at = 0, marker, n = 0
    cdef uint32_t i
    cdef bint backslash = stmt.connection.driver.backslash_escapes
    cdef char *text
    for i in range(stmt.nbound):
        room += literal_room(stmt.params[i])
    text = <char *>malloc(room)
    if text == NULL:
        return NULL
    i = 0
    while True:
        marker = next_marker(stmt.query, at, stmt.length, backslash)
        memcpy(text + n, stmt.query + at, marker - at)
        n += marker - at
        if marker >= stmt.length:
            break
        n += write_literal(text + n, stmt.params[i], backslash)
        i += 1
        at = marker + 1
    text[n] = 0
    length[0] = n
    return text


# -- parameters

cdef public sql_param *db_bind_create(int type, uint32_t max_len) noexcept nogil:
    """A parameter that is 0 or empty; integers become BIGINT, reals DOUBLE, strings VARCHAR of max_len bytes.
    NULL for a type that cannot be bound."""
    cdef param_memory *p
    cdef int kept
    if SQL_TYPE_TINYINT <= type <= SQL_TYPE_BIGINT:
        kept, max_len = SQL_TYPE_BIGINT, 8
    elif type == SQL_TYPE_FLOAT or type == SQL_TYPE_DOUBLE:
        kept, max_len = SQL_TYPE_DOUBLE, 8
    elif type == SQL_TYPE_CHAR or type == SQL_TYPE_VARCHAR:
        kept = SQL_TYPE_VARCHAR
    else:
        return NULL
    p = <param_memory *>calloc(1, sizeof(param_memory) + max_len + 1)
    if p == NULL:
        return NULL
    p.refs = 1
    p.pub.type = kept
    p.pub.buffer = <char *>p + sizeof(param_memory)
    p.pub.max_len = max_len
    p.pub.data_len = 0 if kept == SQL_TYPE_VARCHAR else 8
    return &p.pub


cdef public void db_param_release(sql_param *param) noexcept nogil:
    cdef param_memory *p = <param_memory *>param
    p.refs -= 1
    if p.refs == 0:
        free(p)


cdef public void db_param_set_string(sql_param *p, const char *value, size_t length) noexcept nogil:
    if length > p.max_len:
        length = p.max_len
    memcpy(p.buffer, value, length)
    p.data_len = <uint32_t>length
    p.is_null = False


cdef public void db_param_set_rand_str(sql_param *p, const char *format) noexcept nogil:
    """A random string of the template; what is longer than max_len is drawn and cut off."""
    cdef size_t length = strlen(format)
    cdef char *text
    if length <= p.max_len:
        rand_str(format, <char *>p.buffer)
        p.data_len = <uint32_t>length
        p.is_null = False
        return
    text = <char *>malloc(length)
    if text != NULL:
        rand_str(format, text)
        db_param_set_string(p, text, length)
        free(text)


cdef void unbind(db_statement *stmt) noexcept nogil:
    cdef uint32_t i
    for i in range(stmt.nbound):
        db_param_release(stmt.params[i])
    free(stmt.params)
    stmt.params = NULL
    stmt.nbound = 0


cdef public int db_bind_param(sql_statement *handle, sql_param **params, size_t nparams) noexcept nogil:
    """Bind one parameter a marker; 0, or 1 after a message if that cannot be."""
    cdef db_statement *stmt = <db_statement *>handle
    cdef db_connection *con = stmt.connection
    cdef sql_param **bound
    cdef size_t i
    if stmt.query == NULL:
        sb_log(LOG_ALERT, b"attempt to use an already closed statement")
        return 1
    if <int>nparams != stmt.pub.nparams:
        if strcmp(con.driver.key, b"mysql") == 0:
            sb_log(LOG_FATAL, b"Wrong number of parameters to mysql_stmt_bind_param")
        else:
            sb_log(LOG_ALERT, b"wrong number of parameters in prepared statement")
        return 1
    bound = <sql_param **>malloc((nparams or 1) * sizeof(sql_param *))
    if bound == NULL:
        return 1
    for i in range(nparams):
        (<param_memory *>params[i]).refs += 1
        bound[i] = params[i]
    unbind(stmt)
    stmt.params = bound
    stmt.nbound = <uint32_t>nparams
    stmt.types_changed = True
    if con.driver.ops.prepares_when_bound and not stmt.emulated and stmt.query != NULL and con.session != NULL:
        db_clear_error(con)
        stmt.epoch = 0          # should this fail, execute tries again
        if db_prepare_on_server(stmt) != DB_OK:
            db_failed(con, stmt.query, stmt.length)
            return 1
    return 0


# -- statements

cdef int db_run_statement(db_statement *stmt, db_operation operation,
                          int (*send)(db_statement *) noexcept nogil) noexcept nogil:
    cdef db_connection *con = stmt.connection
    cdef worker *w = worker_of(con.pub.thread_id)
    cdef uint64_t began_ns = call_begin() if operation == DB_OP_EXECUTE else 0
    cdef int rc
    con.operation = operation
    con.statement = stmt
    statement_begins(w, stmt.query, stmt.length, stmt)
    rc = send(stmt)
    worker_settle(w)
    if rc == DB_OK:
        rc = db_receive(con)
    statement_ended(w)
    if began_ns:
        call_end(con, stmt, NULL, 0, began_ns, rc == DB_OK)
    return rc


cdef int db_prepare_on_server(db_statement *stmt) noexcept nogil:
    cdef db_connection *con = stmt.connection
    if db_run_statement(stmt, DB_OP_PREPARE, con.driver.ops.send_prepare) != DB_OK:
        return DB_FAILED
    stmt.epoch = con.epoch
    stmt.prepared = not stmt.emulated
    stmt.types_changed = True
    return DB_OK


cdef public sql_statement *db_prepare(sql_connection *handle, const char *query, size_t length) noexcept nogil:
    """A statement with ? for its parameters; NULL on an error."""
    cdef db_connection *con = <db_connection *>handle
    cdef db_statement *stmt
    if not db_ready(con) or db_would_be_cut(con, query, length):
        return NULL
    stmt = <db_statement *>calloc(1, sizeof(db_statement))
    if stmt == NULL:
        return NULL
    stmt.query = <char *>malloc(length + 1)
    if stmt.query == NULL:
        free(stmt)
        return NULL
    memcpy(stmt.query, query, length)
    stmt.query[length] = 0
    stmt.length = length
    stmt.connection = con
    # An earlier statement may have had the same address.
    worker_of(con.pub.thread_id).statement_of = NULL
    stmt.pub.connection = handle
    stmt.pub.nparams = <int>count_markers(query, length, con.driver.backslash_escapes)
    con.refs += 1
    stmt.emulated = con.driver.emulate
    if stmt.emulated:
        return &stmt.pub
    if con.driver.draws_for_names and sb_rng_state != NULL:
        rng_next(sb_rng_state)
        rng_next(sb_rng_state)
    if db_prepare_on_server(stmt) != DB_OK:
        db_failed(con, stmt.query, stmt.length)
        db_statement_release(&stmt.pub)
        return NULL
    return &stmt.pub


cdef public sql_result *db_execute(sql_statement *handle) noexcept nogil:
    cdef db_statement *stmt = <db_statement *>handle
    cdef db_connection *con = stmt.connection
    cdef char *text
    cdef size_t length = 0
    if not db_ready(con):
        return NULL
    if stmt.query == NULL:
        db_api_error(con, b"attempt to use an already closed statement")
        return NULL
    if <int>stmt.nbound != stmt.pub.nparams:
        db_api_error(con, b"attempt to execute a statement whose parameters are not bound")
        return NULL
    if stmt.emulated:
        text = emulated_query(stmt, &length)
        if text == NULL:
            db_api_error(con, b"not enough memory for a statement")
            return NULL
        if db_would_be_cut(con, text, length):
            free(text)
            return NULL
        if db_run_query(con, text, length, stmt) != DB_OK:
            db_failed(con, text, length)
            free(text)
            return NULL
        free(text)
        return db_take_outcome(con, handle)
    # After a reconnect the server knows nothing of the statement: prepare it anew.
    if stmt.epoch != con.epoch and db_prepare_on_server(stmt) != DB_OK:
        db_failed(con, stmt.query, stmt.length)
        return NULL
    if db_run_statement(stmt, DB_OP_EXECUTE, con.driver.ops.send_execute) != DB_OK:
        db_failed(con, stmt.query, stmt.length)
        return NULL
    stmt.types_changed = False
    return db_take_outcome(con, handle)


cdef public int db_close(sql_statement *handle) noexcept nogil:
    """0, or 1 for an emulated statement, as the original returns."""
    cdef db_statement *stmt = <db_statement *>handle
    cdef db_connection *con = stmt.connection
    cdef bint live
    if stmt.query == NULL or db_is_waiting(con):
        return 1
    if con.result_open and con.result.pub.statement == handle:
        db_free_result(con)
    if con.bulk != NULL and con.bulk.under_way:
        bulk_settle(con)
    live = con.session != NULL and stmt.prepared and stmt.epoch == con.epoch
    if not stmt.emulated:
        con.driver.ops.close_statement(stmt, live)
    unbind(stmt)
    free(stmt.query)
    stmt.query = NULL
    return 1 if stmt.emulated else 0


cdef void free_statement(db_statement *stmt) noexcept nogil:
    db_close(&stmt.pub)
    db_unref(stmt.connection)
    free(stmt)


cdef public void db_statement_release(sql_statement *handle) noexcept nogil:
    """The Lua object is gone."""
    cdef db_statement *stmt = <db_statement *>handle
    cdef db_connection *con = stmt.connection
    cdef fiber *f = this_fiber()
    # One worker's garbage may be collected by another of its Lua state while it waits in the middle of a statement.
    if f != NULL and f.thread_id != con.pub.thread_id and con.session != NULL:
        stmt.next_garbage = con.garbage
        con.garbage = stmt
    else:
        free_statement(stmt)


cdef void release_garbage(db_connection *con) noexcept nogil:
    """Close the statements that nobody can use any more. Nothing else is under way on the connection."""
    cdef db_statement *stmt
    while con.garbage != NULL:
        stmt = con.garbage
        con.garbage = stmt.next_garbage
        free_statement(stmt)
