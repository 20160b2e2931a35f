# io_uring(7) by its system calls. The layouts and numbers are the kernel's interface, given here because the headers
# of the system that this is built on may be older than the kernel it runs on. fsync() is not queued: slow as it is,
# it would fill the queue, and a run could not end before all of that is done. Queued, it would have no order either: to
# wait for the writes before it, it would have to hold up those behind it.

cdef extern from *:
    """
    #include <errno.h>
    #include <stdint.h>
    #include <stdlib.h>
    #include <sys/mman.h>
    #include <unistd.h>
    #include <sys/syscall.h>

    enum {
      SB_IO_URING_SETUP = 425, SB_IO_URING_ENTER = 426,
      SB_OP_READ = 22, SB_OP_WRITE = 23, SB_ENTER_GETEVENTS = 1,
      SB_FEATURE_ONE_MAP = 1 << 0,      /* both rings in one mapping, Linux 5.4 */
      SB_FEATURE_CURRENT_POS = 1 << 3   /* as old as SB_OP_READ and SB_OP_WRITE, Linux 5.6 */
    };
    #define SB_OFFSET_RINGS 0L
    #define SB_OFFSET_REQUESTS 0x10000000L

    struct sb_sqe {
      uint8_t opcode, flags;
      uint16_t ioprio;
      int32_t fd;
      uint64_t offset, address;
      uint32_t length, operation_flags;
      uint64_t tag, rest[3];
    };
    struct sb_cqe { uint64_t tag; int32_t result; uint32_t flags; };
    struct sb_uring_params {
      uint32_t sq_entries, cq_entries, flags, cpu, idle, features, wq_fd, reserved[3];
      struct { uint32_t head, tail, mask, entries, flags, dropped, array, reserved; uint64_t address; } sq;
      struct { uint32_t head, tail, mask, entries, overflow, cqes, flags, reserved; uint64_t address; } cq;
    };

    struct sb_uring {
      int fd;
      void *rings;
      size_t rings_size, requests_size;
      struct sb_sqe *requests;
      uint32_t *sq_tail, *sq_array, sq_mask;
      uint32_t *cq_head, *cq_tail, cq_mask;
      struct sb_cqe *completions;
    };

    static void sb_uring_close(struct sb_uring *u)
    {
      if (u->requests)
        munmap(u->requests, u->requests_size);
      if (u->rings)
        munmap(u->rings, u->rings_size);
      close(u->fd);
      free(u);
    }

    static void *sb_uring_map(int fd, size_t size, long offset)
    {
      void *address = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd, offset);
      return address == MAP_FAILED ? NULL : address;
    }

    /* NULL, and errno, if the kernel gives none. */
    static struct sb_uring *sb_uring_open(unsigned depth)
    {
      struct sb_uring_params params = {0};
      struct sb_uring *u = calloc(1, sizeof(*u));
      uint32_t sq_size, cq_size, needed = SB_FEATURE_ONE_MAP | SB_FEATURE_CURRENT_POS;
      char *rings;
      if (!u)
        return NULL;
      u->fd = syscall(SB_IO_URING_SETUP, depth, &params);
      if (u->fd < 0)
        {
          free(u);
          return NULL;
        }
      sq_size = params.sq.array + params.sq_entries * sizeof(uint32_t);
      cq_size = params.cq.cqes + params.cq_entries * sizeof(struct sb_cqe);
      u->rings_size = sq_size > cq_size ? sq_size : cq_size;
      u->requests_size = params.sq_entries * sizeof(struct sb_sqe);
      errno = ENOSYS;
      if ((params.features & needed) != needed
          || !(u->rings = sb_uring_map(u->fd, u->rings_size, SB_OFFSET_RINGS))
          || !(u->requests = sb_uring_map(u->fd, u->requests_size, SB_OFFSET_REQUESTS)))
        {
          int error = errno;
          sb_uring_close(u);
          errno = error;
          return NULL;
        }
      rings = u->rings;
      u->sq_tail = (uint32_t *) (rings + params.sq.tail);
      u->sq_array = (uint32_t *) (rings + params.sq.array);
      u->sq_mask = *(uint32_t *) (rings + params.sq.mask);
      u->cq_head = (uint32_t *) (rings + params.cq.head);
      u->cq_tail = (uint32_t *) (rings + params.cq.tail);
      u->cq_mask = *(uint32_t *) (rings + params.cq.mask);
      u->completions = (struct sb_cqe *) (rings + params.cq.cqes);
      return u;
    }

    static int64_t sb_uring_submit(struct sb_uring *u, int write, int fd, void *buffer, uint32_t size,
                                   uint64_t position, uint64_t tag)
    {
      uint32_t tail = *u->sq_tail, at = tail & u->sq_mask;
      struct sb_sqe request = {
        .opcode = write ? SB_OP_WRITE : SB_OP_READ, .fd = fd, .offset = position,
        .address = (uintptr_t) buffer, .length = size, .tag = tag
      };
      long taken;
      u->requests[at] = request;
      u->sq_array[at] = at;
      __atomic_store_n(u->sq_tail, tail + 1, __ATOMIC_RELEASE);
      do
        taken = syscall(SB_IO_URING_ENTER, u->fd, 1U, 0U, 0U, NULL, 0L);
      while (taken < 0 && errno == EINTR);
      if (taken == 1)
        return 0;
      /* Not taken: the entry is ours again. */
      __atomic_store_n(u->sq_tail, tail, __ATOMIC_RELEASE);
      return taken < 0 ? -errno : -EAGAIN;
    }

    static int sb_uring_wait(struct sb_uring *u)
    {
      long result;
      do
        result = syscall(SB_IO_URING_ENTER, u->fd, 0U, 1U, (unsigned) SB_ENTER_GETEVENTS, NULL, 0L);
      while (result < 0 && errno == EINTR);
      return result < 0 ? -1 : 0;
    }

    /* Takes a completion out of the ring, if there is one. */
    static int sb_uring_take(struct sb_uring *u, uint64_t *tag, int64_t *result)
    {
      uint32_t head = *u->cq_head;
      if (head == __atomic_load_n(u->cq_tail, __ATOMIC_ACQUIRE))
        return 0;
      *tag = u->completions[head & u->cq_mask].tag;
      *result = u->completions[head & u->cq_mask].result;
      __atomic_store_n(u->cq_head, head + 1, __ATOMIC_RELEASE);
      return 1;
    }
    """
    cdef struct sb_uring:
        pass
    sb_uring *sb_uring_open(unsigned) nogil
    void sb_uring_close(sb_uring *) nogil
    int64_t sb_uring_submit(sb_uring *, int, int, void *, uint32_t, uint64_t, uint64_t) nogil
    int sb_uring_wait(sb_uring *) nogil
    int sb_uring_take(sb_uring *, uint64_t *, int64_t *) nogil


cdef bint uring_open(file_worker *w, unsigned depth) noexcept nogil:
    """False if there is no queue; errno then tells why."""
    w.queue = sb_uring_open(depth)
    return w.queue != NULL


cdef void uring_close(file_worker *w) noexcept nogil:
    sb_uring_close(<sb_uring *>w.queue)


cdef bint uring_take(file_worker *w, bint wait) noexcept nogil:
    """Count the requests that have ended; with `wait`, at least one. False if one has failed."""
    cdef sb_uring *queue = <sb_uring *>w.queue
    cdef uint64_t tag
    cdef int64_t result
    cdef char line[128]
    cdef bint ok = True
    if wait and sb_uring_wait(queue) != 0:
        snprintf(line, sizeof(line), "io_uring_enter() failed! errno = %d (%s)", errno, strerror(errno))
        w.lost = True
        return file_fail(w.test, line)
    while sb_uring_take(queue, &tag, &result):
        ok = file_done(w, &w.slots[tag], result) and ok
    return ok


cdef int64_t uring_start(file_worker *w, file_slot *slot) noexcept nogil:
    """Queue a request: FILE_PENDING, or its result if it is done."""
    cdef file_request *request = &slot.request
    cdef int64_t result
    if request.operation == FILE_FSYNC:
        return synchronize(w.test, request.file)
    # A length has 32 bits; file_done() does what a shorter request leaves.
    result = sb_uring_submit(<sb_uring *>w.queue, request.operation == FILE_WRITE,
                             w.test.descriptors[request.file], slot.buffer,
                             <uint32_t>min(request.size, <uint64_t>0x40000000), request.position, slot - w.slots)
    return FILE_PENDING if result == 0 else result
