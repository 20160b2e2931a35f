# The null driver: every operation succeeds and sends nothing. It is the floor for measuring the cost of the
# engine, what --mysql-dry-run runs on, and the template for a new driver.

cdef int null_connect(db_connection *con) noexcept nogil:
    con.session = con           # anything but NULL: open
    return DB_OK


cdef void null_disconnect(db_connection *con) noexcept nogil:
    pass


cdef int null_send_query(db_connection *con, const char *query, size_t length) noexcept nogil:
    return DB_OK


cdef int null_send_statement(db_statement *stmt) noexcept nogil:
    return DB_OK


cdef int null_receive(db_connection *con) noexcept nogil:
    return DB_OK                # no rows, none affected: counted as "other"


cdef int null_wait_fd(db_connection *con) noexcept nogil:
    return -1


cdef int null_next_result(db_connection *con) noexcept nogil:
    return DB_FAILED


cdef bint null_more_results(db_connection *con) noexcept nogil:
    return False


cdef bint null_fetch_row(db_connection *con, sql_value *values) noexcept nogil:
    return False


cdef void null_free_result(db_connection *con) noexcept nogil:
    pass


cdef void null_close_statement(db_statement *stmt, bint live) noexcept nogil:
    pass


cdef void null_report(db_connection *con, db_operation operation, const char *query, size_t length) noexcept nogil:
    pass


cdef db_ops null_ops
null_ops.connect = null_connect
null_ops.disconnect = null_disconnect
null_ops.send_query = null_send_query
null_ops.send_prepare = null_send_statement
null_ops.send_execute = null_send_statement
null_ops.receive = null_receive
null_ops.wait_fd = null_wait_fd
null_ops.next_result = null_next_result
null_ops.more_results = null_more_results
null_ops.fetch_row = null_fetch_row
null_ops.free_result = null_free_result
null_ops.close_statement = null_close_statement
null_ops.rollback = NULL
null_ops.report = null_report
null_ops.loads = NULL
