# Running statements on SQLite: which transactions BEGIN starts, what of a script's dialect is said in another way,
# and how a statement is stepped to its end.

cdef enum sqlite_kind:
    SQLITE_PLAIN                # SQLite's own business
    SQLITE_BEGIN                # of the kind that --sqlite-begin says
    SQLITE_LOCK                 # BEGIN IMMEDIATE
    SQLITE_COMMIT
    SQLITE_ROLLBACK
    SQLITE_NOTHING              # accepted, without effect
    SQLITE_FOREIGN              # DDL that may need a translation

cdef struct sqlite_statement:
    sqlite3_stmt *handle        # of a plain statement
    sqlite_kind kind
    char *script                # the translation of a foreign one

cdef object sqlite_translate = None
cdef object sqlite_loosen = None
# Outside of events writers take turns: racing for SQLite's one lock, some might not get it in time, and there a
# failure ends the program.
cdef pthread_mutex_t sqlite_turn
pthread_mutex_init(&sqlite_turn, NULL)


# -- reading as much of a statement as it takes to know its kind

cdef size_t sqlite_skip_blank(const char *q, size_t at, size_t length) noexcept nogil:
    """Past spaces and comments."""
    cdef size_t past = at
    while at < length:
        if q[at] == 32 or 9 <= q[at] <= 13:
            past = at + 1
        elif q[at] == 45 or q[at] == 47:        # - /
            past = skip_literal(q, at, length, False)
        if past == at:
            break
        at = past
    return at


cdef size_t sqlite_skip_separators(const char *q, size_t at, size_t length) noexcept nogil:
    """To the beginning of the next statement; length if there is none."""
    at = sqlite_skip_blank(q, at, length)
    while at < length and q[at] == 59:
        at = sqlite_skip_blank(q, at + 1, length)
    return at


cdef size_t sqlite_statement_end(const char *q, size_t at, size_t length) noexcept nogil:
    """Where the semicolon of the statement stands, or its text ends."""
    cdef size_t past
    while at < length and q[at] != 59:
        past = skip_literal(q, at, length, False)
        at = past if past > at else at + 1
    return at


cdef size_t sqlite_read_word(const char *q, size_t at, size_t length, char *word) noexcept nogil:
    """Past the next word; 11 letters of it, as capitals. It is empty if something else comes next."""
    cdef int n = 0
    at = sqlite_skip_blank(q, at, length)
    while at < length and in_identifier(q[at]):
        if n < 11:
            word[n] = q[at] & 0xDF if q[at] >= 97 else q[at]
            n += 1
        at += 1
    word[n] = 0
    return at


cdef bint sqlite_ends(const char *q, size_t at, size_t length) noexcept nogil:
    at = sqlite_skip_blank(q, at, length)
    return at >= length or q[at] == 59


cdef sqlite_kind sqlite_kind_of(const char *q, size_t length) noexcept nogil:
    cdef char word[12]
    cdef char second[12]
    cdef bint plain_end, mysql = sqlite_opt.dialect == SQLITE_SPEAKS_MYSQL
    cdef size_t at = sqlite_read_word(q, 0, length, word)
    if strcmp(word, b"SELECT") == 0 or strcmp(word, b"INSERT") == 0 or strcmp(word, b"UPDATE") == 0:
        return SQLITE_PLAIN
    at = sqlite_read_word(q, at, length, second)
    # COMMIT, COMMIT WORK and COMMIT TRANSACTION, but not ROLLBACK TO.
    plain_end = (second[0] == 0 or strcmp(second, b"WORK") == 0 or strcmp(second, b"TRANSACTION") == 0) \
        and sqlite_ends(q, at, length)
    if sqlite_opt.dialect == SQLITE_SPEAKS_SQLITE:
        return SQLITE_BEGIN if strcmp(word, b"BEGIN") == 0 and strcmp(second, b"WORK") and plain_end else SQLITE_PLAIN
    if strcmp(word, b"BEGIN") == 0:
        # What SQLite knows itself: a script that says it means it.
        if (strcmp(second, b"DEFERRED") == 0 or strcmp(second, b"IMMEDIATE") == 0
                or strcmp(second, b"EXCLUSIVE") == 0):
            return SQLITE_PLAIN
        return SQLITE_BEGIN
    if strcmp(word, b"START") == 0 and strcmp(second, b"TRANSACTION") == 0:
        return SQLITE_BEGIN
    if (strcmp(word, b"COMMIT") == 0 or strcmp(word, b"END") == 0) and plain_end:
        return SQLITE_COMMIT
    if strcmp(word, b"ROLLBACK") == 0 and plain_end:
        return SQLITE_ROLLBACK
    if strcmp(word, b"SET") == 0:
        return SQLITE_NOTHING
    if mysql and strcmp(word, b"LOCK") == 0:
        return SQLITE_LOCK
    if mysql and strcmp(word, b"UNLOCK") == 0:
        return SQLITE_COMMIT
    if strcmp(word, b"CREATE") == 0 or strcmp(word, b"TRUNCATE") == 0 or strcmp(word, b"ANALYZE") == 0:
        return SQLITE_FOREIGN
    return SQLITE_PLAIN


# -- translations

cdef char *sqlite_rewrite_with_gil(const char *statement, size_t length, bint loosen) noexcept with gil:
    """A statement in SQLite's words, malloc'ed; NULL if it is to stay as it is."""
    cdef bytes rewritten
    text = statement[:length].decode("utf-8", "surrogateescape")
    found = sqlite_loosen(text) if loosen else sqlite_translate(text)
    if found is None:
        return NULL
    rewritten = found.encode("utf-8", "surrogateescape")
    return copy_string(rewritten)


# -- running

cdef int sqlite_bind(sqlite3_stmt *handle, int position, sql_param *p) noexcept nogil:
    """A result code of SQLite."""
    if p.is_null:
        return sqlite.bind_null(handle, position)
    if p.type == SQL_TYPE_BIGINT:
        return sqlite.bind_int64(handle, position, (<int64_t *>p.buffer)[0])
    if p.type == SQL_TYPE_DOUBLE:
        return sqlite.bind_double(handle, position, (<double *>p.buffer)[0])
    # Not copied: the parameter stays as it is until the statement has run.
    return sqlite.bind_text(handle, position, <const char *>p.buffer, <int>p.data_len, NULL)


cdef int sqlite_run(sqlite_session *s, sqlite3_stmt *handle) noexcept nogil:
    """Step a statement to its end and reset it, so that it holds no lock; its outcome is added to the others."""
    cdef bint alone = sqlite.get_autocommit(s.db) != 0
    cdef bint writes = not sqlite.stmt_readonly(handle)
    cdef bint in_turn = writes and alone and s.patient
    cdef int rc, before
    cdef sqlite_outcome *outcome = sqlite_new_outcome(s)
    if outcome == NULL:
        return sqlite_no_memory(s)
    if alone:
        s.has_read = False
    elif writes and s.has_read and not s.has_written:
        sqlite_upgrades_of(s)[0] = 1
    s.has_written = writes or (s.has_written and not alone)
    if in_turn:
        pthread_mutex_lock(&sqlite_turn)
    if writes and alone:
        sqlite_give_way(s)
    before = sqlite.total_changes(s.db)
    rc = sqlite.step(handle)
    # Only a shared cache locks tables, and it does not wait for them. Two that have read would wait for each other.
    while rc == SQLITE_LOCKED and (alone or not s.has_read) and sqlite_wait_for_lock(s, 0):
        sqlite.reset(handle)
        rc = sqlite.step(handle)
    if s.pauses:
        sqlite_leave_line(s)
    outcome.nfields = <uint32_t>sqlite.column_count(handle)
    while rc == SQLITE_ROW:
        if not sqlite_keep_row(s, outcome, handle):
            break
        rc = sqlite.step(handle)
    # Changes by triggers count in the total, but not for the statement.
    if rc == SQLITE_DONE and sqlite.total_changes(s.db) != before:
        outcome.affected = <uint64_t>sqlite.changes(s.db)
    if rc != SQLITE_DONE:
        rc = sqlite_no_memory(s) if rc == SQLITE_ROW else sqlite_failed(s, rc, b"sqlite3_step()")
    sqlite.reset(handle)
    if in_turn:
        pthread_mutex_unlock(&sqlite_turn)
    if not alone and not writes and outcome.nfields:
        s.has_read = True
    return DB_OK if rc == SQLITE_DONE else DB_FAILED


cdef int sqlite_compile(sqlite_session *s, const char *q, size_t length, sqlite3_stmt **handle,
                        size_t *used) noexcept nogil:
    """Compile the first statement of a text, of which `used` bytes are that; the handle is NULL for a comment."""
    cdef const char *rest = NULL
    cdef char *loose
    cdef size_t end
    cdef int rc
    handle[0] = NULL
    rc = sqlite.prepare_v2(s.db, q, <int>length, handle, &rest)
    while rc == SQLITE_LOCKED and sqlite_wait_for_lock(s, 0):
        rc = sqlite.prepare_v2(s.db, q, <int>length, handle, &rest)
    if rc == SQLITE_OK:
        used[0] = <size_t>(rest - q)
        return DB_OK
    sqlite_failed(s, rc, b"sqlite3_prepare_v2()")
    if rc != SQLITE_ERROR or sqlite_opt.dialect == SQLITE_SPEAKS_SQLITE:
        return DB_FAILED
    end = sqlite_statement_end(q, 0, length)
    loose = sqlite_rewrite_with_gil(q, end, True)
    if loose == NULL:
        return DB_FAILED
    rc = sqlite.prepare_v2(s.db, loose, -1, handle, NULL)
    free(loose)
    if rc != SQLITE_OK:
        return DB_FAILED                    # the error of the statement as it was written stays
    db_clear_error(s.con)
    used[0] = end
    return DB_OK


cdef int sqlite_say(sqlite_session *s, sqlite_phrase phrase) noexcept nogil:
    """Run one of the driver's own statements."""
    cdef const char *text
    cdef size_t used
    if s.phrases[<int>phrase] == NULL:
        if phrase == SQLITE_SAY_BEGIN:
            text = b"BEGIN"
        elif phrase == SQLITE_SAY_BEGIN_IMMEDIATE:
            text = b"BEGIN IMMEDIATE"
        elif phrase == SQLITE_SAY_COMMIT:
            text = b"COMMIT"
        else:
            text = b"ROLLBACK"
        if sqlite_compile(s, text, strlen(text), &s.phrases[<int>phrase], &used) != DB_OK:
            return DB_FAILED
    return sqlite_run(s, s.phrases[<int>phrase])


cdef int sqlite_begin(sqlite_session *s, bint immediate) noexcept nogil:
    if sqlite_opt.begin == SQLITE_BEGIN_AUTO:
        immediate = immediate or sqlite_upgrades_of(s)[0]
    elif sqlite_opt.begin == SQLITE_BEGIN_IMMEDIATE:
        immediate = True
    return sqlite_say(s, SQLITE_SAY_BEGIN_IMMEDIATE if immediate else SQLITE_SAY_BEGIN)


cdef int sqlite_run_control(sqlite_session *s, sqlite_kind kind) noexcept nogil:
    """Begin or end a transaction, as the dialect does where one is open already, or none is."""
    cdef bint alone = sqlite.get_autocommit(s.db) != 0
    if kind == SQLITE_BEGIN or kind == SQLITE_LOCK:
        if alone or sqlite_opt.dialect == SQLITE_SPEAKS_SQLITE:
            return sqlite_begin(s, kind == SQLITE_LOCK)
        if sqlite_opt.dialect == SQLITE_SPEAKS_MYSQL:
            if sqlite_say(s, SQLITE_SAY_COMMIT) != DB_OK:
                return DB_FAILED
            s.n_outcomes -= 1
            return sqlite_begin(s, kind == SQLITE_LOCK)
    elif kind == SQLITE_COMMIT and not alone:
        return sqlite_say(s, SQLITE_SAY_COMMIT)
    elif kind == SQLITE_ROLLBACK and not alone:
        return sqlite_say(s, SQLITE_SAY_ROLLBACK)
    return DB_OK if sqlite_new_outcome(s) != NULL else sqlite_no_memory(s)


cdef int sqlite_run_script(sqlite_session *s, const char *script) noexcept nogil:
    """Run the statements of a translation, all or none of them; together they have one outcome."""
    cdef size_t first = s.n_outcomes
    cdef bint in_turn = s.patient and sqlite.get_autocommit(s.db)
    cdef int rc
    if in_turn:
        pthread_mutex_lock(&sqlite_turn)
    rc = sqlite_run_text(s, b"SAVEPOINT sysbench", 18, False)
    if rc == DB_OK:
        rc = sqlite_run_text(s, script, strlen(script), False)
        if rc == DB_OK:
            rc = sqlite_run_text(s, b"RELEASE sysbench", 16, False)
        if rc != DB_OK:
            sqlite.execute(s.db, b"ROLLBACK TO sysbench; RELEASE sysbench", NULL, NULL, NULL)
    if in_turn:
        pthread_mutex_unlock(&sqlite_turn)
    if rc != DB_OK:
        return DB_FAILED
    s.n_outcomes = first
    return DB_OK if sqlite_new_outcome(s) != NULL else sqlite_no_memory(s)


cdef int sqlite_prepare_next(sqlite_session *s, sqlite_statement *own, const char *q, size_t length, bint foreign,
                             size_t *used) noexcept nogil:
    """Prepare the first statement of a text, of which `used` bytes are that. A `foreign` text is in the dialect."""
    memset(own, 0, sizeof(sqlite_statement))
    if foreign:
        own.kind = sqlite_kind_of(q, length)
    if own.kind != SQLITE_PLAIN:
        used[0] = sqlite_statement_end(q, 0, length)
    if own.kind == SQLITE_FOREIGN:
        own.script = sqlite_rewrite_with_gil(q, used[0], False)
        if own.script == NULL:
            own.kind = SQLITE_PLAIN
    if own.kind == SQLITE_PLAIN:
        return sqlite_compile(s, q, length, &own.handle, used)
    return DB_OK


cdef int sqlite_run_prepared(sqlite_session *s, sqlite_statement *own) noexcept nogil:
    if own.kind == SQLITE_FOREIGN:
        return sqlite_run_script(s, own.script)
    if own.kind != SQLITE_PLAIN:
        return sqlite_run_control(s, own.kind)
    return sqlite_run(s, own.handle) if own.handle != NULL else DB_OK


cdef int sqlite_run_text(sqlite_session *s, const char *q, size_t length, bint foreign) noexcept nogil:
    """Run the statements of a text up to the first that fails."""
    cdef sqlite_statement own
    cdef size_t at = 0, used
    cdef int rc = DB_OK
    while rc == DB_OK:
        at = sqlite_skip_separators(q, at, length)
        if at == length:
            break
        rc = sqlite_prepare_next(s, &own, q + at, length - at, foreign, &used)
        if rc == DB_OK:
            rc = sqlite_run_prepared(s, &own)
            sqlite.finalize(own.handle)
            free(own.script)
            at += used
    return rc


# -- statements that scripts prepare

cdef void sqlite_drop_statement(db_statement *stmt, bint live) noexcept nogil:
    cdef sqlite_statement *own = <sqlite_statement *>stmt.session
    stmt.session = NULL
    if own == NULL:
        return
    if live:
        sqlite.finalize(own.handle)         # else it went with its connection
    free(own.script)
    free(own)


cdef int sqlite_prepare(sqlite_session *s, db_statement *stmt) noexcept nogil:
    cdef sqlite_statement *own = <sqlite_statement *>calloc(1, sizeof(sqlite_statement))
    cdef size_t at = sqlite_skip_separators(stmt.query, 0, stmt.length), used
    sqlite_drop_statement(stmt, False)      # of an earlier connection
    if own == NULL:
        return sqlite_no_memory(s)
    stmt.session = own
    if sqlite_prepare_next(s, own, stmt.query + at, stmt.length - at, True, &used) == DB_OK:
        if sqlite_skip_separators(stmt.query, at + used, stmt.length) == stmt.length:
            return DB_OK
        s.failed_call = b"sqlite3_prepare_v2()"
        sqlite_set_error(s, SQLITE_ERROR, b"only one statement can be prepared at a time")
    sqlite_drop_statement(stmt, True)
    return DB_FAILED


cdef int sqlite_execute(sqlite_session *s, db_statement *stmt) noexcept nogil:
    cdef sqlite_statement *own = <sqlite_statement *>stmt.session
    cdef uint32_t i
    cdef int rc
    if own.handle != NULL:
        for i in range(stmt.nbound):
            rc = sqlite_bind(own.handle, <int>i + 1, stmt.params[i])
            if rc != SQLITE_OK:
                return sqlite_failed(s, rc, b"sqlite3_bind()")
    return sqlite_run_prepared(s, own)
