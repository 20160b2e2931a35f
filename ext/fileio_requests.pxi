# What the fileio test is to do, and the order of its requests: one generator for all workers, under its lock.

cdef enum:
    # The numbers that the debug messages show.
    FILE_READ = 1
    FILE_WRITE = 2
    FILE_FSYNC = 3

cdef struct file_request:
    int operation               # FILE_READ, FILE_WRITE or FILE_FSYNC
    int file
    uint64_t position           # in the file
    uint64_t size

cdef struct file_settings:
    int files
    int threads
    bint random                 # else sequential
    bint reads                  # the operations of the mode; both for random reads and writes
    bint writes
    bint validate
    bint trace                  # show every request
    bint direct                 # the files are open for direct I/O
    bint fsync_all
    bint fsync_end
    bint data_only              # fdatasync() instead of fsync()
    int depth                   # requests that a worker may have under way
    uint64_t file_bytes
    uint64_t block_bytes
    uint64_t request_bytes      # of a sequential request, which may join several blocks
    uint64_t fsync_every        # requests between two rounds of fsync; 0 for none
    double read_write_ratio

cdef enum:
    RANDOM_TRIES = 64

cdef struct file_generator:
    pthread_mutex_t mutex
    uint64_t requests           # for data, so far
    uint64_t reads
    uint64_t writes
    int file                    # where the next sequential request begins
    uint64_t position
    uint64_t passes             # over all files that sequential requests have made
    bint dirty                  # something has been written since the last round of fsync
    int fsync_file              # the next one of the round
    uint64_t *busy              # one bit a block of all files that a request is using; NULL if nobody asks


cdef void generator_init(file_generator *g) noexcept nogil:
    memset(g, 0, sizeof(file_generator))
    pthread_mutex_init(&g.mutex, NULL)


# -- blocks in use. Contents are validated, so no two requests may touch a block at the same time.

cdef bint generator_watch(file_generator *g, file_settings *s) noexcept nogil:
    """Keep account of the blocks in use from now on; False without memory."""
    cdef uint64_t blocks = <uint64_t>s.files * (s.file_bytes // s.block_bytes)
    g.busy = <uint64_t *>calloc(blocks // 64 + 1, sizeof(uint64_t))
    return g.busy != NULL


cdef bint is_free(file_generator *g, file_settings *s, file_request *request) noexcept nogil:
    cdef uint64_t first, i
    if g.busy == NULL:
        return True
    first = (request.file * s.file_bytes + request.position) // s.block_bytes
    for i in range(first, first + request.size // s.block_bytes):
        if g.busy[i // 64] >> (i % 64) & 1:
            return False
    return True


cdef void flip_busy(file_generator *g, file_settings *s, file_request *request) noexcept nogil:
    cdef uint64_t first, i
    if g.busy == NULL:
        return
    first = (request.file * s.file_bytes + request.position) // s.block_bytes
    for i in range(first, first + request.size // s.block_bytes):
        g.busy[i // 64] ^= <uint64_t>1 << (i % 64)


cdef void generator_release(file_generator *g, file_settings *s, file_request *request) noexcept nogil:
    """The request is done: others may use its blocks."""
    if g.busy != NULL:
        pthread_mutex_lock(&g.mutex)
        flip_busy(g, s, request)
        pthread_mutex_unlock(&g.mutex)


# -- what comes next; the lock is held

cdef bint next_fsync(file_generator *g, file_settings *s, file_request *request) noexcept nogil:
    """Whether a round of fsync is due or under way: then the next file is to be synchronised."""
    if s.fsync_every == 0 or not g.dirty or g.requests % s.fsync_every != 0:
        return False
    request.operation = FILE_FSYNC
    request.file = g.fsync_file
    request.position = request.size = 0
    g.fsync_file += 1
    if g.fsync_file == s.files:
        g.fsync_file = 0
        g.dirty = False
    return True


cdef bint next_sequential(file_generator *g, file_settings *s, file_request *request) noexcept nogil:
    """The next part of the files, from the first to the last and again; False if it is in use."""
    request.operation = FILE_WRITE if s.writes else FILE_READ
    request.file = g.file
    request.position = g.position
    request.size = min(s.request_bytes, s.file_bytes - g.position)
    if not is_free(g, s, request):
        return False
    g.position += request.size
    if g.position == s.file_bytes:
        g.position = 0
        g.file += 1
        if g.file == s.files:
            g.file = 0
            g.passes += 1
    return True


cdef bint next_random(file_generator *g, file_settings *s, file_request *request, uint64_t *rng) noexcept nogil:
    """A block of all files, drawn uniformly; False if all tries met one in use."""
    cdef uint64_t total = <uint64_t>s.files * s.file_bytes
    cdef uint64_t offset
    cdef int i
    request.operation = FILE_READ
    # Both so far plus one: the first request has a ratio too.
    if s.writes and not (s.reads and <double>(g.reads + 1) / <double>(g.writes + 1) < s.read_write_ratio):
        request.operation = FILE_WRITE
    for i in range(RANDOM_TRIES):
        offset = <uint64_t>(rng_double(rng) * <double>total)
        offset -= offset % s.block_bytes
        request.file = <int>(offset // s.file_bytes)
        request.position = offset % s.file_bytes
        request.size = min(s.block_bytes, s.file_bytes - request.position)
        if is_free(g, s, request):
            return True
    return False


cdef bint generator_next(file_generator *g, file_settings *s, file_request *request, uint64_t *rng) noexcept nogil:
    """The next request of the test; `rng` is the worker's generator.

    False if all blocks that may come next are in use by requests under way."""
    cdef bint ready = True
    pthread_mutex_lock(&g.mutex)
    if not next_fsync(g, s, request):
        ready = next_random(g, s, request, rng) if s.random else next_sequential(g, s, request)
        if ready:
            g.requests += 1
            if request.operation == FILE_WRITE:
                g.writes += 1
                g.dirty = True
            else:
                g.reads += 1
            flip_busy(g, s, request)
    pthread_mutex_unlock(&g.mutex)
    return ready
