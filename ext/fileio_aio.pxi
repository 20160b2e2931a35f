# Linux's asynchronous I/O (io_submit(2)), by its system calls. fsync() is synchronous here: kernels before 4.18
# cannot queue it.

cdef extern from *:
    """
    #include <errno.h>
    #include <linux/aio_abi.h>
    #include <sys/syscall.h>
    #include <unistd.h>

    /* The head of the ring of completions, which the kernel maps at the address that identifies the queue. */
    struct sb_aio_ring { unsigned id, nr, head, tail, magic; };

    static long sb_aio_setup(unsigned depth, void **queue)
    {
      aio_context_t context = 0;
      long result = syscall(SYS_io_setup, depth, &context);
      *queue = (void *) context;
      return result;
    }

    static void sb_aio_destroy(void *queue) { syscall(SYS_io_destroy, (aio_context_t) queue); }

    static int64_t sb_aio_submit(void *queue, int write, int fd, void *buffer, uint64_t size, uint64_t position,
                                 uint64_t tag)
    {
      struct iocb request = {0}, *requests = &request;
      request.aio_data = tag;
      request.aio_lio_opcode = write ? IOCB_CMD_PWRITE : IOCB_CMD_PREAD;
      request.aio_fildes = fd;
      request.aio_buf = (uintptr_t) buffer;
      request.aio_nbytes = size;
      request.aio_offset = position;
      return syscall(SYS_io_submit, (aio_context_t) queue, 1L, &requests) == 1 ? 0 : -errno;
    }

    /* Whether a completion waits; true if the ring is not one that can be read. */
    static int sb_aio_ready(void *queue)
    {
      const struct sb_aio_ring *ring = queue;
      return ring->magic != 0xa10a10a1
          || __atomic_load_n(&ring->tail, __ATOMIC_ACQUIRE) != __atomic_load_n(&ring->head, __ATOMIC_RELAXED);
    }

    static long sb_aio_take(void *queue, long at_least, long at_most, struct io_event *events)
    {
      return syscall(SYS_io_getevents, (aio_context_t) queue, at_least, at_most, events, NULL);
    }
    """
    cdef struct io_event:
        uint64_t data
        int64_t res
    long sb_aio_setup(unsigned, void **) nogil
    void sb_aio_destroy(void *) nogil
    int64_t sb_aio_submit(void *, int, int, void *, uint64_t, uint64_t, uint64_t) nogil
    int sb_aio_ready(void *) nogil
    long sb_aio_take(void *, long, long, io_event *) nogil

cdef enum:
    AIO_BATCH = 64


cdef bint aio_open(file_worker *w, unsigned depth) noexcept nogil:
    """False if there is no queue; errno then tells why."""
    return sb_aio_setup(depth, &w.queue) == 0


cdef void aio_close(file_worker *w) noexcept nogil:
    sb_aio_destroy(w.queue)


cdef bint aio_take(file_worker *w, bint wait) noexcept nogil:
    """Count the requests that have ended; with `wait`, at least one. False if one has failed."""
    cdef io_event events[AIO_BATCH]
    cdef char line[128]
    cdef bint ok = True
    cdef long i, n
    if not wait and not sb_aio_ready(w.queue):
        return True
    n = sb_aio_take(w.queue, wait, AIO_BATCH, events)
    while n < 0 and errno == EINTR:
        n = sb_aio_take(w.queue, wait, AIO_BATCH, events)
    if n < 0:
        snprintf(line, sizeof(line), "io_getevents() failed! errno = %d (%s)", errno, strerror(errno))
        w.lost = True
        return file_fail(w.test, line)
    for i in range(n):
        ok = file_done(w, &w.slots[events[i].data], events[i].res) and ok
    return ok


cdef int64_t aio_start(file_worker *w, file_slot *slot) noexcept nogil:
    """Queue a request: FILE_PENDING, or its result if it is done."""
    cdef file_request *request = &slot.request
    cdef int64_t result
    if request.operation == FILE_FSYNC:
        return synchronize(w.test, request.file)
    result = sb_aio_submit(w.queue, request.operation == FILE_WRITE, w.test.descriptors[request.file], slot.buffer,
                           request.size, request.position, slot - w.slots)
    return FILE_PENDING if result == 0 else result
