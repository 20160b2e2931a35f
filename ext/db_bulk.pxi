# Bulk inserts: rows are collected into multi-row statements of at most 512 KiB. With --bulk=copy the rows of a full
# statement go to the server by a load instead (bulk_copy.pxi).

cdef enum:
    BULK_MAX = 524288
    BULK_FORM_MAX = 16

cdef enum load_state:
    LOAD_NONE
    LOAD_ASKED                  # its statement has been sent
    LOAD_OPEN                   # the server takes rows
    LOAD_ENDING                 # all have been sent

cdef struct bulk_load:
    load_state state
    char *statement             # asks the server to take rows
    size_t statement_length
    uint32_t columns            # of each row; 0 until the first is seen
    uint64_t sent               # rows
    char *rows                  # the next ones, behind LOAD_MARGIN bytes for the driver

cdef struct bulk_insert:
    char *text                  # the INSERT under construction
    size_t head                 # bytes before its first row
    size_t length
    uint32_t rows
    char *sent                  # the one before
    size_t sent_length
    uint32_t sent_rows
    uint64_t sent_ns            # when, if calls are timed
    bint under_way              # the outcome of `sent`, or of the load, is to come
    bint copies                 # by a load, as long as the rows allow it
    bulk_load load

# How rows become one statement where a multi-row VALUES is unknown or limited.
cdef struct bulk_form:
    char before[BULK_FORM_MAX]  # stands in place of a row's brackets, and without VALUES; empty to keep these
    char after[BULK_FORM_MAX]
    char between[BULK_FORM_MAX]
    uint32_t most_rows          # of a statement, 0 for no limit

cdef bulk_form bulk_forms[DB_MAX_DRIVERS]       # by number of the driver; between is empty for a comma


def bulk_setup(str key, bytes before not None, bytes after not None, bytes between not None,
               uint32_t most_rows) -> None:
    """How the rows of a driver's bulk inserts become one statement: with `between` between them, and with `before`
    and `after` instead of VALUES and the brackets of each if `before` is not empty; 0 rows for no limit."""
    cdef bulk_form *form = &bulk_forms[driver_of(key) - drivers]
    if max(len(before), len(after), len(between)) >= BULK_FORM_MAX:
        raise ValueError(f"{before!r}, {after!r}, {between!r}")
    strcpy(form.before, <const char *>before)
    strcpy(form.after, <const char *>after)
    strcpy(form.between, <const char *>between)
    form.most_rows = most_rows


cdef size_t without_values(const char *head, size_t length) noexcept nogil:
    """The length of `INSERT INTO t VALUES` without its last word."""
    cdef size_t end = length
    while end > 0 and head[end - 1] <= 32:
        end -= 1
    return end - 6 if end > 6 and strncasecmp(head + end - 6, b"VALUES", 6) == 0 else length


# Written by all threads, but only once a statement of half a megabyte.
cdef uint64_t bulk_rows = 0


def db_rows_loaded() -> int:
    """How many rows bulk inserts have inserted since the start of the process."""
    return sb_load(&bulk_rows)


cdef void bulk_free(db_connection *con) noexcept nogil:
    """Forget rows that have not been sent."""
    if con.bulk != NULL:
        if con.bulk.rows > 0:
            sb_fetch_add(&across.bulk_rows_lost, con.bulk.rows)
        free(con.bulk.text)
        free(con.bulk.sent)
        free(con.bulk.load.statement)
        free(con.bulk.load.rows)
        free(con.bulk)
        con.bulk = NULL


cdef bulk_insert *bulk_new() noexcept nogil:
    """NULL without memory."""
    cdef bulk_insert *b = <bulk_insert *>calloc(1, sizeof(bulk_insert))
    if b != NULL:
        b.text = <char *>malloc(BULK_MAX)
        if b.text != NULL:
            return b
        free(b)
    return NULL


cdef public int db_bulk_insert_init(sql_connection *handle, const char *query, size_t length) noexcept nogil:
    cdef db_connection *con = <db_connection *>handle
    cdef char line[128]
    if not db_ready(con) or db_would_be_cut(con, query, length):
        return 1
    if length + 1 > BULK_MAX:
        snprintf(line, sizeof(line), "Query length exceeds the maximum value (%d), aborting", <int>BULK_MAX)
        sb_log(LOG_FATAL, line)
        return 1
    if con.bulk == NULL:
        con.bulk = bulk_new()
        if con.bulk == NULL:
            return 1
    if bulk_forms[con.driver - drivers].before[0]:
        length = without_values(query, length)
    memcpy(con.bulk.text, query, length)
    con.bulk.head = con.bulk.length = length
    con.bulk.rows = 0
    con.bulk.copies = bulk_by_copy
    return load_prepare(con) if bulk_by_copy else 0


cdef int bulk_send_insert(db_connection *con) noexcept nogil:
    """Send the statement, and begin the next one. Only an event waits for the outcome: while the server works
    on it, a prepare makes the next rows."""
    cdef bulk_insert *b = con.bulk
    cdef worker *w = worker_of(con.pub.thread_id)
    cdef char *other
    cdef int rc
    if not db_ready(con):
        return 1
    if b.sent == NULL:
        b.sent = <char *>malloc(BULK_MAX)
        if b.sent == NULL:
            db_api_error(con, b"not enough memory for a bulk insert")
            return 1
    other, b.sent, b.sent_length = b.sent, b.text, b.length
    b.text = other
    memcpy(b.text, b.sent, b.head)
    b.length = b.head
    b.sent_rows, b.rows = b.rows, 0
    b.sent_ns = call_begin()
    con.operation = DB_OP_QUERY
    con.statement = NULL
    statement_begins(w, b.sent, b.sent_length, NULL)
    rc = con.driver.ops.send_query(con, b.sent, b.sent_length)
    statement_ended(w)
    if rc != DB_OK:
        return bulk_end_insert(con, rc)
    b.under_way = True
    return bulk_settle(con) if w.event_start_ns or b.sent_ns else 0


cdef int bulk_failed(db_connection *con, const char *statement, size_t length, uint64_t rows) noexcept nogil:
    """1. A bulk insert fails with any error, and what would be ignored in an event has not been printed."""
    sb_fetch_add(&across.bulk_rows_lost, rows)
    db_failed(con, statement, length)
    if con.pub.error == DB_ERROR_IGNORABLE:
        note_first(con, &across.bulk_ignored)
    return 1


cdef int bulk_end_insert(db_connection *con, int rc) noexcept nogil:
    """The outcome of the statement sent last is there."""
    cdef bulk_insert *b = con.bulk
    if b.sent_ns:
        call_end(con, NULL, b.sent, b.sent_length, b.sent_ns, rc == DB_OK)
    if rc != DB_OK:
        return bulk_failed(con, b.sent, b.sent_length, b.sent_rows)
    db_take_outcome(con, NULL)
    db_free_result(con)
    sb_fetch_add(&bulk_rows, con.affected)
    return 0


cdef int bulk_settle(db_connection *con) noexcept nogil:
    """Wait for the outcome of what is under way; 1, after a message, if that has failed."""
    cdef bulk_insert *b = con.bulk
    cdef worker *w = worker_of(con.pub.thread_id)
    cdef int rc
    b.under_way = False
    if b.load.state != LOAD_NONE:
        return load_end(con)
    statement_begins(w, b.sent, b.sent_length, NULL)
    rc = db_receive(con)
    statement_ended(w)
    return bulk_end_insert(con, rc)


cdef public int db_connection_settle(sql_connection *handle) noexcept nogil:
    """Wait for the outcome of what a bulk insert has sent, if any; 1 if that has failed."""
    cdef db_connection *con = <db_connection *>handle
    if con.session == NULL or con.bulk == NULL or not con.bulk.under_way:
        return 0
    return bulk_settle(con)


cdef int bulk_flush(db_connection *con) noexcept nogil:
    cdef int rc
    if con.bulk.copies:
        rc = load_flush(con)
        if rc != LOAD_BY_INSERT:
            return rc
    return bulk_send_insert(con)


cdef inline void bulk_add(bulk_insert *b, const char *text, size_t length) noexcept nogil:
    memcpy(b.text + b.length, text, length)
    b.length += length


cdef public int db_bulk_insert_next(sql_connection *handle, const char *values, size_t length) noexcept nogil:
    cdef db_connection *con = <db_connection *>handle
    cdef bulk_insert *b = con.bulk
    cdef bulk_form *form = &bulk_forms[con.driver - drivers]
    cdef const char *between = form.between
    cdef size_t added
    if b == NULL:
        sb_log(LOG_ALERT, b"attempt to call bulk_insert_next() before bulk_insert_init()")
        return 1
    if db_would_be_cut(con, values, length):
        return 1
    if between[0] == 0:
        between = b","
    if form.before[0] and length >= 2:
        values += 1                         # without its brackets
        length -= 2
    # The separator and a terminator count too.
    added = strlen(between) + strlen(form.before) + length + strlen(form.after) + 1
    if b.rows > 0 and (b.length + added > BULK_MAX or b.rows == form.most_rows):
        if bulk_flush(con) != 0:
            return 1
    if b.length + added > BULK_MAX:
        sb_log(LOG_ALERT, b"a row of a bulk insert is longer than the largest statement (524288 bytes)")
        return 1
    if b.rows > 0:
        bulk_add(b, between, strlen(between))
    bulk_add(b, form.before, strlen(form.before))
    bulk_add(b, values, length)
    bulk_add(b, form.after, strlen(form.after))
    b.rows += 1
    return 0


cdef public int db_bulk_insert_done(sql_connection *handle) noexcept nogil:
    """Send the rows that are left, and wait until all are there. Events have put that off: it is of their time."""
    cdef db_connection *con = <db_connection *>handle
    cdef int rc = 0
    if con.bulk == NULL:
        return 0
    if con.bulk.rows > 0:
        rc = bulk_flush(con)
    if rc == 0 and con.bulk.under_way:
        rc = bulk_settle(con)
    bulk_free(con)
    worker_time_ends(con.pub.thread_id)
    return rc
