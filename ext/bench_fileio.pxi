# The fileio test: its workers, and what the test sets up for them.

cdef enum:
    # Offsets, lengths and addresses of direct I/O must be multiples of at most this.
    FILE_ALIGNMENT = 4096

cdef uint64_t ADDRESS_SPACE = <uint64_t>1 << 47


cdef file_engine engine_named(str name):
    cdef file_engine engine
    memset(&engine, 0, sizeof(engine))
    if name == "sync":
        engine.start = sync_start
    elif name == "mmap":
        engine.start = mmap_start
    elif name == "async":
        engine.open, engine.close, engine.start, engine.take = aio_open, aio_close, aio_start, aio_take
    elif name == "uring":
        engine.open, engine.close, engine.start, engine.take = uring_open, uring_close, uring_start, uring_take
    else:
        raise ValueError(name)
    return engine


# -- a worker

cdef bint file_begin(file_worker *w, file_request *request, uint64_t start_ns) noexcept nogil:
    """Begin a request in a free slot, and count it if that is all there is to do; False if it has failed."""
    cdef file_slot *slot
    cdef int64_t result
    w.free_count -= 1
    slot = &w.slots[w.free_slots[w.free_count]]
    slot.request = request[0]
    if w.test.settings.validate and request.operation == FILE_WRITE:
        fill_request(w, request, slot.buffer)
        start_ns = clock_ns()
    slot.start_ns = start_ns
    result = w.test.engine.start(w, slot)
    return result == FILE_PENDING or file_done(w, slot, result)


cdef bint file_drain(file_worker *w) noexcept nogil:
    """Wait for all requests under way; False if one has failed."""
    cdef bint ok = True
    while w.free_count < w.test.settings.depth and not w.lost:
        ok = w.test.engine.take(w, True) and ok
    return ok


cdef bint file_fsync(file_worker *w, int file) noexcept nogil:
    """Synchronise a file after all requests under way, and wait for the end of that."""
    cdef file_request request
    request.operation = FILE_FSYNC
    request.file = file
    request.position = request.size = 0
    return file_drain(w) and file_begin(w, &request, clock_ns()) and file_drain(w)


cdef void debug_request(file_request *request) noexcept nogil:
    cdef char line[160]
    snprintf(line, sizeof(line), "Executing request, operation: %d, file_id: %d, pos: %llu, size: %llu",
             request.operation, request.file, <unsigned long long>request.position,
             <unsigned long long>request.size)
    sb_log(LOG_DEBUG, line)


cdef bint file_event(file_worker *w) noexcept nogil:
    """One event: a request is begun; False if one has failed."""
    cdef file_test *test = w.test
    cdef file_request request
    while not generator_next(&test.generator, &test.settings, &request, w.events.rng):
        # Blocks become free when requests end, this worker's own or those of others.
        if sb_flag(&run.stop):
            sb_event_cancel(w.thread_id)
            return True
        if w.free_count == test.settings.depth:
            sched_yield()
        elif not test.engine.take(w, True):
            return False
    if test.settings.trace:
        debug_request(&request)
    if not file_begin(w, &request, w.events.now_ns):
        return False
    if test.settings.fsync_all and request.operation == FILE_WRITE and not file_fsync(w, request.file):
        return False
    return test.engine.take == NULL or test.engine.take(w, w.free_count == 0)


cdef bint file_end(file_worker *w) noexcept nogil:
    """The last worker that gets here synchronises every file, once: nothing is written any more."""
    cdef file_settings *s = &w.test.settings
    cdef int i
    if sb_fetch_add(&w.test.finished, 1) + 1 < <uint64_t>s.threads or not s.fsync_end or sb_flag(&run.failed):
        return True
    for i in range(s.files):
        if not file_fsync(w, i):
            return False
    return True


cdef inline uint64_t event_end_ns(file_worker *w) noexcept nogil:
    """The clock at the end of an event: it need not be read again if that was the end of a request too."""
    if w.done_ns > w.events.now_ns and not w.test.settings.validate:
        return w.done_ns
    return clock_ns()


cdef bint file_loop(file_worker *w) noexcept nogil:
    cdef bint ok = True
    while ok and event_next_at(w.events, event_end_ns(w)):
        ok = file_event(w)
    if not ok:
        sb_event_cancel(w.thread_id)
    ok = file_drain(w) and ok
    return file_end(w) and ok


def bench_fileio_worker(int thread_id, FileTest test not None) -> bool:
    """A worker of the fileio test: an event is a request. False if one has failed."""
    cdef file_worker *w = &test.workers[thread_id]
    cdef int operation
    cdef bint ok
    w.events = worker_of(thread_id)
    for operation in range(FILE_READ, FILE_FSYNC + 1):
        w.latencies[operation] = &operations[operation - FILE_READ][thread_id]
    with nogil:
        ok = sb_worker_ready(thread_id) and file_loop(w)
    return ok


# -- the test

cdef class FileTest:
    """The files of a run and what its workers share.

    The operations that it keeps latencies of are OPERATIONS, in that order."""
    cdef file_test test
    cdef file_worker *workers
    cdef int threads

    OPERATIONS = ("read", "write", "fsync")

    def __init__(self, str io_mode not None, *, int threads, int files, uint64_t file_bytes, uint64_t block_bytes,
                 uint64_t request_bytes, bint random, bint reads, bint writes, double read_write_ratio,
                 uint64_t fsync_every, bint fsync_all, bint fsync_end, bint data_only, bint validate, bint trace,
                 bint direct, int depth):
        """Raises OSError if the kernel gives no queue for asynchronous requests, MemoryError without memory."""
        cdef file_settings *s = &self.test.settings
        self.test.engine = engine_named(io_mode)
        s.threads, s.files, s.file_bytes, s.block_bytes = threads, files, file_bytes, block_bytes
        s.request_bytes = min(request_bytes, file_bytes)
        s.random, s.reads, s.writes, s.read_write_ratio = random, reads, writes, read_write_ratio
        s.fsync_every, s.fsync_all, s.fsync_end, s.data_only = fsync_every, fsync_all, fsync_end and writes, data_only
        s.validate, s.trace, s.direct = validate, trace, direct
        s.depth = depth if self.test.engine.take != NULL else 1
        generator_init(&self.test.generator)
        if validate and not generator_watch(&self.test.generator, s):
            raise MemoryError()
        self.test.descriptors = <int *>calloc(files, sizeof(int))
        self.workers = <file_worker *>calloc(threads, sizeof(file_worker))
        if self.test.descriptors == NULL or self.workers == NULL:
            raise MemoryError()
        self.threads = threads
        for i in range(threads):
            self._open_worker(i)

    cdef object _open_worker(self, int thread_id):
        cdef file_worker *w = &self.workers[thread_id]
        cdef int depth = self.test.settings.depth
        cdef int i
        cdef void *memory
        cdef uint64_t slot_bytes = self.test.settings.request_bytes
        slot_bytes += (FILE_ALIGNMENT - slot_bytes % FILE_ALIGNMENT) % FILE_ALIGNMENT
        w.thread_id = thread_id
        w.test = &self.test
        w.slots = <file_slot *>calloc(depth, sizeof(file_slot))
        w.free_slots = <int *>calloc(depth, sizeof(int))
        if slot_bytes > ADDRESS_SPACE // depth or w.slots == NULL or w.free_slots == NULL:
            raise MemoryError()
        w.buffers_bytes = slot_bytes * depth
        # Anonymous memory: zero bytes at addresses good for direct I/O, and real only where it is used.
        memory = mmap(NULL, w.buffers_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
        if memory == MAP_FAILED:
            raise MemoryError()
        w.buffers = <char *>memory
        for i in range(depth):
            w.slots[i].buffer = w.buffers + i * slot_bytes
            w.free_slots[i] = depth - 1 - i
        w.free_count = depth
        if self.test.engine.open != NULL and not self.test.engine.open(w, depth):
            raise OSError(errno, strerror(errno).decode())

    def __dealloc__(self):
        cdef file_worker *w
        cdef int i
        for i in range(self.threads):
            w = &self.workers[i]
            if w.queue != NULL:
                self.test.engine.close(w)
            if w.buffers != NULL:
                munmap(w.buffers, w.buffers_bytes)
            free(w.slots)
            free(w.free_slots)
        unmap_files(&self.test)
        free(self.test.descriptors)
        free(self.test.generator.busy)
        free(self.workers)

    def open(self, list descriptors not None) -> None:
        """Take the open files, and have their operations measured in the run that has been set up.

        The files stay the caller's to close. Raises OSError if one cannot be mapped into memory."""
        cdef int i
        for i, descriptor in enumerate(descriptors):
            self.test.descriptors[i] = descriptor
        if self.test.engine.start == mmap_start:
            i = map_files(&self.test)
            if i >= 0:
                raise OSError(errno, strerror(errno).decode(), f"test_file.{i}")
        operations_setup(self.OPERATIONS)

    def files_passed(self) -> int:
        """How many of the files, from the first on, sequential requests have gone over to their end."""
        return self.test.settings.files if self.test.generator.passes else self.test.generator.file
