# The threads test: workers that hold a lock while they give up the processor.

cdef extern from "<sched.h>" nogil:
    int sched_yield()


cdef class LockArray:
    """Mutexes beside each other, and a counter on cache lines of its own. Shared by all workers."""
    cdef pthread_mutex_t *locks
    cdef unsigned length
    cdef uint64_t padding_before[8]
    cdef uint64_t counter
    cdef uint64_t padding_after[8]

    def __cinit__(self, unsigned int length):
        cdef unsigned i
        self.locks = <pthread_mutex_t *>calloc(length, sizeof(pthread_mutex_t))
        if self.locks == NULL:
            raise MemoryError()
        self.length = length
        for i in range(length):
            pthread_mutex_init(&self.locks[i], NULL)

    def __dealloc__(self):
        free(self.locks)


cdef void threads_loop(int thread_id, LockArray array, uint64_t yields) noexcept nogil:
    cdef pthread_mutex_t *lock
    cdef uint64_t i
    while sb_event_next(thread_id):
        # The number of the event picks the lock.
        lock = &array.locks[sb_fetch_add(&array.counter, 1) % array.length]
        for i in range(yields):
            pthread_mutex_lock(lock)
            sched_yield()
            pthread_mutex_unlock(lock)


def bench_threads_worker(int thread_id, LockArray array not None, uint64_t yields) -> bool:
    """A worker of the threads test: an event takes one of the locks `yields` times and yields while it has it."""
    cdef bint ready
    with nogil:
        ready = sb_worker_ready(thread_id)
        if ready:
            threads_loop(thread_id, array, yields)
    return ready
