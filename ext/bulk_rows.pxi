# The rows of a multi-row INSERT as data for a load: values between tabs, rows between newlines, \N for NULL, which
# both COPY of PostgreSQL ("COPY", text format) and LOAD DATA of MySQL ("LOAD DATA") take.
#
# Nothing is converted unless a load stores the same as the INSERT: numbers that are written as they print, strings,
# and NULL. What an expression or a server's settings could give another meaning is left to an INSERT.

cdef struct row_scan:
    const char *at
    const char *end
    char *to
    bint backslash              # as in MySQL: escapes in strings, and of other bytes than ASCII the charset is not known


cdef inline const char *no_plain_value() noexcept nogil:
    return b"a value is no plain number, string or NULL"


cdef inline bint is_blank(char c) noexcept nogil:
    return c == 32 or 9 <= c <= 13


cdef inline void skip_blanks(row_scan *s) noexcept nogil:
    while s.at < s.end and is_blank(s.at[0]):
        s.at += 1


cdef inline bint take_char(row_scan *s, char c) noexcept nogil:
    """Past blanks and this character, if it is the next one."""
    skip_blanks(s)
    if s.at < s.end and s.at[0] == c:
        s.at += 1
        return True
    return False


cdef bint take_word(row_scan *s, const char *word) noexcept nogil:
    """Past blanks and this word, in either case, if it is the next one."""
    cdef size_t length = strlen(word)
    skip_blanks(s)
    if <size_t>(s.end - s.at) < length or strncasecmp(s.at, word, length) != 0:
        return False
    if s.at + length < s.end and in_identifier(s.at[length]):
        return False
    s.at += length
    return True


cdef bint take_name(row_scan *s) noexcept nogil:
    """Past blanks and an identifier, plain or quoted."""
    cdef char quote = 96 if s.backslash else 34
    cdef const char *begin
    skip_blanks(s)
    begin = s.at
    if take_char(s, quote):
        while s.at < s.end and s.at[0] != 0:
            if s.at[0] == quote:
                if s.at + 1 == s.end or s.at[1] != quote:
                    s.at += 1
                    return True
                s.at += 1           # a doubled one
            s.at += 1
        return False
    while s.at < s.end and in_identifier(s.at[0]):
        s.at += 1
    return s.at > begin and not is_digit(begin[0])


# -- values

cdef inline void put_char(row_scan *s, char c) noexcept nogil:
    """A character of a value; those that mean something to a load are escaped."""
    cdef char letter = 0
    if c == 9:
        letter = 116            # t
    elif c == 10:
        letter = 110            # n
    elif c == 13:
        letter = 114            # r
    elif c == 0:
        letter = 48
    elif c == 92:
        letter = 92
    if letter:
        s.to[0] = 92
        s.to[1] = letter
        s.to += 2
    else:
        s.to[0] = c
        s.to += 1


cdef void put_escaped(row_scan *s, char c) noexcept nogil:
    """What a backslash and this character mean in a string of MySQL's."""
    if c == 48:
        c = 0
    elif c == 98:
        c = 8
    elif c == 110:
        c = 10
    elif c == 114:
        c = 13
    elif c == 116:
        c = 9
    elif c == 90:
        c = 26
    elif c == 37 or c == 95:    # \% and \_ are patterns: both characters stay
        put_char(s, 92)
    put_char(s, c)


cdef const char *convert_string(row_scan *s) noexcept nogil:
    """Copy the string that begins at its quote; NULL, or why that cannot be."""
    cdef char c
    s.at += 1
    while s.at < s.end:
        c = s.at[0]
        s.at += 1
        if c == 39:
            if s.at == s.end or s.at[0] != 39:
                return NULL
            s.at += 1
            put_char(s, c)
        elif c == 92:
            if not s.backslash:
                return b"a string has a backslash"
            if s.at == s.end:
                break
            put_escaped(s, s.at[0])
            s.at += 1
        elif s.backslash and <uint8_t>c >= 128:
            return b"a string has other characters than ASCII"
        elif c > 31 or <uint8_t>c >= 128:
            s.to[0] = c
            s.to += 1
        else:
            put_char(s, c)
    return b"a string does not end"


cdef const char *convert_number(row_scan *s) noexcept nogil:
    """Copy a whole or decimal number, as long as it is written as it would be printed."""
    cdef const char *begin = s.at
    cdef const char *digits
    cdef bint nothing = True        # but zeros
    if s.at[0] == 45:
        s.at += 1
    digits = s.at
    while s.at < s.end and (is_digit(s.at[0]) or (s.at[0] == 46 and s.at > digits)):
        if s.at[0] == 46:
            if memchr(digits, 46, s.at - digits) != NULL or s.at + 1 == s.end or not is_digit(s.at[1]):
                return no_plain_value()
        elif s.at[0] != 48:
            nothing = False
        s.at += 1
    if s.at == digits or (digits > begin and nothing):
        return no_plain_value()
    if digits[0] == 48 and s.at > digits + 1 and digits[1] != 46:
        return no_plain_value()
    memcpy(s.to, begin, s.at - begin)
    s.to += s.at - begin
    return NULL


cdef const char *convert_value(row_scan *s) noexcept nogil:
    skip_blanks(s)
    if s.at == s.end:
        return no_plain_value()
    if s.at[0] == 39:
        return convert_string(s)
    if s.at[0] == 45 or is_digit(s.at[0]):
        return convert_number(s)
    if not take_word(s, b"NULL"):
        return no_plain_value()
    s.to[0] = 92
    s.to[1] = 78
    s.to += 2
    return NULL


cdef const char *convert_rows(row_scan *s, uint32_t *columns, uint32_t *rows) noexcept nogil:
    """Convert all `(value, ...), (...)`, each of `columns` values, if that is not 0; NULL, or why that cannot be.

    At `to` is room for twice as many bytes as the rows have."""
    cdef const char *why
    cdef uint32_t n
    rows[0] = 0
    while True:
        if not take_char(s, 40):
            return no_plain_value()
        n = 0
        while True:
            why = convert_value(s)
            if why != NULL:
                return why
            n += 1
            if take_char(s, 41):
                break
            if not take_char(s, 44):
                return no_plain_value()
            s.to[0] = 9
            s.to += 1
        if columns[0] == 0:
            columns[0] = n
        if n != columns[0]:
            return b"rows differ in the number of their values"
        s.to[0] = 10
        s.to += 1
        rows[0] += 1
        if not take_char(s, 44):
            skip_blanks(s)
            if s.at != s.end:
                return no_plain_value()
            return NULL


# -- the head

cdef struct insert_target:
    const char *table           # as it is written
    size_t table_length
    const char *columns         # with their brackets
    size_t columns_length       # 0 without
    uint32_t n_columns


cdef bint parse_head(row_scan *s, insert_target *t) noexcept nogil:
    """Whether this is INSERT INTO table (columns) VALUES, with or without columns, and nothing else."""
    memset(t, 0, sizeof(insert_target))
    if not take_word(s, b"INSERT") or not take_word(s, b"INTO"):
        return False
    skip_blanks(s)
    t.table = s.at
    while True:
        if not take_name(s):
            return False
        t.table_length = s.at - t.table
        if not take_char(s, 46):
            break
    skip_blanks(s)
    t.columns = s.at
    if take_char(s, 40):
        while True:
            if not take_name(s):
                return False
            t.n_columns += 1
            if take_char(s, 41):
                break
            if not take_char(s, 44):
                return False
        t.columns_length = s.at - t.columns
    if not take_word(s, b"VALUES"):
        return False
    skip_blanks(s)
    return s.at == s.end
