# The memory test: blocks that are read or written word by word.

cdef extern from "<sys/mman.h>" nogil:
    int MAP_HUGETLB

# One pass over a block in order. `volatile` forbids to leave an access out or to join several; unrolled, so that the
# memory and not the counting sets the pace. The empty statement keeps the compiler from removing that loop.
cdef extern from *:
    """
    static void sb_seq_read(volatile uint64_t *words, uint64_t count, uint64_t *rng)
    {
      #pragma GCC unroll 8
      for (uint64_t i = 0; i < count; i++)
        (void) words[i];
    }
    static void sb_seq_write(volatile uint64_t *words, uint64_t count, uint64_t *rng)
    {
      #pragma GCC unroll 8
      for (uint64_t i = 0; i < count; i++)
        words[i] = count;
    }
    static void sb_seq_none(volatile uint64_t *words, uint64_t count, uint64_t *rng)
    {
      #pragma GCC unroll 8
      for (uint64_t i = 0; i < count; i++)
        __asm__ volatile ("");
    }
    /* Makes the compiler compute a value that nothing needs. */
    static void sb_use(uint64_t value) { __asm__ volatile ("" : : "r" (value)); }
    """
    void sb_seq_read(volatile uint64_t *words, uint64_t count, uint64_t *rng) noexcept nogil
    void sb_seq_write(volatile uint64_t *words, uint64_t count, uint64_t *rng) noexcept nogil
    void sb_seq_none(volatile uint64_t *words, uint64_t count, uint64_t *rng) noexcept nogil
    void sb_use(uint64_t value) noexcept nogil


cdef enum:
    PAGE_SIZE = 4096

# One pass over a block of `count` words; those in random order draw as many positions from `rng`.
ctypedef void (*memory_pass)(volatile uint64_t *words, uint64_t count, uint64_t *rng) noexcept nogil


cdef inline uint64_t random_index(uint64_t *rng, uint64_t count) noexcept nogil:
    """Uniform in 0 .. count - 1."""
    return <uint64_t><int64_t>(rng_double(rng) * count)


cdef void rnd_read(volatile uint64_t *words, uint64_t count, uint64_t *rng) noexcept nogil:
    cdef uint64_t left = count
    cdef uint64_t state[2]
    state[0], state[1] = rng[0], rng[1]
    while left > 0:
        sb_use(words[random_index(state, count)])
        left -= 1
    rng[0], rng[1] = state[0], state[1]


cdef void rnd_write(volatile uint64_t *words, uint64_t count, uint64_t *rng) noexcept nogil:
    cdef uint64_t left = count
    cdef uint64_t state[2]
    state[0], state[1] = rng[0], rng[1]
    while left > 0:
        words[random_index(state, count)] = left
        left -= 1
    rng[0], rng[1] = state[0], state[1]


cdef void rnd_none(volatile uint64_t *words, uint64_t count, uint64_t *rng) noexcept nogil:
    cdef uint64_t left = count
    cdef uint64_t state[2]
    state[0], state[1] = rng[0], rng[1]
    while left > 0:
        sb_use(rng_next(state))
        left -= 1
    rng[0], rng[1] = state[0], state[1]


cdef memory_pass find_pass(str oper, bint random):
    if oper == "read":
        return rnd_read if random else sb_seq_read
    if oper == "write":
        return rnd_write if random else sb_seq_write
    return rnd_none if random else sb_seq_none


cdef class MemoryBlock:
    """Memory that is not touched yet, of the pool of huge pages if their size is given (0 for ordinary memory).

    Raises OSError if there is not enough."""
    cdef void *start
    cdef uint64_t size_bytes
    cdef uint64_t mapped_bytes

    def __cinit__(self, uint64_t size_bytes, uint64_t huge_page_bytes):
        cdef void *start = NULL
        cdef int error
        self.size_bytes = size_bytes
        if huge_page_bytes == 0:
            error = posix_memalign(&start, PAGE_SIZE, size_bytes)
            if error != 0:
                raise OSError(error, "posix_memalign")
        else:
            self.mapped_bytes = (size_bytes + huge_page_bytes - 1) // huge_page_bytes * huge_page_bytes
            start = mmap(NULL, self.mapped_bytes, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB, -1, 0)
            if start == MAP_FAILED:
                raise OSError(errno, "mmap")
        self.start = start

    def __dealloc__(self):
        if self.mapped_bytes and self.start != NULL:
            munmap(self.start, self.mapped_bytes)
        else:
            free(self.start)

    def clear(self) -> None:
        """Fill it with zeros; a page then lies near the processor of the thread that did this."""
        with nogil:
            memset(self.start, 0, self.size_bytes)


cdef void memory_loop(int thread_id, MemoryBlock block, memory_pass work, uint64_t events) noexcept nogil:
    cdef uint64_t left = events
    while (events == 0 or left > 0) and sb_event_next(thread_id):
        # The warm-up uses nothing of the total size up.
        left -= sb_flag(&run.limit_events) == LIMIT_ON
        work(<volatile uint64_t *>block.start, block.size_bytes // sizeof(uint64_t), sb_rng_state)
    sb_event_stop(thread_id)


def bench_memory_worker(int thread_id, MemoryBlock block not None, str oper, bint random, uint64_t events) -> bool:
    """A worker of the memory test: `events` times (0 for no limit) it reads or writes as many words as `block` has.

    `oper` is "read", "write" or "none", which counts words or draws numbers without touching the block."""
    cdef memory_pass work = find_pass(oper, random)
    cdef bint ready
    with nogil:
        ready = sb_worker_ready(thread_id)
        if ready:
            memory_loop(thread_id, block, work, events)
    return ready
