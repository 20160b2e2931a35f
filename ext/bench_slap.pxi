# The slap test: clients that each send a list of statements over and over, so many in all.

cdef struct slap_text:
    const char *data
    size_t length

cdef struct slap_texts:
    slap_text *items
    size_t n


cdef class SlapWork:
    """What every client of a slap run does.

    It sends `queries` statements, in the order of the list and then from its start again. A statement is a pair: all
    of its text and None, or what stands before and behind a key that is picked at random from `keys` each time.
    `on_connect` goes before the first statement of a connection; `on_commit` after every `commit_every` statements,
    `on_end` after the last one; after every `detach_every` statements the connection is made anew. 0 means never."""
    cdef list kept              # the bytes that the texts point to
    cdef slap_texts heads, tails, keys, on_connect, on_commit, on_end
    cdef size_t longest         # statement, with its key
    cdef uint64_t queries, commit_every, detach_every

    def __init__(self, statements: list, keys: list, *, uint64_t queries, on_connect: list, uint64_t commit_every,
                 on_commit: list, on_end: list, uint64_t detach_every) -> None:
        if not statements:
            raise ValueError("no statements")
        if not keys and any(tail is not None for _, tail in statements):
            raise ValueError("no keys")
        self.kept = []
        self.heads = self.texts([head for head, _ in statements])
        self.tails = self.texts([tail for _, tail in statements])
        self.keys = self.texts(keys)
        self.on_connect = self.texts(on_connect)
        self.on_commit = self.texts(on_commit)
        self.on_end = self.texts(on_end)
        self.longest = max(len(head) + len(tail or b"") for head, tail in statements) + max(map(len, keys), default=0)
        self.queries = queries
        self.commit_every = commit_every
        self.detach_every = detach_every

    cdef slap_texts texts(self, list texts) except *:
        """The same as C knows it; None has no data."""
        cdef slap_texts result
        cdef size_t i
        cdef bytes text
        result.n = len(texts)
        result.items = <slap_text *>calloc(result.n + 1, sizeof(slap_text))
        if result.items == NULL:
            raise MemoryError()
        for i in range(result.n):
            if texts[i] is not None:
                text = texts[i]
                self.kept.append(text)
                result.items[i].data = text
                result.items[i].length = len(text)
        return result

    def __dealloc__(self):
        free(self.heads.items)
        free(self.tails.items)
        free(self.keys.items)
        free(self.on_connect.items)
        free(self.on_commit.items)
        free(self.on_end.items)


cdef bint slap_send(db_connection *con, const char *text, size_t length) noexcept nogil:
    """Run a statement to the end of its last result; False if that fails, after a message if for good."""
    db_query(&con.pub, text, length)
    while con.pub.error == DB_ERROR_NONE and db_more_results(&con.pub):
        db_next_result(&con.pub)
    return con.pub.error == DB_ERROR_NONE


cdef bint slap_send_all(db_connection *con, slap_texts *texts) noexcept nogil:
    cdef size_t i
    for i in range(texts.n):
        if not slap_send(con, texts.items[i].data, texts.items[i].length):
            return False
    return True


cdef bint slap_query(db_connection *con, SlapWork work, const char *text, size_t length) noexcept nogil:
    """Run a statement of the list. After an error that is to be ignored, again: that is part of the same event."""
    cdef uint32_t epoch = con.epoch
    while not slap_send(con, text, length):
        if con.pub.error != DB_ERROR_IGNORABLE or not sb_event_may_restart(con.pub.thread_id):
            return False
        # The connection was lost and made again.
        if con.epoch != epoch:
            epoch = con.epoch
            if not slap_send_all(con, &work.on_connect):
                return False
    return True


cdef bint slap_event(db_connection *con, SlapWork work, size_t number, char *buffer) noexcept nogil:
    """Run the statement of that number."""
    cdef slap_text *head = &work.heads.items[number]
    cdef slap_text *tail = &work.tails.items[number]
    cdef slap_text *key
    if tail.data == NULL:
        return slap_query(con, work, head.data, head.length)
    key = &work.keys.items[random_index(sb_rng_state, work.keys.n)]
    memcpy(buffer, head.data, head.length)
    memcpy(buffer + head.length, key.data, key.length)
    memcpy(buffer + head.length + key.length, tail.data, tail.length)
    return slap_query(con, work, buffer, head.length + key.length + tail.length)


cdef bint slap_between(db_connection *con, SlapWork work, uint64_t done) noexcept nogil:
    """What is due after so many statements. It belongs to no event: latencies are those of the statements."""
    cdef bint commit = work.commit_every and done % work.commit_every == 0
    cdef bint detach = work.detach_every and done % work.detach_every == 0 and done < work.queries
    if not commit and not detach:
        return True
    sb_event_stop(con.pub.thread_id)
    if commit and not slap_send_all(con, &work.on_commit):
        return False
    if not detach:
        return True
    return db_connection_reconnect(&con.pub) == 0 and slap_send_all(con, &work.on_connect)


cdef bint slap_client(int thread_id, db_connection *con, SlapWork work, char *buffer) noexcept nogil:
    cdef uint64_t done = 0
    while done < work.queries and sb_event_next(thread_id):
        if not slap_event(con, work, done % work.heads.n, buffer):
            return False
        done += 1
        if not slap_between(con, work, done):
            return False
    sb_event_stop(thread_id)
    return slap_send_all(con, &work.on_end)


cdef bint slap_run(int thread_id, SlapWork work, char *buffer) noexcept nogil:
    """A whole client. Whether all went well."""
    cdef sql_connection *handle = NULL
    cdef db_connection *con
    cdef bint ok = False
    if buffer != NULL:
        handle = db_connection_create(&default_driver.pub, thread_id)
    con = <db_connection *>handle
    if con == NULL or not slap_send_all(con, &work.on_connect):
        sb_run_fail()
    if sb_worker_ready(thread_id):
        ok = slap_client(thread_id, con, work, buffer)
        if not ok:
            sb_event_cancel(thread_id)
            # Stopped between two attempts is no failure.
            if con.pub.error != DB_ERROR_IGNORABLE:
                sb_run_fail()
        worker_time_ends(thread_id)
    if con != NULL:
        db_connection_release(handle)
    return ok


def bench_slap_worker(int thread_id, SlapWork work not None) -> bool:
    """A client of the slap test: an event is a statement."""
    cdef char *buffer = <char *>malloc(work.longest + 1)
    cdef bint ok
    with nogil:
        ok = slap_run(thread_id, work, buffer)
    free(buffer)
    return ok
