# A connection of the engine's own, for Python: what a test sends before and after its run.


class SqlError(Exception):
    """A statement failed, as the server or the library says."""

    def __init__(self, number: int, sqlstate: str, message: str) -> None:
        super().__init__(message)
        self.number, self.sqlstate, self.message = number, sqlstate, message


cdef object error_of(db_connection *con):
    """The connection's error record as an exception."""
    if con.pub.sql_state == NULL:
        return SqlError(0, "HY000", "SQL API error")
    return SqlError(con.pub.sql_errno, (<bytes>con.sqlstate).decode("ascii", "replace"),
                    (<bytes>con.message).decode("utf-8", "replace"))


cdef class SqlClient:
    """A connection to the driver of db_setup(). Its statements are counted nowhere, its errors are exceptions."""
    cdef db_connection *con

    def __init__(self) -> None:
        if default_driver == NULL:
            raise SqlError(0, "HY000", (<bytes>no_default_driver).decode("utf-8", "replace"))
        self.con = db_connection_new(default_driver, -1)
        if self.con == NULL:
            raise MemoryError()
        if db_connect(self.con, False) != DB_OK:
            raise error_of(self.con)

    def __dealloc__(self):
        if self.con != NULL:
            db_drop_session(self.con)
            db_unref(self.con)

    def execute(self, bytes statement not None) -> list:
        """Run a statement; its rows, as tuples of bytes and None. Raises SqlError."""
        cdef const char *text = statement
        cdef size_t length = len(statement)
        cdef sql_result *rs = NULL
        cdef sql_row *row
        cdef uint32_t i
        cdef bint ok
        rows = []
        with nogil:
            ok = db_ready(self.con) and db_run_query(self.con, text, length, NULL) == DB_OK
            if ok:
                rs = db_take_outcome(self.con, NULL)
        if not ok:
            raise error_of(self.con)
        if rs != NULL:
            for _ in range(rs.nrows):
                row = db_fetch_row(rs)
                if row == NULL:
                    break
                rows.append(tuple([
                    row.values[i].buffer[:row.values[i].length] if row.values[i].buffer != NULL else None
                    for i in range(rs.nfields)
                ]))
        db_free_result(self.con)
        return rows

    def close(self) -> None:
        """Say goodbye to the server."""
        db_drop_session(self.con)
