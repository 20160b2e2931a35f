# The fileio test: its files, what a worker has of its own, and how a worker fails.
from libc.errno cimport EINVAL
from libc.string cimport strerror

cdef enum:
    # What begins a request says so unless it has done it.
    FILE_PENDING = -0x40000000

cdef struct file_slot:
    file_request request        # a request under way
    uint64_t start_ns
    char *buffer

cdef struct file_worker

# How requests are done.
cdef struct file_engine:
    # Make a worker's queue for that many requests: False and errno if there is none. NULL if none is needed.
    bint (*open)(file_worker *, unsigned) noexcept nogil
    void (*close)(file_worker *) noexcept nogil
    # Begin a request: FILE_PENDING, or its result if it is done: bytes, or -errno.
    int64_t (*start)(file_worker *, file_slot *) noexcept nogil
    # Count the requests that have ended, and wait for one if asked to: False if one has failed. NULL if none pends.
    bint (*take)(file_worker *, bint wait) noexcept nogil

cdef struct file_test:
    file_settings settings
    file_generator generator
    file_engine engine
    int *descriptors
    char **maps                 # of the files, if they are mapped into memory
    uint64_t failures
    uint64_t finished           # workers that have no more requests

cdef struct file_worker:
    file_test *test
    int thread_id
    worker *events              # statistics
    worker *latencies[4]        # statistics by operation
    char *buffers
    size_t buffers_bytes
    file_slot *slots
    int *free_slots
    int free_count
    uint64_t done_ns            # when the last request ended
    void *queue                 # of the engine
    bint lost                   # the queue does not answer


cdef const char *file_verb(int operation) noexcept nogil:
    if operation == FILE_READ:
        return b"read"
    return b"write" if operation == FILE_WRITE else b"fsync"


cdef bint file_fail(file_test *test, const char *line) noexcept nogil:
    """End the run with an error. Only the first one is told: the others follow from it or repeat it."""
    if sb_fetch_add(&test.failures, 1) == 0:
        sb_log(LOG_FATAL, line)
    sb_run_fail()
    return False


cdef bint file_request_failed(file_test *test, file_request *request, int error) noexcept nogil:
    cdef char place[64]
    cdef char line[512]
    cdef const char *hint = b""
    place[0] = 0
    if request.operation != FILE_FSYNC:
        snprintf(place, sizeof(place), " pos: %llu", <unsigned long long>request.position)
        if error == EINVAL and test.settings.direct:
            hint = (b": for --file-extra-flags=direct, --file-block-size and the size of a file must be multiples "
                    b"of the sector size of the disk")
    snprintf(line, sizeof(line), "Failed to %s file! file: test_file.%d%s errno = %d (%s)%s",
             file_verb(request.operation), request.file, place, error, strerror(error), hint)
    return file_fail(test, line)
