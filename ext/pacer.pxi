# Rate mode. Arrivals are generated on demand under a mutex by whoever asks for the next event: what is due waits in
# a ring, and a worker that finds the ring empty takes the next future arrival and sleeps until then. So there is no
# generating thread, and latency runs from the intended start.
#
# The gaps between arrivals are drawn for a rate of 1 (exponential, or all 1) and stretched by the rate of their time,
# which may change in steps: an inhomogeneous Poisson process by change of time.

cdef enum:
    PACER_QUEUE_MAX = 131071
    PACER_STEPS_MAX = 1000

cdef struct pacer_state:
    pthread_mutex_t mutex
    bint on
    bint uniform                # arrivals at equal distances
    bint carries_on             # a full queue drops arrivals instead of ending the run
    int n_steps
    int step                    # of next_ns
    double mean_ns[1000]        # mean time between two arrivals in each step
    uint64_t length_ns[1000]    # of each step; the last one lasts
    uint64_t end_ns[1000]
    uint64_t rng[2]
    uint64_t next_ns            # the first arrival that is not in the ring
    double fraction_ns          # of next_ns
    uint64_t ring[131072]
    uint64_t head               # arrivals taken from the ring
    uint64_t tail               # arrivals put into it
    uint64_t longest            # most arrivals that have waited, since pacer_tick(True)
    uint64_t dropped
    double dropped_fraction
    uint64_t running            # events in work
    uint64_t counted_from_ns    # events of earlier arrivals are the warm-up's
    bint overflow
    uint64_t told               # not 0 once somebody has seen the overflow and ended the run

cdef pacer_state *pacer = <pacer_state *>shared_always(sizeof(pacer_state))
shared_mutex_init(&pacer.mutex)


cdef void pacer_draw() noexcept nogil:
    """Move next_ns to the arrival after it."""
    cdef double gap = 1.0 if pacer.uniform else -log(1.0 - rng_double(pacer.rng))
    cdef double left
    while pacer.step + 1 < pacer.n_steps:
        left = (<double>(pacer.end_ns[pacer.step] - pacer.next_ns) - pacer.fraction_ns) / pacer.mean_ns[pacer.step]
        if gap < left:
            break
        gap -= left
        pacer.next_ns = pacer.end_ns[pacer.step]
        pacer.fraction_ns = 0
        pacer.step += 1
    pacer.fraction_ns += gap * pacer.mean_ns[pacer.step]
    pacer.next_ns += <uint64_t>pacer.fraction_ns
    pacer.fraction_ns -= floor(pacer.fraction_ns)


cdef void pacer_start(uint64_t start_ns, uint64_t warmup_ns) noexcept nogil:
    """The warm-up has the rate of the first step, and comes before it."""
    cdef int i
    pacer.head = pacer.tail = 0
    pacer.longest = pacer.dropped = pacer.running = pacer.counted_from_ns = 0
    pacer.fraction_ns = pacer.dropped_fraction = 0
    pacer.overflow = False
    pacer.step = 0
    pacer.end_ns[0] = start_ns + warmup_ns + pacer.length_ns[0]
    for i in range(1, pacer.n_steps):
        pacer.end_ns[i] = pacer.end_ns[i - 1] + pacer.length_ns[i]
    pacer.next_ns = start_ns
    pacer_draw()
    if not pacer.uniform:
        pacer_draw()            # as the original: its first event comes after two intervals


cdef void pacer_drop(uint64_t now_ns) noexcept nogil:
    """Count the arrivals from next_ns to now as dropped, one and as many more as are expected, without drawing them:
    there may be more than anybody can draw."""
    cdef uint64_t end_ns
    cdef double expected = pacer.dropped_fraction
    pacer.dropped += 1
    while True:
        end_ns = now_ns
        if pacer.step + 1 < pacer.n_steps and pacer.end_ns[pacer.step] < now_ns:
            end_ns = pacer.end_ns[pacer.step]
        expected += <double>(end_ns - pacer.next_ns) / pacer.mean_ns[pacer.step]
        pacer.next_ns = end_ns
        if end_ns == now_ns:
            break
        pacer.step += 1
    pacer.dropped += <uint64_t>expected
    pacer.dropped_fraction = expected - floor(expected)
    pacer.fraction_ns = 0
    pacer_draw()


cdef void pacer_advance(uint64_t now_ns) noexcept nogil:
    """Move arrivals that are due into the ring. The mutex is held."""
    if past_deadline(now_ns):
        now_ns = run.deadline_ns
    while pacer.next_ns <= now_ns:
        if pacer.tail - pacer.head < PACER_QUEUE_MAX:
            pacer.ring[pacer.tail & 131071] = pacer.next_ns
            pacer.tail += 1
            pacer_draw()
        elif pacer.carries_on:
            pacer_drop(now_ns)
        else:
            pacer.overflow = True
            return
    if pacer.tail - pacer.head > pacer.longest:
        pacer.longest = pacer.tail - pacer.head


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


cdef bint pacer_event_done(worker *w) noexcept nogil:
    """Record the service time of an event; False if the event belongs to the warm-up and is not to be counted."""
    pacer_running(-1)
    if w.event_start_ns < sb_load(&pacer.counted_from_ns):
        return False
    if w != &background:
        worker_record(&service_times[w - workers], w.now_ns - w.work_start_ns)
    return True


cdef void pacer_forget_warm_up(uint64_t start_ns, uint64_t late_ns) noexcept nogil:
    """What has waited since before start_ns is forgotten, and all steps end late_ns later than was planned."""
    cdef int i
    pthread_mutex_lock(&pacer.mutex)
    for i in range(pacer.n_steps):
        pacer.end_ns[i] += late_ns
    pacer_advance(start_ns)
    pacer.head = pacer.tail
    pacer.longest = pacer.dropped = 0
    pacer.dropped_fraction = 0
    sb_store(&pacer.counted_from_ns, start_ns)
    pthread_mutex_unlock(&pacer.mutex)


def pacer_setup(tuple steps not None, tuple rng_state, *, bint uniform=False, bint carries_on=False) -> None:
    """The rates, as (events per second on average, seconds that this lasts); the last one lasts to the end.

    None for no rate. The generator of the arrivals has its own state. A full queue ends the run, unless it
    carries_on: then arrivals are dropped. Follows run_setup()."""
    global service_times
    cdef int i
    if len(steps) > PACER_STEPS_MAX:
        raise ValueError(f"more than {PACER_STEPS_MAX} rates")
    pacer.on = len(steps) > 0
    pacer.told = 0
    pacer.uniform = uniform
    pacer.carries_on = carries_on
    pacer.n_steps = <int>len(steps)
    for i in range(pacer.n_steps):
        rate_per_s, length_s = steps[i]
        pacer.mean_ns[i] = 1e9 / rate_per_s
        pacer.length_ns[i] = <uint64_t>(length_s * 1e9)
    pacer.rng[0], pacer.rng[1] = rng_state
    if pacer.on:
        service_times = workers_new(worker_count)
        if service_times == NULL:
            raise MemoryError(f"not enough memory for {worker_count} workers")


def pacer_failed() -> bool:
    """Whether the run has ended because the queue was full."""
    return sb_load(&pacer.told) != 0


def pacer_tick(bint mark=False) -> tuple:
    """(arrivals waiting, events in work, most arrivals that have waited since the last mark, arrivals dropped).

    Ends the run if the queue is full, and counts only what is due before the time limit."""
    cdef bint overflow
    with nogil:
        pthread_mutex_lock(&pacer.mutex)
    if not pacer.overflow:
        pacer_advance(clock_ns())
    overflow = pacer.overflow
    waiting = pacer.tail - pacer.head
    result = waiting, pacer.running, max(pacer.longest, waiting), pacer.dropped
    if mark:
        pacer.longest = pacer.tail - pacer.head
    pthread_mutex_unlock(&pacer.mutex)
    if overflow:
        with nogil:
            fail_queue_full()
    return result


def pacer_arrivals(int n, double length_s) -> list:
    """Up to n arrivals of the next length_s seconds as the set-up makes them, in ns from their start, for tests."""
    arrivals = []
    pacer_start(0, 0)
    while len(arrivals) < n and pacer.next_ns < length_s * 1e9:
        arrivals.append(pacer.next_ns)
        pacer_draw()
    return arrivals
