# Receiving: a state machine that acts on whole packets. Its place is in the session, so that it can be left and
# entered again wherever bytes are missing.
#
# A reply stays in the receive buffer as it came. Results are offsets into it; of a row nothing but its packet's
# header is read unless it is fetched.

cdef inline int my_take(my_session *s) noexcept nogil:
    """Take the next whole packet, which may be several on the wire: 1, or 0 if bytes are missing, or -1 if a
    packet is out of order."""
    cdef size_t at = s.input_at, n
    cdef uint8_t sequence = s.sequence
    cdef const uint8_t *head
    while True:
        if s.input_end - at < MY_HEADER:
            return 0
        head = <const uint8_t *>s.input + at
        n = get_u24(head)
        if head[3] != sequence and s.numbered:
            # A server that shuts down may say so unasked, in an error packet numbered 0.
            if head[3] != 0 or at != s.input_at or (s.stage != MY_HEAD and s.stage != MY_PREPARED):
                return -1
            if s.input_end - at == MY_HEADER:
                return 0
            if head[MY_HEADER] != 0xff:
                return -1
            s.farewell = True
        if s.input_end - at - MY_HEADER < n:
            return 0
        if at == s.input_at:
            s.packet = at + MY_HEADER
            s.packet_length = n
        at += MY_HEADER + n
        sequence = head[3] + 1
        if n < MY_FULL:
            break
    s.input_at = at
    s.sequence = sequence
    return 1


cdef int my_receive_reply(db_connection *con, my_session *s) noexcept nogil:
    """Receive a whole reply, all of its results: DB_OK, DB_FAILED, or DB_AGAIN if the descriptor would block."""
    cdef int rc
    while True:
        rc = my_take(s)
        if rc > 0:
            rc = my_act(con, s)
            if rc != DB_AGAIN:
                return rc
        elif rc < 0:
            return my_malformed(con, s)
        else:
            rc = my_read(con, s)
            if rc != DB_OK:
                return rc


cdef int my_act(db_connection *con, my_session *s) noexcept nogil:
    """Act on the packet that was taken: DB_AGAIN if more are to come, DB_OK at the end of the reply."""
    cdef const uint8_t *p = <const uint8_t *>s.input + s.packet
    cdef size_t n = s.packet_length
    if n == 0 or (n == MY_FULL and s.stage != MY_ROWS):
        return my_malformed(con, s)
    if p[0] == 0xff:
        return my_server_error(con, s, p, n)
    if s.stage == MY_ROWS:
        return my_row(con, s, p, n)
    if s.stage == MY_HEAD:
        return my_head(con, s, p, n)
    if s.stage == MY_PREPARED:
        return my_prepared(con, s, p, n)
    if s.stage == MY_COLUMNS or s.stage == MY_PARAMETERS:
        if p[0] == 0xfe:
            return my_malformed(con, s)
        s.definitions -= 1
        if s.definitions > 0:
            return DB_AGAIN
        if not s.deprecate_eof:
            s.stage = MY_COLUMNS_EOF if s.stage == MY_COLUMNS else MY_PARAMETERS_EOF
            return DB_AGAIN
    elif p[0] != 0xfe or n != 5:
        return my_malformed(con, s)
    return my_defined(con, s)


cdef int my_defined(db_connection *con, my_session *s) noexcept nogil:
    """All definitions of one kind have come."""
    cdef my_result *r
    if con.operation == DB_OP_PREPARE:
        if s.stage == MY_PARAMETERS or s.stage == MY_PARAMETERS_EOF:
            return my_columns_follow(con, s)
        return my_prepared_whole(con, s)
    r = &s.results[s.nresults - 1]
    s.stage = MY_ROWS
    r.rows_at = s.input_at
    # A server that sends definitions anew, because they have changed, will leave these out next time.
    if s.binary and s.cache_metadata and s.nresults == 1 and r.columns_at \
            and my_keep_columns(con, s, r.columns_at, r.nfields) != DB_OK:
        return DB_FAILED
    return DB_AGAIN


cdef my_result *my_add_result(my_session *s) noexcept nogil:
    if not make_room(<void **>&s.results, &s.results_size, <size_t>s.nresults + 1, sizeof(my_result), 1):
        return NULL
    s.nresults += 1
    memset(&s.results[s.nresults - 1], 0, sizeof(my_result))
    return &s.results[s.nresults - 1]


cdef int my_head(db_connection *con, my_session *s, const uint8_t *p, size_t n) noexcept nogil:
    cdef const uint8_t *end = p + n
    cdef uint64_t count = 0
    cdef char nothing[MY_HEADER]
    cdef bint follow = True
    cdef my_result *r = my_add_result(s)
    if r == NULL:
        return my_lose(con, s, 2008, b"Client ran out of memory")
    if p[0] == 0:
        return my_end(con, s, p, n, &r.affected)
    if p[0] == 0xfb and my_wants_rows(con, p + 1, n - 1):
        s.nresults -= 1
        return DB_OK
    if p[0] == 0xfb:
        # LOAD DATA LOCAL: no file is ever sent; an empty packet says that there is nothing.
        s.refused = True
        s.nresults -= 1
        put_bytes(nothing, <uint64_t>s.sequence << 24, MY_HEADER)
        s.sequence += 1
        return DB_AGAIN if my_write(s, nothing, MY_HEADER) else my_gone(con, s)
    p = get_length(p, end, &count)
    if p != NULL and s.cache_metadata and p < end:
        follow = p[0] != 0
        p += 1
    if p != end or count == 0 or count > MY_MAX_COLUMNS:
        return my_malformed(con, s)
    r.nfields = <uint32_t>count
    r.shortest_row = 1 + (count + 9) // 8 if s.binary else count
    if follow:
        r.columns_at = s.input_at
        s.definitions = r.nfields
        s.stage = MY_COLUMNS
        return DB_AGAIN
    if not s.binary or (<my_statement *>con.statement.session).ncolumns != r.nfields:
        return my_malformed(con, s)
    if not s.deprecate_eof:
        s.stage = MY_COLUMNS_EOF
        return DB_AGAIN
    return my_defined(con, s)


cdef int my_row(db_connection *con, my_session *s, const uint8_t *p, size_t n) noexcept nogil:
    cdef my_result *r = &s.results[s.nresults - 1]
    cdef uint64_t affected
    # 0xfe also begins the length of a value of 16 MiB, but then the packet is full.
    if p[0] == 0xfe and (n < 9 or (s.deprecate_eof and n < MY_FULL)):
        return my_end(con, s, p, n, &affected)
    if n < r.shortest_row or (s.binary and p[0] != 0):
        return my_malformed(con, s)
    r.nrows += 1
    return DB_AGAIN


cdef int my_end(db_connection *con, my_session *s, const uint8_t *p, size_t n, uint64_t *affected) noexcept nogil:
    """An OK packet, or an EOF packet in either form: the end of one result."""
    cdef const uint8_t *end = p + n
    cdef uint64_t insert_id
    cdef uint32_t status
    if p[0] == 0xfe and not s.deprecate_eof:
        if n != 5:
            return my_malformed(con, s)
        status = get_u16(p + 3)
    else:
        p = get_length(p + 1, end, affected)
        if p != NULL:
            p = get_length(p, end, &insert_id)
        if p == NULL or end - p < 2:
            return my_malformed(con, s)
        status = get_u16(p)
        s.warnings = get_u16(p + 2) if end - p >= 4 else 0
    if status & MY_MORE_RESULTS:
        s.stage = MY_HEAD
        return DB_AGAIN
    if s.refused:
        return my_fail(con, 2068, b"LOAD DATA LOCAL INFILE file request rejected: files are never sent")
    my_select(con, s, 0)
    return DB_OK


cdef void my_select(db_connection *con, my_session *s, uint32_t index) noexcept nogil:
    """Make one of the results the connection's outcome."""
    cdef my_result *r = &s.results[index]
    s.current = index
    s.row_at = r.rows_at
    s.rows_left = r.nrows
    s.fields_ready = False
    con.has_rows = r.nfields > 0
    con.affected = r.affected
    con.result.pub.nrows = r.nrows
    con.result.pub.nfields = r.nfields


# -- the reply to a prepare

cdef int my_prepared(db_connection *con, my_session *s, const uint8_t *p, size_t n) noexcept nogil:
    cdef my_statement *st = <my_statement *>con.statement.session
    if p[0] != 0 or n < 12:
        return my_malformed(con, s)
    st.id = get_u32(p + 1)
    st.ncolumns = get_u16(p + 5)
    con.statement.pub.nparams = <int>get_u16(p + 7)
    s.definitions = <uint32_t>con.statement.pub.nparams
    if s.definitions == 0:
        return my_columns_follow(con, s)
    s.stage = MY_PARAMETERS
    return DB_AGAIN


cdef int my_columns_follow(db_connection *con, my_session *s) noexcept nogil:
    s.definitions = (<my_statement *>con.statement.session).ncolumns
    s.columns_at = s.input_at
    if s.definitions == 0:
        return my_prepared_whole(con, s)
    s.stage = MY_COLUMNS
    return DB_AGAIN


cdef int my_prepared_whole(db_connection *con, my_session *s) noexcept nogil:
    global my_most_prepared
    s.prepared += 1
    if s.prepared > my_most_prepared:
        my_most_prepared = s.prepared
    if s.cache_metadata:
        return my_keep_columns(con, s, s.columns_at, (<my_statement *>con.statement.session).ncolumns)
    return DB_OK
