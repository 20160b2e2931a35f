# One run: limits, start barrier, and the functions that thread_run calls in every worker.

from posix.unistd cimport _SC_PAGESIZE, sysconf

cdef extern from "<pthread.h>" nogil:
    ctypedef unsigned long pthread_t
    ctypedef struct pthread_attr_t:
        pass
    pthread_t pthread_self()
    int pthread_getattr_np(pthread_t, pthread_attr_t *)
    int pthread_attr_getstack(const pthread_attr_t *, void **, size_t *)
    int pthread_attr_destroy(pthread_attr_t *)

cdef extern from "<sys/mman.h>" nogil:
    int madvise(void *, size_t, int)
    int MADV_DONTNEED

cdef enum:
    STACK_OF_A_CALL = 512       # bytes, of a system call
    LIMIT_OFF = 0               # during warm-up
    LIMIT_ON = 1
    LIMIT_CHANGES = 2           # no event begins until the warm-up has been counted off

cdef struct run_state:
    int stop                    # no new events: an error, a signal, a forced end
    int failed                  # a worker ended with an error
    int limit_events            # LIMIT_*
    int keeps_result            # what has been measured is not to be lost by sb_run_exit()
    int exit_status             # what that has been told, and 1 more; 0 if nothing
    int draw_per_event          # the hidden draw that scripts with a fixed seed rely on
    uint64_t deadline_ns        # 0 without a time limit
    uint64_t events_limit
    uint64_t counts_from_ns     # when the warm-up is to end
    uint64_t padding[8]
    uint64_t events_taken       # written by all workers, so on a cache line of its own
    uint64_t padding_after[8]

cdef run_state *run = <run_state *>shared_always(sizeof(run_state))
cdef pthread_mutex_t barrier_mutex
cdef pthread_cond_t barrier_cond        # the barrier is open
cdef pthread_cond_t all_ready_cond
# Each process has a barrier of its own; that of the process that reports counts the workers of all.
cdef int barrier_expected = 0   # workers
cdef int barrier_ready = 0
pthread_mutex_init(&barrier_mutex, NULL)
cdef pthread_condattr_t monotonic
pthread_condattr_init(&monotonic)
pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC)
pthread_cond_init(&barrier_cond, &monotonic)
pthread_cond_init(&all_ready_cond, &monotonic)


cdef void one_more_ready() noexcept nogil:
    """With the mutex. Nobody is woken but by the last one, as there may be thousands."""
    global barrier_ready
    barrier_ready += 1
    if barrier_ready >= barrier_expected:
        pthread_cond_broadcast(&all_ready_cond)


cdef void release_unused_stack() noexcept nogil:
    """Give back what loading the script has used of the thread's stack: events need less of it."""
    cdef pthread_attr_t attributes
    cdef void *lowest
    cdef size_t size, page = <size_t>sysconf(_SC_PAGESIZE)
    cdef char *here = <char *>&attributes
    if pthread_getattr_np(pthread_self(), &attributes) != 0:
        return
    if pthread_attr_getstack(&attributes, &lowest, &size) == 0:
        # Not the page in use, nor what the call that is made here has of the one below it.
        here = <char *>((<size_t>here - STACK_OF_A_CALL) & ~(page - 1))
        if here > <char *>lowest:
            madvise(lowest, here - <char *>lowest, MADV_DONTNEED)
    pthread_attr_destroy(&attributes)


cdef public cbool sb_worker_ready(int thread_id) noexcept nogil:
    """Wait until all workers are ready; False if the run is called off."""
    cdef char line[64]
    snprintf(line, sizeof(line), "Worker thread (#%d) %s", thread_id,
             <const char *>(b"failed to initialize!" if sb_thread_failed else b"initialized"))
    sb_log(LOG_DEBUG, line)
    if this_fiber() == NULL:
        release_unused_stack()
    pthread_mutex_lock(&barrier_mutex)
    one_more_ready()
    while barrier_state == 0 and this_fiber() == NULL:
        pthread_cond_wait(&barrier_cond, &barrier_mutex)
    pthread_mutex_unlock(&barrier_mutex)
    fiber_await_start()
    return barrier_state > 0


cdef inline bint past_deadline(uint64_t now) noexcept nogil:
    return run.deadline_ns != 0 and now >= run.deadline_ns


cdef bint time_is_up(uint64_t now) noexcept nogil:
    """Whether the time limit has been reached; says so."""
    if not past_deadline(now):
        return False
    sb_log(LOG_INFO, b"Time limit exceeded, exiting...")
    return True


cdef bint take_event() noexcept nogil:
    """Take one of --events; False when they are used up."""
    while sb_flag(&run.limit_events) == LIMIT_CHANGES:
        worker_sleep_ns(10000)
    if run.events_limit == 0 or sb_flag(&run.limit_events) == LIMIT_OFF:
        return True
    if sb_load(&run.events_taken) < run.events_limit and sb_fetch_add(&run.events_taken, 1) < run.events_limit:
        return True
    sb_log(LOG_INFO, b"Event limit exceeded, exiting...")
    return False


cdef void fail_queue_full() noexcept nogil:
    sb_set_flag(&run.stop, 1)
    sb_set_flag(&run.failed, 1)
    if sb_fetch_add(&pacer.told, 1) == 0:
        sb_log(LOG_FATAL, b"The event queue is full. This means the worker threads are unable to keep up "
                          b"with the specified event generation rate")


cdef bint wait_for_arrival(worker *w) noexcept nogil:
    """Rate mode: wait until the next event should start, and let its latency run from then."""
    cdef uint64_t arrival, now = w.now_ns, until
    if not pacer_take(now, &arrival):
        fail_queue_full()
        return False
    while now < arrival:
        if sb_flag(&run.stop) or time_is_up(now):
            return False
        # Sleeps are short enough for a stop to be seen soon.
        until = arrival if arrival < now + 100000000 else now + 100000000
        if run.deadline_ns and until > run.deadline_ns:
            until = run.deadline_ns
        worker_sleep_ns(until - now)
        now = clock_ns()
    w.now_ns = w.work_start_ns = now
    w.event_start_ns = arrival
    return True


cdef inline bint more_events(worker *w) noexcept nogil:
    if sb_flag(&run.stop) or time_is_up(w.now_ns) or not take_event():
        return False
    return not pacer.on or wait_for_arrival(w)


cdef inline void event_done(worker *w) noexcept nogil:
    cdef uint64_t start = w.event_start_ns
    if not pacer.on or pacer_event_done(w):
        worker_record(w, w.now_ns - start if w.now_ns > start else 0)
    w.event_start_ns = 0
    if run.draw_per_event:
        rng_next(w.rng)


cdef public cbool sb_more_events(int thread_id) noexcept nogil:
    """Whether the worker shall run one more event. In rate mode, waits until it should start."""
    cdef worker *w = worker_of(thread_id)
    w.event_start_ns = 0
    w.now_ns = clock_ns()
    if fiber_give_way(w.now_ns):
        w.now_ns = clock_ns()
    return more_events(w)


cdef public void sb_event_start(int thread_id) noexcept nogil:
    cdef worker *w = worker_of(thread_id)
    if pacer.on and w.event_start_ns:
        pacer_running(1)
        return
    w.event_start_ns = clock_ns()


cdef public void sb_event_stop(int thread_id) noexcept nogil:
    cdef worker *w = worker_of(thread_id)
    if w.event_start_ns == 0:
        return
    w.now_ns = clock_ns()
    event_done(w)


cdef inline bint event_next_at(worker *w, uint64_t now_ns) noexcept nogil:
    """End the current event, if any, and begin the next one; `now_ns` is what the clock has just said."""
    w.now_ns = now_ns
    if w.event_start_ns:
        event_done(w)
    if fiber_give_way(now_ns):
        w.now_ns = clock_ns()
    if not more_events(w):
        return False
    if pacer.on:
        pacer_running(1)
    else:
        w.event_start_ns = w.now_ns
    return True


cdef public cbool sb_event_next(int thread_id) noexcept nogil:
    """End the current event, if any, and begin the next one, with one reading of the clock for both."""
    return event_next_at(worker_of(thread_id), clock_ns())


cdef public int sb_event_next_at_once(int thread_id) noexcept nogil:
    """The same where the worker must not leave the processor: 1 or 0; -1, and nothing done, if it might have to."""
    cdef uint64_t now = clock_ns()
    if pacer.on or sb_flag(&run.limit_events) == LIMIT_CHANGES or fiber_has_had_its_turn(this_fiber(), now):
        return -1
    return event_next_at(worker_of(thread_id), now)


cdef public void sb_event_cancel(int thread_id) noexcept nogil:
    """Leave the current event without counting it."""
    cdef worker *w = worker_of(thread_id)
    if w.event_start_ns and pacer.on:
        pacer_running(-1)
    w.event_start_ns = 0
    w.now_ns = clock_ns()


cdef inline void worker_time_ends(int thread_id) noexcept nogil:
    """The worker's part of the measured time ends here. Once more, and it ends later."""
    worker_of(thread_id).now_ns = clock_ns()


cdef public void sb_worker_done(int thread_id) noexcept nogil:
    """The worker has run its events."""
    worker_time_ends(thread_id)
    fiber_await_last_event()


cdef bint run_goes_on() noexcept nogil:
    return not sb_flag(&run.stop) and not past_deadline(clock_ns())


cdef public cbool sb_event_may_restart(int thread_id) noexcept nogil:
    """Whether an event that met an ignorable error is to be tried again: not past the end of the run."""
    if not run_goes_on():
        return False
    error_restarts(thread_id)
    return True


cdef public void sb_run_fail() noexcept nogil:
    """The calling worker has failed: the others stop before their next event."""
    global sb_thread_failed
    sb_thread_failed = 1
    sb_set_flag(&run.failed, 1)
    sb_set_flag(&run.stop, 1)


cdef public cbool sb_run_exit(int status) noexcept nogil:
    """The process is about to end, by os.exit() of a script or as nobody reads standard output any more. Whether the
    run is to end in order instead, with this status, as its result is kept."""
    if not sb_flag(&run.keeps_result):
        return False
    sb_set_flag(&run.exit_status, (status & 255) + 1)
    sb_run_fail()
    return True


# -- for the runner, in Python

def run_setup(list worker_states, uint64_t events_limit, bint limit_events, bint draw_per_event) -> None:
    """Make room for one worker per (s0, s1) generator state and clear everything of an earlier run."""
    global barrier_expected, barrier_ready, barrier_state
    cdef int i
    if workers_alloc(len(worker_states)) != 0:
        raise MemoryError(f"not enough memory for {len(worker_states)} workers")
    for i in range(worker_count):
        workers[i].rng[0], workers[i].rng[1] = worker_states[i]
    memset(&background, 0, sizeof(background))
    background.rng[0] = 1
    background.counted_by = &background
    background.latency_counts = background_counts
    memset(run, 0, sizeof(run_state))
    run.events_limit = events_limit
    run.limit_events = limit_events
    run.draw_per_event = draw_per_event
    barrier_expected = worker_count
    barrier_ready = 0
    barrier_state = 0


def rng_enter(int thread_id) -> None:
    """Let this OS thread draw from a worker's generator; -1 for the main state, others for background states."""
    global sb_rng_state, sb_thread_failed
    sb_thread_failed = 0
    sb_rng_state = &rng_of_main[0] if thread_id == -1 else &worker_of(thread_id).rng[0]


def barrier_wait(uint64_t until_ns) -> int:
    """Wait until all workers are ready or the clock passes until_ns; how many are ready."""
    cdef timespec t = to_timespec(until_ns)
    with nogil:
        pthread_mutex_lock(&barrier_mutex)
        if barrier_ready < barrier_expected and clock_ns() < until_ns:
            pthread_cond_timedwait(&all_ready_cond, &barrier_mutex, &t)
        pthread_mutex_unlock(&barrier_mutex)
    return barrier_ready


def barrier_open(uint64_t time_limit_ns, bint go, uint64_t warmup_ns=0) -> int:
    """Start the run (or call it off); returns the start on the clock of now_ns(). A limit of 0 is none, and
    includes the warm-up, whose end is planned then."""
    global barrier_state
    with nogil:
        pthread_mutex_lock(&barrier_mutex)
    cdef uint64_t start_ns = clock_ns()
    run.counts_from_ns = start_ns + warmup_ns
    run.deadline_ns = start_ns + time_limit_ns if time_limit_ns else 0
    if pacer.on:
        pacer_start(start_ns, warmup_ns)
    barrier_state = 1 if go else -1
    pthread_cond_broadcast(&barrier_cond)
    pthread_mutex_unlock(&barrier_mutex)
    return start_ns


def barrier_expect(int n) -> None:
    """This process has only n of the workers; its barrier is opened by barrier_follow()."""
    global barrier_expected
    barrier_expected = n


def barrier_follow(bint go) -> None:
    """The process that reports has started the run, or called it off."""
    global barrier_state
    with nogil:
        pthread_mutex_lock(&barrier_mutex)
    barrier_state = 1 if go else -1
    pthread_cond_broadcast(&barrier_cond)
    pthread_mutex_unlock(&barrier_mutex)


def worker_ready_elsewhere() -> None:
    """A worker of another process is ready."""
    with nogil:
        pthread_mutex_lock(&barrier_mutex)
    one_more_ready()
    pthread_mutex_unlock(&barrier_mutex)


def run_stop() -> None:
    """No new events from now on."""
    sb_set_flag(&run.stop, 1)


def run_failed() -> bool:
    return bool(sb_flag(&run.failed))


def run_keeps_result(bint keeps) -> None:
    """Whether os.exit() of a script, or a reader of standard output that goes away, fails the run instead of ending the
    process at once."""
    sb_set_flag(&run.keeps_result, keeps)


def run_exit_status() -> int | None:
    """The status of what would have ended the process, from 0 to 255."""
    return sb_flag(&run.exit_status) - 1 if sb_flag(&run.exit_status) else None


def run_warmed_up() -> Snapshot:
    """The warm-up is over: --events counts from now on, and what has waited for its turn is forgotten.

    Returns what the warm-up has done; the run begins at its time_ns, and has all of its own time even if that is later
    than was planned. Events that are in work count for the run, one a worker, but not in rate mode where they carry the
    warm-up's backlog."""
    cdef Snapshot result
    cdef uint64_t late_ns
    sb_set_flag(&run.limit_events, LIMIT_CHANGES)
    sb_store(&pacer.counted_from_ns, <uint64_t>-1)
    try:
        result = snapshot(sql_detail=True)
        late_ns = result.time_ns - run.counts_from_ns if result.time_ns > run.counts_from_ns else 0
        if run.deadline_ns:
            sb_store(&run.deadline_ns, run.deadline_ns + late_ns)
        if pacer.on:
            with nogil:
                pacer_forget_warm_up(result.time_ns, late_ns)
    finally:
        sb_set_flag(&run.limit_events, LIMIT_ON)
    return result


def run_unfinished() -> dict:
    """The workers that are inside an event: how long they have been so, in ns, by thread id."""
    cdef int i
    cdef uint64_t start_ns, now = clock_ns()
    unfinished = {}
    for i in range(worker_count):
        start_ns = sb_load(&workers[i].event_start_ns)
        if start_ns:
            unfinished[i] = now - start_ns if now > start_ns else 0
    return unfinished


def worker_missing() -> None:
    """A worker could not be set up: the run is called off once all others have said so or are ready."""
    sb_run_fail()
    sb_team_leave(False)
    worker_ready_elsewhere()
