# Rows: fields of the text protocol as they came; fields of the binary protocol as the text protocol would show them.

cdef extern from "<stdlib.h>" nogil:
    double strtod(const char *, char **)
    long strtol(const char *, char **, int)

cdef extern from "<string.h>" nogil:
    char *strchr(const char *, int)

cdef enum:
    MY_TEXT_SIZE = 352          # the longest text of a number or time: %.30f of the largest double
    MY_UNSIGNED = 32            # column flags
    MY_ZEROFILL = 64

cdef enum my_type:
    MY_TINY = 1, MY_SHORT = 2, MY_LONG = 3, MY_FLOAT = 4, MY_DOUBLE = 5, MY_NULL = 6, MY_TIMESTAMP = 7
    MY_LONGLONG = 8, MY_INT24 = 9, MY_DATE = 10, MY_TIME = 11, MY_DATETIME = 12, MY_YEAR = 13
    MY_VAR_STRING = 253


# -- column definitions

cdef bint my_definition(const uint8_t *p, const uint8_t *end, my_column *c) noexcept nogil:
    """Read one definition: six names, then fixed fields after their length."""
    cdef sql_value name
    cdef uint64_t fixed = 0
    cdef int i
    for i in range(6):
        p = get_string(p, end, &name)
        if p == NULL:
            return False
    p = get_length(p, end, &fixed)
    if p == NULL or fixed < 10 or end - p < 10:
        return False
    c.length = get_u32(p + 2)
    c.type = p[6]
    c.flags = <uint16_t>get_u16(p + 7)
    c.decimals = p[9]
    return True


cdef bint my_definitions(my_session *s, size_t at, uint32_t count, my_column *columns) noexcept nogil:
    """Read `count` definitions from the packets at offset `at`, which have all come."""
    cdef const uint8_t *p
    cdef uint32_t i, n
    for i in range(count):
        p = <const uint8_t *>s.input + at
        n = get_u24(p)
        if not my_definition(p + MY_HEADER, p + MY_HEADER + n, &columns[i]):
            return False
        at += MY_HEADER + n
    return True


cdef int my_keep_columns(db_connection *con, my_session *s, size_t at, uint32_t count) noexcept nogil:
    """Remember the definitions for executions in whose replies the server leaves them out."""
    cdef my_statement *st = <my_statement *>con.statement.session
    cdef my_column *columns = <my_column *>realloc(st.columns, (count or 1) * sizeof(my_column))
    if columns == NULL:
        return my_lose(con, s, 2008, b"Client ran out of memory")
    st.columns = columns
    st.ncolumns = count
    return DB_OK if my_definitions(s, at, count, columns) else my_malformed(con, s)


cdef my_column *my_columns(db_connection *con, my_session *s, const my_result *r) noexcept nogil:
    """The columns of the current result; NULL if they make no sense."""
    cdef void *grown
    if r.columns_at == 0:
        return (<my_statement *>con.statement.session).columns
    if not s.fields_ready:
        if s.fields_size < r.nfields:
            grown = realloc(s.fields, r.nfields * sizeof(my_column))
            if grown == NULL:
                return NULL
            s.fields = <my_column *>grown
            s.fields_size = r.nfields
        s.fields_ready = my_definitions(s, r.columns_at, r.nfields, s.fields)
    return s.fields if s.fields_ready else NULL


# -- numbers and times

cdef int my_format_real(char *to, double value, int digits, bint exact) noexcept nogil:
    """As the server prints a FLOAT or DOUBLE of no fixed scale: the fewest digits (from `digits` on, if exact)
    that read as the same number; an exponent below 1e-15, and from 1e15 if there is no fraction."""
    cdef char text[48]
    cdef char *end
    cdef int exponent, n, i, at = 0
    if value != value or fabs(value) > 1.7976931348623157e308:
        return snprintf(to, MY_TEXT_SIZE, "%g", value)
    if exact and fabs(value) < 2.2250738585072014e-308:
        digits = 1              # subnormal numbers have fewer digits
    while True:
        snprintf(text, sizeof(text), "%.*e", digits - 1, value)
        if not exact or digits >= 17 or strtod(text, NULL) == value:
            break
        digits += 1
    if text[0] == 45:
        to[0] = 45
        at = 1
        memmove(text, text + 1, strlen(text))
    # d.ddde+xx: the digits come together in text, trailing zeros go.
    exponent = <int>strtol(strchr(text, 101) + 1, NULL, 10)
    n = 1
    if text[1] == 46:
        n = digits
        memmove(text + 1, text + 2, n - 1)
    while n > 1 and text[n - 1] == 48:
        n -= 1
    if exponent < -15 or (exponent > 14 and n <= exponent + 1):
        to[at] = text[0]
        at += 1
        if n > 1:
            to[at] = 46
            memcpy(to + at + 1, text + 1, n - 1)
            at += n
        return at + snprintf(to + at, 16, "e%d", exponent)
    if exponent < 0:
        at += snprintf(to + at, 32, "0.%0*d", -exponent - 1, 0) if exponent < -1 else snprintf(to + at, 4, "0.")
        memcpy(to + at, text, n)
        return at + n
    for i in range(n if n > exponent + 1 else exponent + 1):
        if i == exponent + 1:
            to[at] = 46
            at += 1
        to[at] = text[i] if i < n else 48
        at += 1
    return at


cdef int my_format_fraction(char *to, const uint8_t *p, uint32_t length, int decimals) noexcept nogil:
    """.ffffff with as many digits as the column has; p points to microseconds if there are `length` bytes."""
    cdef uint32_t micros = get_u32(p) if length else 0
    cdef int i
    if decimals > 6:            # not fixed
        decimals = 6 if micros else 0
    if decimals == 0:
        return 0
    for i in range(decimals, 6):
        micros //= 10
    return snprintf(to, 16, ".%0*u", decimals, micros)


cdef int my_format_time(char *to, const uint8_t *p, uint32_t n, const my_column *c) noexcept nogil:
    """A DATE, DATETIME, TIMESTAMP or TIME of n bytes (those after its length byte); -1 if n is wrong."""
    cdef const uint8_t *t = p
    cdef uint8_t zero[12]
    cdef int at
    if n == 0:
        memset(zero, 0, sizeof(zero))
        t = zero
    if c.type == MY_TIME:
        if n not in (0, 8, 12):
            return -1
        at = snprintf(to, 48, "%s%02llu:%02u:%02u", b"-" if t[0] else b"",
                      <unsigned long long>get_u32(t + 1) * 24 + t[5], <unsigned>t[6], <unsigned>t[7])
        return at + my_format_fraction(to + at, t + 8, 4 if n == 12 else 0, c.decimals)
    if n not in (0, 4, 7, 11):
        return -1
    at = snprintf(to, 48, "%04u-%02u-%02u", get_u16(t), <unsigned>t[2], <unsigned>t[3])
    if c.type == MY_DATE:
        return at
    if n == 4:
        at += snprintf(to + at, 16, " 00:00:00")
    else:
        at += snprintf(to + at, 16, " %02u:%02u:%02u", <unsigned>t[4], <unsigned>t[5], <unsigned>t[6])
    return at + my_format_fraction(to + at, t + 7, 4 if n == 11 else 0, c.decimals)


cdef int my_fixed_size(int type) noexcept nogil:
    """Bytes of a value of that type in the binary protocol; 0 for those that begin with their length."""
    if type == MY_TINY:
        return 1
    if type == MY_SHORT or type == MY_YEAR:
        return 2
    if type == MY_LONG or type == MY_INT24 or type == MY_FLOAT:
        return 4
    if type == MY_LONGLONG or type == MY_DOUBLE:
        return 8
    return 0


cdef int my_format_number(char *to, const uint8_t *p, int size, const my_column *c) noexcept nogil:
    cdef uint64_t bits
    cdef uint32_t bits32
    cdef double real
    cdef float single
    cdef int n
    if size == 1:
        bits = p[0]
    elif size == 2:
        bits = get_u16(p)
    elif size == 4:
        bits = get_u32(p)
    else:
        bits = get_u64(p)
    if c.type == MY_FLOAT or c.type == MY_DOUBLE:
        if c.type == MY_FLOAT:
            bits32 = <uint32_t>bits
            memcpy(&single, &bits32, 4)
            real = single
        else:
            memcpy(&real, &bits, 8)
        if c.decimals <= 30:
            n = snprintf(to, MY_TEXT_SIZE, "%.*f", <int>c.decimals, real)
        elif c.type == MY_FLOAT:
            n = my_format_real(to, real, 6, False)
        else:
            n = my_format_real(to, real, 15, True)
    elif c.type == MY_YEAR:
        n = snprintf(to, MY_TEXT_SIZE, "%04u", <unsigned>bits)
    elif c.flags & MY_UNSIGNED:
        n = snprintf(to, MY_TEXT_SIZE, "%llu", <unsigned long long>bits)
    else:
        n = snprintf(to, MY_TEXT_SIZE, "%lld", <long long>(<int64_t>(bits << 64 - 8 * size) >> 64 - 8 * size))
    if c.flags & MY_ZEROFILL and n < <int>c.length < MY_TEXT_SIZE:
        memmove(to + c.length - n, to, n)
        memset(to, 48, c.length - n)
        n = <int>c.length
    return n


cdef const uint8_t *my_binary_value(const uint8_t *p, const uint8_t *end, const my_column *c, char *text,
                                    sql_value *value) noexcept nogil:
    """Past the value; NULL if it does not end before `end`."""
    cdef int size = my_fixed_size(c.type)
    cdef int n
    cdef ptrdiff_t room = end - p
    value.buffer = text
    if size > 0:
        if room < size:
            return NULL
        value.length = my_format_number(text, p, size, c)
        return p + size
    if c.type in (MY_DATE, MY_TIME, MY_DATETIME, MY_TIMESTAMP):
        if room < 1 or room < 1 + p[0]:
            return NULL
        n = my_format_time(text, p + 1, p[0], c)
        if n < 0:
            return NULL
        value.length = n
        return p + 1 + p[0]
    return get_string(p, end, value)


# -- rows

cdef bint my_text_row(const uint8_t *p, const uint8_t *end, uint32_t nfields, sql_value *values) noexcept nogil:
    cdef uint32_t i
    for i in range(nfields):
        if p < end and p[0] == 0xfb:
            values[i].buffer = NULL
            values[i].length = 0
            p += 1
            continue
        p = get_string(p, end, &values[i])
        if p == NULL:
            return False
    return p == end


cdef bint my_binary_row(db_connection *con, my_session *s, const my_result *r, const uint8_t *p, const uint8_t *end,
                        sql_value *values) noexcept nogil:
    """A zero, one bit a column for NULL (from the third bit on), and the other values."""
    cdef const uint8_t *nulls = p + 1
    cdef const my_column *columns = my_columns(con, s, r)
    cdef uint32_t i
    if columns == NULL or not grow_buffer(&s.text, &s.text_size, <size_t>r.nfields * MY_TEXT_SIZE):
        return False
    p += 1 + (r.nfields + 9) // 8
    for i in range(r.nfields):
        if nulls[(i + 2) // 8] >> (i + 2) % 8 & 1 or columns[i].type == MY_NULL:
            values[i].buffer = NULL
            values[i].length = 0
            continue
        p = my_binary_value(p, end, &columns[i], s.text + <size_t>i * MY_TEXT_SIZE, &values[i])
        if p == NULL:
            return False
    return p == end


cdef size_t my_join(my_session *s, size_t at, size_t *next) noexcept nogil:
    """Bring the parts of a payload of 16 MiB or more together, in place; its length."""
    cdef char *payload = s.input + at + MY_HEADER
    cdef size_t length = 0, n = MY_FULL
    while n == MY_FULL:
        n = get_u24(<const uint8_t *>s.input + at)
        memmove(payload + length, s.input + at + MY_HEADER, n)
        length += n
        at += MY_HEADER + n
    next[0] = at
    return length


cdef bint my_fetch_row(db_connection *con, sql_value *values) noexcept nogil:
    cdef my_session *s = <my_session *>con.session
    cdef my_result *r = &s.results[s.current]
    cdef const uint8_t *p = <const uint8_t *>s.input + s.row_at + MY_HEADER
    cdef size_t n
    if s.rows_left == 0:
        return False
    s.rows_left -= 1
    n = get_u24(p - MY_HEADER)
    if n < MY_FULL:
        s.row_at += MY_HEADER + n
    else:
        n = my_join(s, s.row_at, &s.row_at)
    if my_binary_row(con, s, r, p, p + n, values) if s.binary else my_text_row(p, p + n, r.nfields, values):
        return True
    # The statement had succeeded, so this is the place to say that it did not.
    s.rows_left = 0
    my_malformed(con, s)
    con.pub.error = DB_ERROR_FATAL
    sb_log(LOG_FATAL, b"MySQL error: 2027 \"Malformed packet\" in a row of the result")
    sb_run_fail()
    return False
