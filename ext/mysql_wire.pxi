# MySQL's wire: the session, its buffers, and how bytes and commands travel.
# Rules: "Client/Server Protocol" in the MySQL source documentation and in the MariaDB knowledge base.

cdef extern from "Python.h":
    object PyMemoryView_FromMemory(char *, Py_ssize_t, int)
    int PyBUF_READ
    int PyBUF_WRITE

cdef enum:
    MY_HEADER = 4               # length (3 bytes, little endian) and sequence number of a packet
    MY_FULL = 0xffffff          # a payload of this length goes on in the next packet
    MY_MAX_COLUMNS = 65535
    MY_MORE_RESULTS = 8         # server status
    MY_NO_SENSE = -3            # of a transport, beside WIRE_WOULD_BLOCK

cdef enum my_command:
    MY_QUIT = 1, MY_QUERY = 3, MY_PREPARE = 22, MY_EXECUTE = 23, MY_CLOSE_STATEMENT = 25

cdef enum my_stage:             # what the next packet of the reply is
    MY_HEAD                     # OK, or the number of columns of a result set, or a request for a file
    MY_COLUMNS                  # a column definition; `definitions` of them are to come
    MY_COLUMNS_EOF              # without DEPRECATE_EOF
    MY_ROWS                     # a row, or the end of the result set
    MY_PREPARED                 # number of the statement, and how many parameters and columns it has
    MY_PARAMETERS               # a parameter definition; `definitions` of them are to come
    MY_PARAMETERS_EOF

cdef struct my_column:
    uint32_t length             # display width
    uint16_t flags
    uint8_t type
    uint8_t decimals

cdef struct my_statement:       # a db_statement's session
    uint32_t id                 # on the server
    uint32_t ncolumns           # of its result sets
    my_column *columns          # known only with cache_metadata

cdef struct my_result:          # one of the results of a reply
    uint64_t affected
    uint32_t nrows
    uint32_t nfields            # 0: not a result set
    size_t columns_at           # offset of the column definitions; 0 if the statement has them
    size_t rows_at              # offset of the first row's packet
    size_t shortest_row         # bytes of a row that has but NULL in it

cdef struct my_session:
    int fd
    tls_stream tls
    void *transport             # a Python object with sendall, recv_into and leave, or NULL: fd is ours
    bint deprecate_eof          # results end in an OK packet, columns in nothing
    bint cache_metadata         # MariaDB leaves out column definitions that a statement has sent before
    bint polled                 # wait in poll, not in recv
    bint numbered               # packets bear numbers that follow each other
    bint broken                 # no further word can be said on this connection
    bint refused                # the server asked for a local file
    uint32_t warnings           # of the last statement
    bint farewell               # the last packet was an error that no command had asked for
    bint binary                 # rows are those of a prepared statement
    my_stage stage
    uint8_t sequence            # of the next packet
    uint32_t definitions
    size_t columns_at           # definitions of the statement being prepared
    uint32_t prepared           # how many statements
    char *output
    size_t output_size
    char *input
    size_t input_size
    size_t input_end            # so many bytes have come
    size_t input_at             # the next packet begins here
    size_t packet               # payload of the packet last taken
    size_t packet_length        # of its first MY_FULL bytes
    my_result *results
    size_t results_size
    uint32_t nresults
    uint32_t current            # the result that rows are fetched from
    size_t row_at               # its next row
    uint32_t rows_left
    my_column *fields           # of the current result, if fields_ready
    uint32_t fields_size
    bint fields_ready
    char *text                  # what binary values of the current row read as
    size_t text_size


# -- bytes

cdef inline uint32_t get_u16(const uint8_t *p) noexcept nogil:
    return p[0] | <uint32_t>p[1] << 8


cdef inline uint32_t get_u24(const uint8_t *p) noexcept nogil:
    return p[0] | <uint32_t>p[1] << 8 | <uint32_t>p[2] << 16


cdef inline uint32_t get_u32(const uint8_t *p) noexcept nogil:
    return get_u24(p) | <uint32_t>p[3] << 24


cdef inline uint64_t get_u64(const uint8_t *p) noexcept nogil:
    return get_u32(p) | <uint64_t>get_u32(p + 4) << 32


cdef inline char *put_bytes(char *to, uint64_t value, int n) noexcept nogil:
    """The n lowest bytes of value, lowest first; the end of them."""
    cdef int i
    for i in range(n):
        to[i] = <char>(value >> 8 * i)
    return to + n


cdef inline char *put_length(char *to, uint64_t length) noexcept nogil:
    """A length-encoded integer, at most 9 bytes."""
    if length < 251:
        return put_bytes(to, length, 1)
    if length < 0x10000:
        return put_bytes(put_bytes(to, 0xfc, 1), length, 2)
    if length < 0x1000000:
        return put_bytes(put_bytes(to, 0xfd, 1), length, 3)
    return put_bytes(put_bytes(to, 0xfe, 1), length, 8)


cdef inline const uint8_t *get_length(const uint8_t *p, const uint8_t *end, uint64_t *length) noexcept nogil:
    """Past a length-encoded integer; NULL if it is none or does not end before `end`."""
    cdef ptrdiff_t room = end - p
    if room < 1:
        return NULL
    if p[0] < 251:
        length[0] = p[0]
        return p + 1
    if p[0] == 0xfc and room >= 3:
        length[0] = get_u16(p + 1)
        return p + 3
    if p[0] == 0xfd and room >= 4:
        length[0] = get_u24(p + 1)
        return p + 4
    if p[0] == 0xfe and room >= 9:
        length[0] = get_u64(p + 1)
        return p + 9
    return NULL


cdef inline const uint8_t *get_string(const uint8_t *p, const uint8_t *end, sql_value *value) noexcept nogil:
    """Past a length-encoded string; NULL if it does not end before `end`."""
    cdef uint64_t length = 0
    p = get_length(p, end, &length)
    if p == NULL or length > <uint64_t>(end - p):
        return NULL
    value.buffer = <const char *>p
    value.length = <size_t>length
    return p + length


# -- failures

cdef int my_fail(db_connection *con, int number, const char *message) noexcept nogil:
    db_set_error(con, number, b"HY000", message, strlen(message))
    return DB_FAILED


cdef int my_lose(db_connection *con, my_session *s, int number, const char *message) noexcept nogil:
    """The connection can be used no more."""
    s.broken = True
    con.lost = True
    return my_fail(con, number, message)


cdef int my_malformed(db_connection *con, my_session *s) noexcept nogil:
    return my_lose(con, s, 2027, b"Malformed packet")


cdef bint ends_connection(int number) noexcept nogil:
    """Server errors after which the server closes: shutdown, killed, aborted, network errors, inactivity."""
    return number in (1053, 1152, 1159, 1160, 1161, 1927, 4031)


cdef int my_server_error(db_connection *con, my_session *s, const uint8_t *p, size_t n) noexcept nogil:
    """An ERR packet: number, '#' and SQLSTATE, message."""
    cdef const char *state = b"HY000"
    cdef int number
    if n < 3:
        return my_malformed(con, s)
    number = <int>get_u16(p + 1)
    p += 3
    n -= 3
    if n >= 6 and p[0] == 35:
        state = <const char *>p + 1
        p += 6
        n -= 6
    con.lost = s.farewell or ends_connection(number)
    db_set_error(con, number, state, <const char *>p, n)
    return DB_FAILED


# -- transport: two system calls on the socket, also through OpenSSL, or a Python object

cdef bint my_write_with_gil(my_session *s, const char *data, size_t n) noexcept with gil:
    try:
        (<object>s.transport).sendall(PyMemoryView_FromMemory(<char *>data, n, PyBUF_READ))
    except Exception:
        return False
    return True


cdef ssize_t my_read_with_gil(my_session *s, char *to, size_t room) noexcept with gil:
    """How many bytes came; 0 at the end; -1 if the connection failed, MY_NO_SENSE if they made none."""
    try:
        return (<object>s.transport).recv_into(PyMemoryView_FromMemory(to, room, PyBUF_WRITE))
    except OSError:
        return -1
    except Exception:
        return MY_NO_SENSE


cdef bint my_write(my_session *s, const char *data, size_t n) noexcept nogil:
    """Send all of it; False if the connection failed."""
    if s.transport != NULL:
        return my_write_with_gil(s, data, n)
    if s.tls.ssl != NULL:
        return tls_send(&s.tls, data, n)
    return socket_send(s.fd, data, n)


cdef int my_read(db_connection *con, my_session *s) noexcept nogil:
    """Take what has come from the server, waiting for it if the descriptor blocks."""
    # In the middle of a reply, the request has been read.
    cdef bint polled = s.polled and s.input_end == s.input_at
    cdef ssize_t n
    # The buffer grows with what has come, never with what a packet says is to come.
    if s.input_size - s.input_end < s.input_size // 4 + 1:
        if not grow_buffer(&s.input, &s.input_size, s.input_size + 1):
            return my_lose(con, s, 2008, b"Client ran out of memory")
    if s.transport != NULL:
        n = my_read_with_gil(s, s.input + s.input_end, s.input_size - s.input_end)
        if n == MY_NO_SENSE:
            return my_malformed(con, s)
    elif s.tls.ssl != NULL:
        n = tls_receive(&s.tls, polled or this_fiber() != NULL, s.input + s.input_end, s.input_size - s.input_end)
    else:
        n = socket_receive(s.fd, polled, s.input + s.input_end, s.input_size - s.input_end)
    if n == WIRE_WOULD_BLOCK:
        return DB_AGAIN
    if n <= 0:
        return my_lose(con, s, 2013, b"Lost connection to MySQL server during query")
    s.input_end += n
    return DB_OK


# -- sending

cdef char *my_begin(db_connection *con, my_session *s, my_command command, size_t length) noexcept nogil:
    """Begin a command that has a reply: where its arguments go, with room for `length` bytes; NULL without
    memory."""
    cdef size_t rest = s.input_end - s.input_at
    if not grow_buffer(&s.output, &s.output_size, MY_HEADER + 1 + length):
        my_fail(con, 2008, b"Client ran out of memory")
        return NULL
    # Normally nothing is left. What came unasked is judged as the beginning of the next reply.
    if rest > 0:
        memmove(s.input, s.input + s.input_at, rest)
    s.input_end = rest
    s.input_at = 0
    s.nresults = 0
    s.refused = False
    s.farewell = False
    s.stage = MY_PREPARED if command == MY_PREPARE else MY_HEAD
    s.binary = command == MY_EXECUTE
    s.output[MY_HEADER] = <char>command
    return s.output + MY_HEADER + 1


cdef int my_send(db_connection *con, my_session *s, const char *end) noexcept nogil:
    """Send the command that ends at `end` in the output buffer, in as many packets as it takes."""
    cdef size_t length = end - s.output - MY_HEADER
    cdef size_t at = 0, n
    cdef uint8_t sequence = 0
    while True:
        n = length - at if length - at < MY_FULL else MY_FULL
        # The header of a further packet goes over bytes that have been sent.
        put_bytes(put_bytes(s.output + at, n, 3), sequence, 1)
        if not my_write(s, s.output + at, MY_HEADER + n):
            return my_gone(con, s)
        at += n
        sequence += 1
        if n < MY_FULL:
            break
    s.sequence = sequence
    shrink_buffer(&s.output, &s.output_size)
    return DB_OK


cdef int my_gone(db_connection *con, my_session *s) noexcept nogil:
    """The server has closed. An error that it sent before tells more than a broken pipe."""
    cdef uint8_t said[1024]
    cdef ssize_t n
    my_lose(con, s, 2006, b"MySQL server has gone away")
    if s.transport == NULL:
        if s.tls.ssl != NULL:
            socket_must_not_block(s.fd)
            n = tls_receive(&s.tls, False, <char *>said, sizeof(said))
        else:
            n = recv(s.fd, said, sizeof(said), MSG_DONTWAIT)
        if n > MY_HEADER and said[MY_HEADER] == 0xff and <ssize_t>get_u24(said) <= n - MY_HEADER:
            s.farewell = True
            my_server_error(con, s, said + MY_HEADER, get_u24(said))
    return DB_FAILED
