# Bulk inserts: rows are collected into multi-row statements of at most 512 KiB.

cdef enum:
    BULK_MAX = 524288
    BULK_FORM_MAX = 16

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


cdef void bulk_clear(db_connection *con) noexcept nogil:
    free(con.bulk)
    con.bulk = NULL


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
        con.bulk = <char *>malloc(BULK_MAX)
        if con.bulk == NULL:
            return 1
    if bulk_forms[con.driver - drivers].before[0]:
        length = without_values(query, length)
    memcpy(con.bulk, query, length)
    con.bulk_head = con.bulk_length = length
    con.bulk_rows = 0
    return 0


cdef int bulk_flush(db_connection *con) noexcept nogil:
    if not db_ready(con):
        return 1
    if db_run_query(con, con.bulk, con.bulk_length, NULL) != DB_OK:
        db_failed(con, con.bulk, con.bulk_length)
        return 1
    db_take_outcome(con, NULL)
    db_free_result(con)
    sb_fetch_add(&bulk_rows, con.affected)
    con.bulk_length = con.bulk_head
    con.bulk_rows = 0
    return 0


cdef inline void bulk_add(db_connection *con, const char *text, size_t length) noexcept nogil:
    memcpy(con.bulk + con.bulk_length, text, length)
    con.bulk_length += length


cdef public int db_bulk_insert_next(sql_connection *handle, const char *values, size_t length) noexcept nogil:
    cdef db_connection *con = <db_connection *>handle
    cdef bulk_form *form = &bulk_forms[con.driver - drivers]
    cdef const char *between = form.between
    cdef size_t added
    if con.bulk == NULL:
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
    if con.bulk_rows > 0 and (con.bulk_length + added > BULK_MAX or con.bulk_rows == form.most_rows):
        if bulk_flush(con) != 0:
            return 1
    if con.bulk_length + added > BULK_MAX:
        sb_log(LOG_ALERT, b"a row of a bulk insert is longer than the largest statement (524288 bytes)")
        return 1
    if con.bulk_rows > 0:
        bulk_add(con, between, strlen(between))
    bulk_add(con, form.before, strlen(form.before))
    bulk_add(con, values, length)
    bulk_add(con, form.after, strlen(form.after))
    con.bulk_rows += 1
    return 0


cdef public int db_bulk_insert_done(sql_connection *handle) noexcept nogil:
    cdef db_connection *con = <db_connection *>handle
    cdef int rc = 0
    if con.bulk == NULL:
        return 0
    if con.bulk_rows > 0:
        rc = bulk_flush(con)
    bulk_clear(con)
    return rc
