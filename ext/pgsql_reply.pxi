# Receiving: a state machine that acts on whole messages. Its place is in the session, so that it can be left and
# entered again wherever bytes are missing.
#
# A reply stays in the receive buffer as it came. Results are offsets into it; of a row only the number of its
# values is read unless it is fetched.

cdef int pg_receive_reply(db_connection *con, pg_session *s) noexcept nogil:
    """Receive a whole reply, all of its results: DB_OK, DB_FAILED, or DB_AGAIN if the descriptor would block."""
    cdef int rc
    cdef size_t at, n, whole
    while True:
        at = s.input_at
        whole = PG_HEADER
        if s.input_end - at >= PG_HEADER:
            n = get_be32(s.input + at + 1)
            if n < 4 or n > PG_LONGEST:
                return pg_malformed(con, s)
            whole = n + 1
        if s.input_end - at < whole or s.input_end - at < PG_HEADER:
            rc = pg_read(con, s)
            if rc != DB_OK:
                return rc
            continue
        s.input_at = at + whole
        rc = pg_act(con, s, s.input[at], s.input + at + PG_HEADER, whole - PG_HEADER)
        if rc != DB_AGAIN:
            return rc


cdef int pg_act(db_connection *con, pg_session *s, char type, const char *p, size_t n) noexcept nogil:
    """Act on a message with n bytes of contents: DB_AGAIN if more are to come, DB_OK at the end of the reply."""
    if type == c"D":
        return pg_row(con, s, p, n)
    if type == c"C":
        return pg_complete(con, s, p, n)
    if type == c"Z":
        return pg_end(con, s, n > 0 and p[0] == c"E")
    if type == c"T":
        if n < 2:
            return pg_malformed(con, s)
        return pg_described(con, s, True, get_be16(p))
    if type == c"n":
        return pg_described(con, s, False, 0)
    if type == c"E":
        return pg_server_error(con, s, p, n)
    if type == c"I":
        s.failed = True                 # a text without a statement is no statement
        return DB_AGAIN
    if type == c"G" and con.bulk != NULL and con.bulk.load.state == LOAD_ASKED:
        con.bulk.load.state = LOAD_OPEN
        return DB_OK
    if type == c"G" or type == c"W":
        return pg_refuse_copy(con, s)
    if type == c"H":
        s.failed = True
        s.copy_at = s.input_at
        return DB_AGAIN
    if type == c"c":
        s.copy_at = 0
        return DB_AGAIN
    if memchr(b"123dtNASK", type, 9) != NULL:
        return DB_AGAIN                 # steps that are done, notices, parameters of the session
    return pg_malformed(con, s)


cdef pg_result *pg_add_result(pg_session *s) noexcept nogil:
    if not make_room(<void **>&s.results, &s.results_size, <size_t>s.nresults + 1, sizeof(pg_result), 1):
        return NULL
    s.nresults += 1
    memset(&s.results[s.nresults - 1], 0, sizeof(pg_result))
    return &s.results[s.nresults - 1]


cdef int pg_described(db_connection *con, pg_session *s, bint is_set, uint32_t nfields) noexcept nogil:
    """The columns of a statement that is being prepared, or of a set of rows that begins."""
    if s.preparing != NULL:
        s.preparing.returns_rows = is_set
        s.preparing.nfields = nfields
        return DB_AGAIN
    return pg_begin_set(con, s, nfields) if is_set else DB_AGAIN


cdef int pg_begin_set(db_connection *con, pg_session *s, uint32_t nfields) noexcept nogil:
    cdef pg_result *r = pg_add_result(s)
    if r == NULL:
        return pg_lose(con, s, b"53200", b"out of memory")
    r.is_set = True
    r.nfields = nfields
    r.rows_at = s.input_at
    s.in_set = True
    return DB_AGAIN


cdef int pg_row(db_connection *con, pg_session *s, const char *p, size_t n) noexcept nogil:
    cdef pg_result *r
    cdef uint32_t nfields
    if n < 2:
        return pg_malformed(con, s)
    nfields = get_be16(p)
    if n < 2 + 4 * <size_t>nfields:
        return pg_malformed(con, s)
    if not s.in_set:
        # Not even the server knows what a prepared FETCH returns until it runs.
        if pg_begin_set(con, s, nfields) != DB_AGAIN:
            return DB_FAILED
        s.results[s.nresults - 1].rows_at -= PG_HEADER + n
    r = &s.results[s.nresults - 1]
    if nfields != r.nfields:
        return pg_malformed(con, s)
    r.nrows += 1
    return DB_AGAIN


cdef int pg_complete(db_connection *con, pg_session *s, const char *tag, size_t n) noexcept nogil:
    """The end of one statement. Its tag ends in the number of rows, if it has to do with any."""
    cdef pg_result *r
    cdef size_t i
    if n == 0 or tag[n - 1] != 0:
        return pg_malformed(con, s)
    s.copy_at = 0
    if s.in_set or (s.executing != NULL and s.executing.returns_rows):
        if not s.in_set and pg_begin_set(con, s, s.executing.nfields) != DB_AGAIN:
            return DB_FAILED
        s.in_set = False
        return DB_AGAIN
    r = pg_add_result(s)
    if r == NULL:
        return pg_lose(con, s, b"53200", b"out of memory")
    i = n - 1
    while i > 0 and 48 <= tag[i - 1] <= 57:
        i -= 1
    while i < n - 1:
        r.affected = 10 * r.affected + <uint64_t>(tag[i] - 48)
        i += 1
    return DB_AGAIN


cdef int pg_refuse_copy(db_connection *con, pg_session *s) noexcept nogil:
    """The server waits for the rows of a COPY, and has dropped the Sync that has already been sent."""
    cdef const char *why = b"COPY is not supported"
    cdef char messages[64]
    cdef char *end = pg_ended(messages, put_text(pg_message(messages, c"f"), why, strlen(why)))
    if s.extended:
        end = pg_sync(end)
    s.failed = True
    pg_write(s, messages, end - messages)
    return DB_AGAIN


cdef int pg_end(db_connection *con, pg_session *s, bint aborted) noexcept nogil:
    """The server is ready for the next query."""
    s.waiting = False
    con.aborted = aborted
    if s.failed:
        s.nresults = 0
        return DB_FAILED
    if s.preparing != NULL:
        s.preparing.epoch = con.epoch
        return DB_OK
    if s.nresults == 0:
        return pg_malformed(con, s)
    pg_select(con, s, 0)
    return DB_OK


cdef void pg_select(db_connection *con, pg_session *s, uint32_t index) noexcept nogil:
    """Make one of the results the connection's outcome."""
    cdef pg_result *r = &s.results[index]
    s.current = index
    s.row_at = r.rows_at
    s.rows_left = r.nrows
    con.has_rows = r.is_set
    con.affected = r.affected
    con.result.pub.nrows = r.nrows
    con.result.pub.nfields = r.nfields


# -- errors

cdef struct pg_error_fields:
    const char *severity        # in English whatever lc_messages is, where the server knows
    const char *shown_severity
    const char *sqlstate
    const char *message
    const char *detail
    const char *hint
    const char *context
    const char *position        # in the query, in characters from 1


cdef bint pg_error_parts(const char *p, size_t n, pg_error_fields *f) noexcept nogil:
    """Fields are a letter and a string each, and a zero ends them. False if they are not."""
    cdef const char *end = p + n
    cdef const char *value
    memset(f, 0, sizeof(pg_error_fields))
    while p < end and p[0] != 0:
        value = p + 1
        if memchr(value, 0, end - value) == NULL:
            return False
        if p[0] == c"V":
            f.severity = value
        elif p[0] == c"S":
            f.shown_severity = value
        elif p[0] == c"C":
            f.sqlstate = value
        elif p[0] == c"M":
            f.message = value
        elif p[0] == c"D":
            f.detail = value
        elif p[0] == c"H":
            f.hint = value
        elif p[0] == c"W":
            f.context = value
        elif p[0] == c"P":
            f.position = value
        p = value + strlen(value) + 1
    if f.severity == NULL:
        f.severity = f.shown_severity
    return f.severity != NULL and f.sqlstate != NULL and strlen(f.sqlstate) == 5 and f.message != NULL


cdef int pg_server_error(db_connection *con, pg_session *s, const char *p, size_t n) noexcept nogil:
    """Of several errors the first one counts. After a FATAL one the server ends the session."""
    cdef pg_error_fields f
    cdef bint ends
    if not pg_error_parts(p, n, &f):
        return pg_malformed(con, s)
    ends = strcmp(f.severity, b"FATAL") == 0 or strcmp(f.severity, b"PANIC") == 0
    if not s.failed:
        if s.preparing != NULL:
            pg_explain(s, &f)
        db_set_error(con, 0, f.sqlstate, f.message, strlen(f.message))
        s.failed = True
    s.copy_at = 0
    if not ends:
        return DB_AGAIN
    con.lost = True
    s.waiting = False
    s.nresults = 0
    return DB_FAILED


cdef void pg_explain(pg_session *s, pg_error_fields *f) noexcept nogil:
    """Write down all that is known of an error in a prepare, as PostgreSQL's own clients show it."""
    cdef int room = 4096, at
    if s.explanation == NULL:
        s.explanation = <char *>malloc(room)
    if s.explanation == NULL:
        return
    at = snprintf(s.explanation, room, "%s:  %s", f.shown_severity if f.shown_severity != NULL else f.severity,
                  f.message)
    at = pg_explain_place(s, f, room, at)
    at = pg_explain_more(s, b"DETAIL:  ", f.detail, room, at)
    at = pg_explain_more(s, b"HINT:  ", f.hint, room, at)
    pg_explain_more(s, b"CONTEXT:  ", f.context, room, at)


cdef int pg_explain_more(pg_session *s, const char *label, const char *text, int room, int at) noexcept nogil:
    if text == NULL or at >= room:
        return at
    return at + snprintf(s.explanation + at, room - at, "\n%s%s", label, text)


cdef int pg_explain_place(pg_session *s, pg_error_fields *f, int room, int at) noexcept nogil:
    """The line of the query that the error is in, and a mark under the place; nothing for a long line."""
    cdef const char *line
    cdef const char *p
    cdef uint64_t left
    cdef int number = 1, column = 0, length
    if f.position == NULL or s.query_at == 0 or s.output == NULL or at >= room:
        return at
    line = p = s.output + s.query_at
    left = strtoull(f.position, NULL, 10)
    while left > 1 and p[0] != 0:
        if p[0] == 10:
            line = p + 1
            number += 1
            column = -1
        p += 1
        while (<uint8_t>p[0] & 0xc0) == 0x80:   # the rest of a character of UTF-8
            p += 1
        column += 1
        left -= 1
    length = 0
    while line[length] != 0 and line[length] != 10:
        length += 1
    if length > 300:
        return at
    at += snprintf(s.explanation + at, room - at, "\nLINE %d: ", number)
    if at >= room:
        return at
    column += 8 if number < 10 else 9 if number < 100 else 10
    at += snprintf(s.explanation + at, room - at, "%.*s\n%*s^", length, line, column, b"")
    return at if at < room else room
