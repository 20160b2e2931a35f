# What the statements of a worker cost, by text, and its errors, by code. Only the worker writes its records, with
# plain stores; the reporter merges them. Nothing is freed before the next run_setup().

cdef enum:
    STATEMENTS_MAX = 1000       # different texts of a worker; what comes after them counts together
    STATEMENT_SLOTS = 2048      # a power of two
    STATEMENT_TEXT_MAX = 1024   # bytes that are shown
    # HDR as in histogram.pxi, with 2 significant digits: a tenth of the memory, as there is one a text and worker.
    STATEMENT_HALF = 128
    STATEMENT_COUNTS = (HDR_BITS - 8 + 2) * 128
    ERRORS_MAX = 63             # different codes of a worker, likewise
    ERROR_TEXT_MAX = 255

cdef enum statement_kind:
    STATEMENT_PREPARED, STATEMENT_LITERAL, STATEMENT_BULK, STATEMENT_OTHER

_statement_kinds = ("prepared", "literal", "bulk", "other")

cdef struct statement_record:
    uint64_t hash
    statement_kind kind
    char text[STATEMENT_TEXT_MAX]
    size_t length
    uint64_t calls
    uint64_t errors             # calls that failed; they have no latency
    uint64_t rows               # returned or changed
    uint64_t latency_sum_ns
    uint64_t latency_min_ns
    uint64_t latency_max_ns
    uint64_t bucket_low         # range of buckets in use
    uint64_t bucket_high
    uint64_t counts[STATEMENT_COUNTS]

cdef struct error_record:
    int number
    char sqlstate[6]
    char message[ERROR_TEXT_MAX + 1]    # of the first one
    uint64_t count
    uint64_t fatal
    uint64_t restarted          # their events have begun again
    uint64_t reconnected        # their connections have been made again

# A worker's share.
cdef struct sql_detail:
    statement_record **records  # NULL unless statements are told apart
    uint16_t *slots             # number of a record and 1, by hash
    uint64_t n_records
    error_record *errors
    uint64_t n_errors
    error_record *last_error    # until it is known what became of it
    bint last_fatal
    uint64_t padding[1]         # to a cache line

cdef sql_detail *sql_details = NULL
cdef bint statements_on = False
cdef uint32_t statements_epoch = 0      # counts set-ups: records of earlier ones are gone


cdef inline sql_detail *detail_of(int thread_id) noexcept nogil:
    """NULL for background states."""
    return &sql_details[thread_id] if 0 <= thread_id < worker_count else NULL


# -- texts

cdef enum token_kind:
    TOKEN_SPACE, TOKEN_LITERAL, TOKEN_OTHER

cdef struct normal_text:
    uint64_t hash               # FNV-1a (Fowler, Noll, Vo), 64 bits, of the whole text
    char *text                  # its first STATEMENT_TEXT_MAX bytes; NULL if only the hash is wanted
    size_t length


cdef inline bint is_digit(char c) noexcept nogil:
    return 48 <= c <= 57


cdef inline token_kind next_token(const char *q, size_t at, size_t length, bint backslash, size_t *past) noexcept nogil:
    """What begins at `at`, and where it ends. Comments count as white space; `backslash` as for skip_literal."""
    cdef char c = q[at]
    cdef size_t i = at + 1
    past[0] = i
    if c == 32 or 9 <= c <= 13:
        return TOKEN_SPACE
    if is_digit(c) or c == 46 and i < length and is_digit(q[i]):        # 12, 1.5e-3, .5, 0x1f
        while i < length and (in_identifier(q[i]) or q[i] == 46
                              or (q[i] == 43 or q[i] == 45) and (q[i - 1] | 32) == 101 and (q[at + 1] | 32) != 120):
            i += 1
        past[0] = i
        return TOKEN_LITERAL
    if in_identifier(c):
        while i < length and in_identifier(q[i]):
            i += 1
        past[0] = i
        if i == at + 1 and i < length and q[i] == 39:                   # X'1f', E'a'
            past[0] = skip_literal(q, i, length, backslash)
            return TOKEN_LITERAL
        if c == 36 and not backslash:
            i = skip_dollar_quoted(q, at, length)
            if i > at:
                past[0] = i
                return TOKEN_LITERAL
        return TOKEN_OTHER
    i = skip_literal(q, at, length, backslash)
    if i == at:
        return TOKEN_OTHER
    past[0] = i
    if c == 39 or c == 34 and backslash:
        return TOKEN_LITERAL
    return TOKEN_OTHER if c == 34 or c == 96 else TOKEN_SPACE           # a quoted name, or a comment


cdef inline void normal_put(normal_text *to, char c) noexcept nogil:
    to.hash = (to.hash ^ <uint8_t>c) * <uint64_t>1099511628211
    if to.text != NULL and to.length < STATEMENT_TEXT_MAX:
        to.text[to.length] = c
        to.length += 1


cdef void normalise(normal_text *to, const char *q, size_t length, bint backslash) noexcept nogil:
    """The statement with ? for its literals, without comments, white space collapsed, in one pass."""
    cdef size_t at = 0, past
    cdef token_kind kind
    cdef bint began = False, space = False
    to.hash = <uint64_t>14695981039346656037U
    to.length = 0
    while at < length:
        kind = next_token(q, at, length, backslash, &past)
        if kind == TOKEN_SPACE:
            space = True
        else:
            if space and began:
                normal_put(to, 32)
            began = True
            space = False
            if kind == TOKEN_LITERAL:
                normal_put(to, 63)
            else:
                while at < past:
                    normal_put(to, q[at])
                    at += 1
        at = past


# -- recording

cdef inline unsigned statement_bucket(uint64_t latency_ns) noexcept nogil:
    cdef int shift
    if latency_ns >> HDR_BITS:
        latency_ns = (<uint64_t>1 << HDR_BITS) - 1
    shift = sb_bit_length(latency_ns | 255) - 8
    return <unsigned>(shift * STATEMENT_HALF + <int>(latency_ns >> shift))


cdef inline uint64_t statement_bucket_value(unsigned index) noexcept nogil:
    """The lowest value of a bucket."""
    cdef unsigned shift
    if index < 2 * STATEMENT_HALF:
        return index
    shift = index // STATEMENT_HALF - 1
    return <uint64_t>(index - shift * STATEMENT_HALF) << shift


cdef statement_record *new_record(sql_detail *d, statement_kind kind) noexcept nogil:
    """One more record, not yet shown to the reporter; NULL without memory."""
    cdef statement_record *r = <statement_record *>calloc(1, sizeof(statement_record))
    if r != NULL:
        r.kind = kind
        r.latency_min_ns = <uint64_t>-1
        r.bucket_low = STATEMENT_COUNTS
        d.records[d.n_records] = r
    return r


cdef statement_record *find_record(sql_detail *d, statement_kind kind, const char *query, size_t length,
                                   bint backslash) noexcept nogil:
    """The record of a text, made if there is none; the last one for texts that are too many. NULL without memory."""
    cdef normal_text normal
    cdef statement_record *r
    cdef uint64_t slot
    normal.text = NULL
    normalise(&normal, query, length, backslash)
    normal.hash += <uint64_t>kind
    slot = normal.hash >> 53
    while d.slots[slot] != 0:
        r = d.records[d.slots[slot] - 1]
        if r.hash == normal.hash:
            return r
        slot = (slot + 1) & (STATEMENT_SLOTS - 1)
    if d.n_records > STATEMENTS_MAX:
        return d.records[STATEMENTS_MAX]
    r = new_record(d, kind if d.n_records < STATEMENTS_MAX else STATEMENT_OTHER)
    if r == NULL:
        return NULL
    if r.kind != STATEMENT_OTHER:
        r.hash = normal.hash
        normal.text = r.text
        normalise(&normal, query, length, backslash)
        r.length = normal.length
        d.slots[slot] = <uint16_t>(d.n_records + 1)
    sb_publish(&d.n_records, d.n_records + 1)
    return r


cdef inline void record_latency(statement_record *r, uint64_t latency_ns) noexcept nogil:
    cdef unsigned i = statement_bucket(latency_ns)
    sb_store(&r.counts[i], r.counts[i] + 1)
    if i < r.bucket_low:
        sb_store(&r.bucket_low, i)
    if i > r.bucket_high:
        sb_store(&r.bucket_high, i)
    sb_store(&r.latency_sum_ns, r.latency_sum_ns + latency_ns)
    if latency_ns < r.latency_min_ns:
        sb_store(&r.latency_min_ns, latency_ns)
    if latency_ns > r.latency_max_ns:
        sb_store(&r.latency_max_ns, latency_ns)


cdef inline uint64_t call_begin() noexcept nogil:
    """The time now, for call_end; 0 unless statements are told apart."""
    return clock_ns() if statements_on else 0


cdef void call_end(db_connection *con, db_statement *stmt, const char *query, size_t length, uint64_t began_ns,
                   bint ok) noexcept nogil:
    """Record a call: of `stmt`, which may be emulated, or without one of the text `query`."""
    cdef sql_detail *d = detail_of(con.pub.thread_id)
    cdef statement_record *r
    cdef uint64_t latency_ns = clock_ns() - began_ns
    if d == NULL:
        return
    if stmt == NULL:
        if con.bulk != NULL and (query == con.bulk.sent or query == con.bulk.text):
            r = find_record(d, STATEMENT_BULK, query, con.bulk.head, con.driver.backslash_escapes)
        else:
            r = find_record(d, STATEMENT_LITERAL, query, length, con.driver.backslash_escapes)
    else:
        if stmt.record_epoch != statements_epoch:
            stmt.record = find_record(d, STATEMENT_PREPARED, stmt.query, stmt.length, con.driver.backslash_escapes)
            stmt.record_epoch = statements_epoch
        r = stmt.record
    if r == NULL:
        return
    sb_store(&r.calls, r.calls + 1)
    if not ok:
        sb_store(&r.errors, r.errors + 1)
        return
    sb_store(&r.rows, r.rows + (con.result.pub.nrows if con.has_rows else con.affected))
    record_latency(r, latency_ns)


# -- errors

cdef void error_note(db_connection *con) noexcept nogil:
    """Count the error in the record of the connection, which has been classified."""
    cdef sql_detail *d = detail_of(con.pub.thread_id)
    cdef const char *sqlstate = b""
    cdef const char *message = b"SQL API error"
    cdef error_record *e
    cdef uint64_t i = 0
    if d == NULL:
        return
    if con.pub.sql_state != NULL:
        sqlstate, message = con.pub.sql_state, con.pub.sql_errmsg
    while i < d.n_errors and i < ERRORS_MAX and not (d.errors[i].number == con.pub.sql_errno
                                                     and strcmp(d.errors[i].sqlstate, sqlstate) == 0):
        i += 1
    e = &d.errors[i]
    if i == d.n_errors:
        if i < ERRORS_MAX:
            e.number = con.pub.sql_errno
            snprintf(e.sqlstate, sizeof(e.sqlstate), "%s", sqlstate)
            snprintf(e.message, sizeof(e.message), "%s", message)
        else:
            snprintf(e.message, sizeof(e.message), "errors of other codes")
        sb_publish(&d.n_errors, i + 1)
    sb_store(&e.count, e.count + 1)
    d.last_error = e
    d.last_fatal = con.pub.error == DB_ERROR_FATAL
    if d.last_fatal:
        sb_store(&e.fatal, e.fatal + 1)


cdef void error_recovered(db_connection *con, bint ok) noexcept nogil:
    """The connection of the last error has been made again, or could not be."""
    cdef sql_detail *d = detail_of(con.pub.thread_id)
    if d == NULL or d.last_error == NULL:
        return
    if ok:
        sb_store(&d.last_error.reconnected, d.last_error.reconnected + 1)
    else:
        sb_store(&d.last_error.fatal, d.last_error.fatal + 1)
    d.last_error = NULL


cdef void error_restarts(int thread_id) noexcept nogil:
    """The event that met the last error begins again; a script's hook may ask for that after a fatal one too."""
    cdef sql_detail *d = detail_of(thread_id)
    if d == NULL or d.last_error == NULL:
        return
    sb_store(&d.last_error.restarted, d.last_error.restarted + 1)
    if d.last_fatal:
        sb_store(&d.last_error.fatal, d.last_error.fatal - 1)
    d.last_error = NULL


# -- for the runner, in Python

cdef inline size_t sql_details_size(int n) noexcept nogil:
    return n * (sizeof(sql_detail) + (ERRORS_MAX + 1) * sizeof(error_record))


cdef void sql_details_free() noexcept nogil:
    """Before the number of workers changes."""
    global sql_details
    cdef int i
    cdef uint64_t k
    if sql_details == NULL:
        return
    for i in range(worker_count):
        if sql_details[i].records != NULL:
            for k in range(sql_details[i].n_records):
                free(sql_details[i].records[k])
        free(sql_details[i].records)
        free(sql_details[i].slots)
    munmap(sql_details, sql_details_size(worker_count))
    sql_details = NULL


cdef int sql_details_alloc(int n) noexcept nogil:
    """Room for n workers, their errors behind them; statements are not told apart. -1 without memory."""
    global sql_details, statements_on, statements_epoch
    cdef int i
    statements_on = False
    statements_epoch += 1
    sql_details = <sql_detail *>shared_new(sql_details_size(n))
    if sql_details == NULL:
        return -1
    for i in range(n):
        sql_details[i].errors = <error_record *>(sql_details + n) + i * <size_t>(ERRORS_MAX + 1)
    return 0


def statements_setup() -> None:
    """Tell statements apart, until the next run_setup()."""
    global statements_on
    cdef int i
    for i in range(worker_count):
        sql_details[i].records = <statement_record **>calloc(STATEMENTS_MAX + 1, sizeof(void *))
        sql_details[i].slots = <uint16_t *>calloc(STATEMENT_SLOTS, sizeof(uint16_t))
        if sql_details[i].records == NULL or sql_details[i].slots == NULL:
            raise MemoryError(f"not enough memory for the statements of {worker_count} workers")
    statements_on = True


def record_latencies(int thread_id, latencies_ns, bytes text=None, bint backslash=False) -> None:
    """Count events of a worker, or calls of a statement, that have taken so long, in ns. For tests."""
    cdef statement_record *r = NULL
    if text is not None:
        r = find_record(&sql_details[thread_id], STATEMENT_LITERAL, text, len(text), backslash)
    for latency_ns in latencies_ns:
        if r == NULL:
            worker_record(&workers[thread_id], latency_ns)
        else:
            sb_store(&r.calls, r.calls + 1)
            record_latency(r, latency_ns)


cdef class StatementCounts:
    """What a statement did in all workers. Failed calls are in `errors` and have no latency."""
    cdef readonly uint64_t calls
    cdef readonly uint64_t errors
    cdef readonly uint64_t rows
    cdef readonly uint64_t latency_sum_ns
    cdef readonly uint64_t latency_max_ns
    cdef readonly uint64_t latency_min_ns
    cdef uint64_t counts[STATEMENT_COUNTS]

    cdef void add(self, statement_record *r) noexcept:
        cdef uint64_t i, low = sb_load(&r.bucket_low), high = sb_load(&r.bucket_high)
        for i in range(low, high + 1):
            self.counts[i] += sb_load(&r.counts[i])
        self.calls += sb_load(&r.calls)
        self.errors += sb_load(&r.errors)
        self.rows += sb_load(&r.rows)
        self.latency_sum_ns += sb_load(&r.latency_sum_ns)
        self.latency_max_ns = max(self.latency_max_ns, sb_load(&r.latency_max_ns))
        if low <= high:
            low = sb_load(&r.latency_min_ns)
            self.latency_min_ns = min(self.latency_min_ns, low) if self.latency_min_ns else low

    def buckets(self) -> list:
        """Non-empty latency buckets, ascending: (lowest equivalent value in ns, count)."""
        cdef unsigned i
        return [(statement_bucket_value(i), self.counts[i]) for i in range(<unsigned>STATEMENT_COUNTS)
                if self.counts[i]]

    def minus(self, StatementCounts earlier not None) -> StatementCounts:
        """What happened since `earlier`; minimum and maximum are then those of its buckets."""
        cdef StatementCounts result = StatementCounts()
        cdef unsigned i
        result.calls = self.calls - earlier.calls
        result.errors = self.errors - earlier.errors
        result.rows = self.rows - earlier.rows
        result.latency_sum_ns = self.latency_sum_ns - earlier.latency_sum_ns
        for i in range(<unsigned>STATEMENT_COUNTS):
            result.counts[i] = self.counts[i] - earlier.counts[i]
            if result.counts[i]:
                if not result.latency_max_ns:
                    result.latency_min_ns = max(statement_bucket_value(i), self.latency_min_ns)
                result.latency_max_ns = min(statement_bucket_value(i + 1) - 1, self.latency_max_ns)
        return result


cdef dict read_statements():
    """StatementCounts by (kind, text)."""
    cdef dict found = {}
    cdef sql_detail *d
    cdef statement_record *r
    cdef StatementCounts counts
    cdef int i
    cdef uint64_t k
    for i in range(worker_count):
        d = &sql_details[i]
        if d.records == NULL:
            continue
        for k in range(sb_acquire(&d.n_records)):
            r = d.records[k]
            key = _statement_kinds[<int>r.kind], r.text[:r.length].decode("utf-8", "replace")
            counts = found.get(key)
            if counts is None:
                counts = found[key] = StatementCounts()
            counts.add(r)
    return found


cdef dict read_errors():
    """(count, fatal, restarted, reconnected, message of one) by (number, SQLSTATE)."""
    cdef dict found = {}
    cdef error_record *e
    cdef int i
    cdef uint64_t k
    for i in range(worker_count):
        for k in range(sb_acquire(&sql_details[i].n_errors)):
            e = &sql_details[i].errors[k]
            key = e.number, e.sqlstate.decode("ascii", "replace")
            count, fatal, restarted, reconnected, message = found.get(key, (0, 0, 0, 0, b""))
            found[key] = (count + sb_load(&e.count), fatal + sb_load(&e.fatal), restarted + sb_load(&e.restarted),
                          reconnected + sb_load(&e.reconnected), message or e.message)
    return {key: (*counts, message.decode("utf-8", "replace")) for key, (*counts, message) in found.items()}
