# The mutex test: many short critical sections, with some work between them.

cdef extern from *:
    """
    /* Counts to `loops` and does nothing else. The empty statement keeps the compiler from removing the loop. */
    static void sb_spin(unsigned loops) { for (unsigned i = 0; i < loops; i++) __asm__ volatile (""); }
    """
    void sb_spin(unsigned loops) noexcept nogil


cdef void mutex_event(LockArray array, uint64_t locks, unsigned loops) noexcept nogil:
    cdef pthread_mutex_t *lock
    cdef uint64_t *rng = sb_rng_state
    cdef uint64_t i
    for i in range(locks):
        lock = &array.locks[random_index(rng, array.length)]
        sb_spin(loops)
        pthread_mutex_lock(lock)
        # Different locks guard the same counter: what counts is that its cache line moves.
        sb_store(&array.counter, sb_load(&array.counter) + 1)
        pthread_mutex_unlock(lock)


cdef void mutex_loop(int thread_id, LockArray array, uint64_t locks, unsigned loops) noexcept nogil:
    cdef bint last = False
    while not last and sb_event_next(thread_id):
        # One event a worker, and more only while they are not counted: during the warm-up.
        last = sb_flag(&run.limit_events) == LIMIT_ON
        mutex_event(array, locks, loops)
    sb_event_stop(thread_id)


def bench_mutex_worker(int thread_id, LockArray array not None, uint64_t locks, unsigned int loops) -> bool:
    """A worker of the mutex test: one event, which `locks` times counts to `loops` and then takes a random lock."""
    cdef bint ready
    with nogil:
        ready = sb_worker_ready(thread_id)
        if ready:
            mutex_loop(thread_id, array, locks, loops)
    return ready
