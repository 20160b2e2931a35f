# Rate mode. Arrivals are a Poisson process, generated on demand under a mutex by whoever asks for the next
# event: what is due waits in a ring, and a worker that finds the ring empty takes the next future arrival
# and sleeps until then. So there is no generating thread, and latency runs from the intended start.

cdef enum:
    PACER_QUEUE_MAX = 131071

cdef struct pacer_state:
    pthread_mutex_t mutex
    bint on
    double mean_ns              # mean time between two arrivals
    uint64_t rng[2]
    uint64_t next_ns            # the first arrival that is not in the ring
    uint64_t ring[131072]
    uint64_t head               # arrivals taken from the ring
    uint64_t tail               # arrivals put into it
    uint64_t running            # events in work
    bint overflow
    uint64_t told               # not 0 once somebody has seen the overflow and ended the run

cdef pacer_state pacer
pthread_mutex_init(&pacer.mutex, NULL)


cdef inline void pacer_draw() noexcept nogil:
    pacer.next_ns += <uint64_t>(-pacer.mean_ns * log(1.0 - rng_double(pacer.rng)))


cdef void pacer_start(uint64_t start_ns) noexcept nogil:
    pacer.head = pacer.tail = 0
    pacer.running = 0
    pacer.overflow = False
    pacer.next_ns = start_ns
    pacer_draw()
    pacer_draw()


cdef void pacer_advance(uint64_t now_ns) noexcept nogil:
    """Move arrivals that are due into the ring. The mutex is held."""
    while pacer.next_ns <= now_ns:
        if pacer.tail - pacer.head >= PACER_QUEUE_MAX:
            pacer.overflow = True
            return
        pacer.ring[pacer.tail & 131071] = pacer.next_ns
        pacer.tail += 1
        pacer_draw()


cdef bint pacer_take(uint64_t now_ns, uint64_t *arrival_ns) noexcept nogil:
    """The next arrival, due or in the future; False when the queue is full."""
    cdef bint ok = True
    pthread_mutex_lock(&pacer.mutex)
    pacer_advance(now_ns)
    if pacer.overflow:
        ok = False
    elif pacer.head != pacer.tail:
        arrival_ns[0] = pacer.ring[pacer.head & 131071]
        pacer.head += 1
    else:
        arrival_ns[0] = pacer.next_ns
        pacer_draw()
    pthread_mutex_unlock(&pacer.mutex)
    return ok


cdef void pacer_running(int64_t change) noexcept nogil:
    sb_fetch_add(&pacer.running, <uint64_t>change)


def pacer_setup(double rate_per_s, tuple rng_state) -> None:
    """Events per second on average, 0 for no rate; the generator of the arrivals has its own state."""
    pacer.on = rate_per_s > 0
    pacer.told = 0
    pacer.mean_ns = 1e9 / rate_per_s if rate_per_s > 0 else 0
    pacer.rng[0], pacer.rng[1] = rng_state


def pacer_failed() -> bool:
    """Whether the run has ended because the queue was full."""
    return sb_load(&pacer.told) != 0


def pacer_tick() -> tuple:
    """(arrivals waiting, events in work) now. Ends the run if the queue is full."""
    cdef bint overflow
    with nogil:
        pthread_mutex_lock(&pacer.mutex)
    if not pacer.overflow:
        pacer_advance(clock_ns())
    overflow = pacer.overflow
    result = pacer.tail - pacer.head, pacer.running
    pthread_mutex_unlock(&pacer.mutex)
    if overflow:
        with nogil:
            fail_queue_full()
    return result
