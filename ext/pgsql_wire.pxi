# PostgreSQL's wire: the session, its buffers, and how messages are written and sent.
# Rules: "Frontend/Backend Protocol" in the PostgreSQL manual, version 3.0.

from cpython.ref cimport PyObject

cdef extern from "<errno.h>" nogil:
    int ECONNRESET

cdef enum:
    PG_HEADER = 5               # type and length of a message; the length counts itself, not the type
    PG_LONGEST = 0x3fffffff     # no message is longer
    PG_NUMBER_SIZE = 32         # room for the text of any int8 or float8
    PG_OID_INT8 = 20
    PG_OID_FLOAT8 = 701
    PG_OID_VARCHAR = 1043

cdef struct pg_statement:       # a db_statement's session
    char name[24]
    uint32_t epoch              # of the connection whose server knows the name; 0 is none
    bint returns_rows
    uint32_t nfields
    uint32_t *types             # of the parameters, one array entry each, as are

cdef struct pg_result:          # one of the results of a reply
    uint64_t affected
    uint32_t nrows
    uint32_t nfields
    bint is_set                 # of rows, if only of none
    size_t rows_at              # offset of the first row's message, or of one before it

cdef struct pg_session:
    int fd
    tls_stream tls
    PyObject *owner             # psycopg2's connection, which closes it
    bint polled                 # wait in poll, not in recv
    bint waiting                # a reply is to come
    bint sent                   # and nothing of it has been looked for yet
    bint extended               # to messages that end in a Sync
    bint failed                 # by an error, or by what is no statement
    bint in_set                 # rows of the last result are coming
    size_t copy_at              # where the rows of a COPY are dropped; 0 if there is none
    pg_statement *preparing     # whose description is to come
    pg_statement *executing     # whose rows are to come
    char *output
    size_t output_size
    size_t query_at             # of the statement being prepared
    char *input
    size_t input_size
    size_t input_end            # so many bytes have come
    size_t input_at             # the next message begins here
    pg_result *results
    size_t results_size
    uint32_t nresults
    uint32_t current            # the result that rows are fetched from
    size_t row_at               # its next row, or a message before it
    uint32_t rows_left
    char *explanation           # of the error of a prepare: message, place and hints


# -- bytes, highest first

cdef inline uint32_t get_be16(const char *p) noexcept nogil:
    return <uint32_t><uint8_t>p[0] << 8 | <uint8_t>p[1]


cdef inline uint32_t get_be32(const char *p) noexcept nogil:
    return get_be16(p) << 16 | get_be16(p + 2)


cdef inline char *put_be16(char *to, uint32_t value) noexcept nogil:
    to[0] = <char>(value >> 8)
    to[1] = <char>value
    return to + 2


cdef inline char *put_be32(char *to, uint32_t value) noexcept nogil:
    return put_be16(put_be16(to, value >> 16), value)


cdef inline char *put_text(char *to, const char *text, size_t length) noexcept nogil:
    """A string with the zero that ends it."""
    memcpy(to, text, length)
    to[length] = 0
    return to + length + 1


# -- failures

cdef int pg_lose(db_connection *con, pg_session *s, const char *sqlstate, const char *message) noexcept nogil:
    """The connection can be used no more."""
    s.waiting = False
    con.lost = True
    db_set_error(con, 0, sqlstate, message, strlen(message))
    return DB_FAILED


cdef int pg_malformed(db_connection *con, pg_session *s) noexcept nogil:
    return pg_lose(con, s, b"08P01", b"malformed message from the server")


cdef int pg_no_memory(db_connection *con) noexcept nogil:
    db_set_error(con, 0, b"53200", b"out of memory", 13)
    return DB_FAILED


# -- sending

cdef char *pg_begin(db_connection *con, pg_session *s, size_t length) noexcept nogil:
    """Begin messages that have a reply: where they go, with room for `length` bytes; NULL without memory."""
    cdef size_t rest = s.input_end - s.input_at
    if s.explanation != NULL:
        s.explanation[0] = 0
    if not grow_buffer(&s.output, &s.output_size, length):
        pg_no_memory(con)
        return NULL
    # Normally nothing is left. What came unasked is judged as the beginning of the next reply.
    if rest > 0:
        memmove(s.input, s.input + s.input_at, rest)
    s.input_end = rest
    s.input_at = 0
    s.nresults = 0
    s.failed = False
    s.in_set = False
    s.copy_at = 0
    s.preparing = NULL
    s.executing = NULL
    return s.output


cdef inline char *pg_message(char *to, char type) noexcept nogil:
    """Begin a message: where its contents go. pg_ended puts in the length."""
    to[0] = type
    return to + PG_HEADER


cdef inline char *pg_ended(char *message, char *end) noexcept nogil:
    """End the message that begins at `message`."""
    put_be32(message + 1, <uint32_t>(end - message - 1))
    return end


cdef inline char *pg_sync(char *to) noexcept nogil:
    return pg_ended(to, pg_message(to, c"S"))


cdef bint pg_write(pg_session *s, const char *data, size_t n) noexcept nogil:
    if s.tls.ssl != NULL:
        return tls_send(&s.tls, data, n)
    return socket_send(s.fd, data, n)


cdef int pg_send(pg_session *s, const char *end, bint extended) noexcept nogil:
    """Send what was written up to `end`. If that fails, the reply tells why: the server's last words, or its end."""
    pg_write(s, s.output, end - s.output)
    s.extended = extended
    s.waiting = s.sent = True
    return DB_OK


cdef int pg_read(db_connection *con, pg_session *s) noexcept nogil:
    """Take what has come from the server, waiting for it if the descriptor blocks."""
    cdef ssize_t n
    cdef char line[256]
    # The rows of a COPY are not kept.
    if s.copy_at:
        memmove(s.input + s.copy_at, s.input + s.input_at, s.input_end - s.input_at)
        s.input_end -= s.input_at - s.copy_at
        s.input_at = s.copy_at
    # The buffer grows with what has come, never with what a message says is to come.
    if s.input_size - s.input_end < s.input_size // 4 + 1:
        if not grow_buffer(&s.input, &s.input_size, s.input_size + 1):
            return pg_lose(con, s, b"53200", b"out of memory")
    if s.tls.ssl != NULL:
        n = tls_receive(&s.tls, False, s.input + s.input_end, s.input_size - s.input_end)
    else:
        # In the middle of a reply, the request has been read.
        n = socket_receive(s.fd, s.polled and s.input_end == s.input_at, s.input + s.input_end,
                           s.input_size - s.input_end)
    if n == WIRE_WOULD_BLOCK:
        return DB_AGAIN
    if n < 0 and s.tls.ssl == NULL and errno != ECONNRESET and errno != EPIPE:
        snprintf(line, sizeof(line), "could not receive data from server: %s", strerror(errno))
        return pg_lose(con, s, b"08006", line)
    if n <= 0:
        return pg_lose(con, s, b"08006", b"server closed the connection unexpectedly")
    s.input_end += n
    return DB_OK
