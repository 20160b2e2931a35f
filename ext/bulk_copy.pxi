# --bulk=copy: a bulk insert whose rows the server takes in one statement, COPY ... FROM STDIN or LOAD DATA LOCAL.
#
# Rows are collected as an INSERT all the same. When that is full, they are converted and sent on, and the statement
# goes on until the bulk insert is done or the connection has something else to do. Where the server or the rows do
# not allow it, the INSERT is there to be sent.

cdef enum:
    LOAD_MARGIN = 8             # bytes before the rows, for the header of a driver's packet
    LOAD_BY_INSERT = 2          # of load_flush: send the INSERT instead

# How a database takes rows.
cdef struct load_ops:
    size_t (*statement)(char *, size_t, insert_target *) noexcept nogil     # that asks for rows; as snprintf
    int (*send_rows)(db_connection *, char *, size_t) noexcept nogil    # DB_FAILED: no more, its end tells why
    int (*send_end)(db_connection *) noexcept nogil
    int (*check)(db_connection *) noexcept nogil    # whether a load that went well has all rows; NULL if it always does

cdef bint bulk_by_copy = False


cdef void load_setup(bint by_copy) noexcept:
    """A command begins, with --bulk=copy or without."""
    global bulk_by_copy
    bulk_by_copy = by_copy
    across.loads_refused = 0


cdef inline row_scan scan_of(db_connection *con, const char *text, size_t length) noexcept nogil:
    cdef row_scan s
    memset(&s, 0, sizeof(s))
    s.at = text
    s.end = text + length
    s.backslash = con.driver.backslash_escapes
    return s


cdef int load_prepare(db_connection *con) noexcept nogil:
    """Make the load's statement of the head of the bulk insert, if that can be; 1 without memory."""
    cdef bulk_insert *b = con.bulk
    cdef bulk_load *load = &b.load
    cdef insert_target target
    cdef row_scan s = scan_of(con, b.text, b.head)
    cdef size_t size = b.head + 256
    load.columns = 0
    if con.driver.ops.loads == NULL:
        load_refuse(con, b"the driver has no statement for it")
        return 0
    if not parse_head(&s, &target):
        load_refuse(con, b"it is not of the form INSERT INTO table (columns) VALUES")
        return 0
    free(load.statement)
    load.statement = <char *>malloc(size)
    if load.rows == NULL:
        load.rows = <char *>malloc(LOAD_MARGIN + 2 * BULK_MAX)
    if load.statement == NULL or load.rows == NULL:
        db_api_error(con, b"not enough memory for a bulk insert")
        return 1
    load.statement_length = con.driver.ops.loads.statement(load.statement, size, &target)
    load.columns = target.n_columns
    return 0


cdef void load_refuse(db_connection *con, const char *why) noexcept nogil:
    """From here on INSERTs are sent. The first time in a command, say why."""
    cdef char line[1500]
    con.bulk.copies = False
    if sb_fetch_add(&across.loads_refused, 1) == 0:
        snprintf(line, sizeof(line), "--bulk=copy: rows are sent by INSERT statements: %s: %.*s", why,
                 <int>(con.bulk.head if con.bulk.head < 200 else 200), con.bulk.text)
        sb_log(LOG_WARNING, line)


cdef int load_begin(db_connection *con) noexcept nogil:
    """Ask the server to take rows."""
    cdef bulk_load *load = &con.bulk.load
    cdef int rc
    load.state = LOAD_ASKED
    load.sent = 0
    con.operation = DB_OP_QUERY
    con.statement = NULL
    rc = con.driver.ops.send_query(con, load.statement, load.statement_length)
    if rc == DB_OK:
        rc = db_receive(con)
    if rc == DB_OK and load.state != LOAD_OPEN:
        db_set_error(con, 0, b"HY000", b"the server does not ask for the rows", 36)
        rc = DB_FAILED
    if rc != DB_OK:
        load.state = LOAD_NONE
    return rc


cdef int load_flush(db_connection *con) noexcept nogil:
    """Send the rows collected: 0, 1 after a failure, or LOAD_BY_INSERT."""
    cdef bulk_insert *b = con.bulk
    cdef bulk_load *load = &b.load
    cdef worker *w = worker_of(con.pub.thread_id)
    cdef row_scan s = scan_of(con, b.text + b.head, b.length - b.head)
    cdef uint32_t rows
    cdef uint64_t began_ns
    cdef const char *why
    cdef char reason[1200]
    cdef int rc
    s.to = load.rows + LOAD_MARGIN
    why = convert_rows(&s, &load.columns, &rows)
    if why != NULL:
        if b.under_way and bulk_settle(con) != 0:
            return 1
        load_refuse(con, why)
        return LOAD_BY_INSERT
    if load.state != LOAD_OPEN:
        if not db_ready(con):
            return 1
        if load_begin(con) != DB_OK:
            if con.lost or con.aborted:
                return bulk_failed(con, load.statement, load.statement_length, 0)
            # An INSERT may be allowed; if not, its error is the one to be told.
            snprintf(reason, sizeof(reason), "%s", <char *>con.message)
            b.copies = False
            if bulk_send_insert(con) != 0 or (b.under_way and bulk_settle(con) != 0):
                return 1
            load_refuse(con, reason)
            return 0
        b.under_way = True
    began_ns = call_begin()
    statement_begins(w, load.statement, load.statement_length, NULL)
    rc = con.driver.ops.loads.send_rows(con, load.rows + LOAD_MARGIN, s.to - load.rows - LOAD_MARGIN)
    statement_ended(w)
    load.sent += rows
    b.length = b.head
    b.rows = 0
    if rc != DB_OK:
        bulk_settle(con)
        return 1
    if began_ns:
        con.affected = rows
        call_end(con, NULL, b.text, b.head, began_ns, True)
    count(w, <int>SB_CNT_WRITE, 1)
    sb_fetch_add(&bulk_rows, rows)
    return 0


cdef int load_end(db_connection *con) noexcept nogil:
    """Tell the server that there are no more rows, and hear how it went: 0, or 1 after a message."""
    cdef bulk_load *load = &con.bulk.load
    cdef worker *w = worker_of(con.pub.thread_id)
    cdef int rc
    load.state = LOAD_ENDING
    con.has_rows = False
    con.affected = 0
    statement_begins(w, load.statement, load.statement_length, NULL)
    rc = con.driver.ops.loads.send_end(con)
    if rc == DB_OK:
        rc = db_receive(con)
    statement_ended(w)
    load.state = LOAD_NONE
    con.result_open = True
    db_free_result(con)
    if rc == DB_OK and con.driver.ops.loads.check != NULL:
        rc = con.driver.ops.loads.check(con)
    if rc != DB_OK:
        return bulk_failed(con, load.statement, load.statement_length, load.sent)
    return 0
