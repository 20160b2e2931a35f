# Bulk inserts: rows are collected into multi-row statements of at most 512 KiB.

cdef enum:
    BULK_MAX = 524288


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
    memcpy(con.bulk, query, length)
    con.bulk_head = con.bulk_length = length
    con.bulk_has_rows = False
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
    con.bulk_has_rows = False
    return 0


cdef public int db_bulk_insert_next(sql_connection *handle, const char *values, size_t length) noexcept nogil:
    cdef db_connection *con = <db_connection *>handle
    if con.bulk == NULL:
        sb_log(LOG_ALERT, b"attempt to call bulk_insert_next() before bulk_insert_init()")
        return 1
    if db_would_be_cut(con, values, length):
        return 1
    # One byte for the comma, one for a terminator: the limit counts both.
    if con.bulk_has_rows and con.bulk_length + length + 2 > BULK_MAX and bulk_flush(con) != 0:
        return 1
    if con.bulk_length + length + 2 > BULK_MAX:
        sb_log(LOG_ALERT, b"a row of a bulk insert is longer than the largest statement (524288 bytes)")
        return 1
    if con.bulk_has_rows:
        con.bulk[con.bulk_length] = 44
        con.bulk_length += 1
    memcpy(con.bulk + con.bulk_length, values, length)
    con.bulk_length += length
    con.bulk_has_rows = True
    return 0


cdef public int db_bulk_insert_done(sql_connection *handle) noexcept nogil:
    cdef db_connection *con = <db_connection *>handle
    cdef int rc = 0
    if con.bulk == NULL:
        return 0
    if con.bulk_has_rows:
        rc = bulk_flush(con)
    bulk_clear(con)
    return rc
