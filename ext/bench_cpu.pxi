# The cpu test: trial division, as sysbench does it.


cdef uint64_t primes_below(uint64_t limit) noexcept nogil:
    """How many primes there are from 3 up to limit - 1: each candidate is divided by 2, 3, ... up to its root."""
    cdef uint64_t candidate, divisor, found = 0
    cdef double root
    for candidate in range(3, limit):
        root = sqrt(<double>candidate)
        divisor = 2
        while divisor <= root:
            if candidate % divisor == 0:
                break
            divisor += 1
        else:
            found += 1
    return found


cdef void cpu_loop(int thread_id, uint64_t limit) noexcept nogil:
    cdef uint64_t found = 0
    while sb_event_next(thread_id):
        # Atomic accesses, so that the compiler neither drops the work nor does it once for all events.
        sb_store(&found, primes_below(sb_load(&limit)))


def bench_cpu_worker(int thread_id, uint64_t limit) -> bool:
    """A worker of the cpu test: an event looks for the primes below `limit`."""
    cdef bint ready
    with nogil:
        ready = sb_worker_ready(thread_id)
        if ready:
            cpu_loop(thread_id, limit)
    return ready


def bench_cpu_primes(uint64_t limit) -> int:
    """The work of one event of the cpu test: the number of primes from 3 up to `limit` - 1."""
    return primes_below(limit)
