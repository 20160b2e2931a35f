# Many workers on few OS threads: a worker is a fiber, a C stack on which a coroutine of the carrier's Lua state runs,
# and a carrier is the OS thread that runs them in turn. Where a worker would wait for a descriptor, the clock or the
# start of the run, its carrier goes on with another one. Scripts and drivers need not know: the same functions wait in
# both ways. Compiled code keeps what it works with out of the Lua stack, so a worker leaves only in calls at which it
# has ended (lua_calls.pxi); elsewhere it keeps its carrier while it waits.

from posix.unistd cimport close

cdef extern from "fiber.h" nogil:
    ctypedef struct sb_context:
        pass
    void sb_context_make(sb_context *, char *, size_t, void (*)() noexcept)
    void sb_context_switch(sb_context *, sb_context *)

cdef extern from "<poll.h>" nogil:
    cdef struct pollfd:
        int fd
        short events
        short revents
    int poll(pollfd *, unsigned long, int)
    int ppoll(pollfd *, unsigned long, const timespec *, const void *)
    short POLLIN
    short POLLOUT

cdef extern from "<sys/epoll.h>" nogil:
    ctypedef union epoll_data_t:
        int fd
    cdef struct epoll_event:
        uint32_t events
        epoll_data_t data
    int epoll_create1(int)
    int epoll_ctl(int, int, int, epoll_event *)
    int epoll_wait(int, epoll_event *, int, int)
    int EPOLL_CLOEXEC
    int EPOLL_CTL_ADD
    int EPOLL_CTL_MOD
    int EPOLL_CTL_DEL
    uint32_t EPOLLIN
    uint32_t EPOLLOUT

cdef extern from "<sys/mman.h>" nogil:
    int mprotect(void *, size_t, int)
    int MAP_PRIVATE
    int MAP_NORESERVE
    int MAP_STACK
    int PROT_NONE

cdef extern from *:
    """
    static __thread int sb_thread_failed;
    static __thread void *sb_running_fiber;
    """
    int sb_thread_failed        # the calling worker has ended the run with an error
    void *sb_running_fiber      # NULL if the calling thread is the worker

cdef enum:
    FIBER_GUARD_SIZE = 4096
    FIBER_EVENTS = 256          # taken from epoll at a time
    FIBER_TURN_NS = 200000      # a worker whose events do not wait gives way after so long
    FIBER_LONGEST_NS = 100000000    # a worker that keeps its carrier for longer is told of

ctypedef void (*fiber_body)(void *) noexcept nogil
ctypedef int (*fiber_errand)(void *) noexcept nogil

cdef struct fiber:
    sb_context context
    carrier *owner
    int thread_id
    fiber_body body
    void *argument
    char *stack
    bint may_leave              # the processor, to others of the same Lua state
    bint ended
    bint past_events
    int failed                  # sb_thread_failed while it does not run
    uint64_t resumed_ns         # when its turn began
    fiber *next                 # in the line of those that can run
    uint64_t wake_ns            # while it sleeps
    fiber_errand errand         # to be done on the carrier's stack
    void *errand_argument
    int errand_result

cdef struct fiber_line:
    fiber *first
    fiber *last

cdef struct watched_fd:
    uint32_t events             # that epoll looks for; 0 if it does not
    fiber *waiting              # until there is something
    bint taken                  # by a worker that waits, or whose turn has not come yet

cdef struct carrier:
    sb_context context
    size_t stack_size           # of each worker, in address space; memory is what is touched of it
    int epoll
    int live
    fiber_line ready
    fiber_line barrier
    int at_events               # workers that are not past their events
    fiber_line past_events      # those that are, while others are not
    fiber **sleeping            # a heap by wake_ns
    int n_sleeping
    watched_fd *watched         # by descriptor
    int n_watched

cdef int barrier_state = 0      # of the run: 0 waiting, 1 go, -1 called off

# The longest time that a worker has kept its carrier during a run, and who it was.
cdef uint64_t carrier_lag_ns = 0
cdef int carrier_lag_thread_id = 0


cdef inline fiber *this_fiber() noexcept nogil:
    """NULL if the worker has an OS thread of its own."""
    return <fiber *>sb_running_fiber


cdef inline fiber *free_fiber() noexcept nogil:
    """NULL also if it must not leave the processor now."""
    cdef fiber *f = <fiber *>sb_running_fiber
    return f if f != NULL and f.may_leave else NULL


cdef public int sb_running_worker() noexcept nogil:
    """The thread id of the worker whose turn it is on the calling thread; -1 if a carrier runs none."""
    cdef fiber *f = this_fiber()
    return f.thread_id if f != NULL else -1


# -- what workers call, on their own stack

cdef inline void fiber_leave(fiber *f) noexcept nogil:
    """Let the carrier go on; returns when this one's turn comes again."""
    sb_context_switch(&f.context, &f.owner.context)


cdef inline void line_put(fiber_line *line, fiber *f) noexcept nogil:
    f.next = NULL
    if line.last == NULL:
        line.first = f
    else:
        line.last.next = f
    line.last = f


cdef inline fiber *line_take(fiber_line *line) noexcept nogil:
    cdef fiber *f = line.first
    line.first = f.next
    if line.first == NULL:
        line.last = NULL
    return f


cdef bint carrier_watch(carrier *c, int fd, uint32_t events) noexcept nogil:
    """Let epoll look at a descriptor; False without memory, or if it cannot be watched."""
    cdef epoll_event event
    cdef void *grown
    cdef int n = fd + 64
    if fd >= c.n_watched:
        grown = realloc(c.watched, n * sizeof(watched_fd))
        if grown == NULL:
            return False
        c.watched = <watched_fd *>grown
        memset(c.watched + c.n_watched, 0, (n - c.n_watched) * sizeof(watched_fd))
        c.n_watched = n
    if c.watched[fd].events == events:
        return True
    event.events = events
    event.data.fd = fd
    # Epoll itself forgets a descriptor that is closed.
    if epoll_ctl(c.epoll, EPOLL_CTL_MOD, fd, &event) != 0 and epoll_ctl(c.epoll, EPOLL_CTL_ADD, fd, &event) != 0:
        return False
    c.watched[fd].events = events
    return True


cdef void wait_for(int fd, short events) noexcept nogil:
    """Wait until the descriptor can be read (POLLIN) or written (POLLOUT), or perhaps shorter."""
    cdef pollfd waiting
    cdef fiber *f = free_fiber()
    if f == NULL or not carrier_watch(f.owner, fd, EPOLLIN if events == POLLIN else EPOLLOUT):
        waiting.fd = fd
        waiting.events = events
        poll(&waiting, 1, -1)
        return
    f.owner.watched[fd].waiting = f
    f.owner.watched[fd].taken = True
    fiber_leave(f)
    f.owner.watched[fd].taken = False


cdef inline bint another_waits_for(int fd) noexcept nogil:
    """Whether another worker of the carrier waits for the descriptor, or has not yet seen that it may go on."""
    cdef fiber *f = this_fiber()
    return f != NULL and 0 <= fd < f.owner.n_watched and f.owner.watched[fd].taken


cdef void forget_fd(int fd) noexcept nogil:
    """The descriptor is about to be closed."""
    cdef epoll_event nothing
    cdef fiber *f = this_fiber()
    cdef carrier *c
    if f == NULL or fd < 0 or fd >= f.owner.n_watched:
        return
    c = f.owner
    if c.watched[fd].events:
        epoll_ctl(c.epoll, EPOLL_CTL_DEL, fd, &nothing)
        c.watched[fd].events = 0


cdef void worker_sleep_ns(uint64_t ns) noexcept nogil:
    """Sleep, letting other workers of the same carrier run."""
    cdef fiber *f = free_fiber()
    if f == NULL:
        sleep_ns(ns)
        return
    f.wake_ns = clock_ns() + ns
    sleeper_put(f.owner, f)
    fiber_leave(f)


cdef int on_carrier(fiber_errand errand, void *argument) noexcept nogil:
    """Call a function that needs the OS thread's own stack, as Python does."""
    cdef fiber *f = this_fiber()
    if f == NULL:
        return errand(argument)
    f.errand = errand
    f.errand_argument = argument
    fiber_leave(f)
    return f.errand_result


cdef inline bint fiber_has_had_its_turn(fiber *f, uint64_t now_ns) noexcept nogil:
    """Between events: one that never waits would else keep all other workers from running."""
    return f != NULL and now_ns >= f.resumed_ns + FIBER_TURN_NS and f.owner.live > 1


cdef inline bint fiber_give_way(uint64_t now_ns) noexcept nogil:
    """Let others run if it is time to; whether they did."""
    cdef fiber *f = free_fiber()
    if not fiber_has_had_its_turn(f, now_ns):
        return False
    line_put(&f.owner.ready, f)
    fiber_leave(f)
    return True


cdef void fiber_await_start() noexcept nogil:
    cdef fiber *f = free_fiber()
    while f != NULL and sb_flag(&barrier_state) == 0:
        line_put(&f.owner.barrier, f)
        fiber_leave(f)


cdef void fiber_end_events(fiber *f) noexcept nogil:
    cdef carrier *c = f.owner
    if f.past_events:
        return
    f.past_events = True
    c.at_events -= 1
    if c.at_events == 0:
        while c.past_events.first != NULL:
            line_put(&c.ready, line_take(&c.past_events))


cdef void fiber_await_last_event() noexcept nogil:
    """Wait until all workers of the carrier are past their events: what one does then would be time of the others'."""
    cdef fiber *f = free_fiber()
    if f == NULL:
        return
    fiber_end_events(f)
    if f.owner.at_events > 0:
        line_put(&f.owner.past_events, f)
        fiber_leave(f)


# -- sleepers: a binary heap, the earliest first

cdef void sleeper_put(carrier *c, fiber *f) noexcept nogil:
    cdef int i = c.n_sleeping, parent
    c.n_sleeping += 1
    while i > 0:
        parent = (i - 1) // 2
        if c.sleeping[parent].wake_ns <= f.wake_ns:
            break
        c.sleeping[i] = c.sleeping[parent]
        i = parent
    c.sleeping[i] = f


cdef fiber *sleeper_take(carrier *c) noexcept nogil:
    cdef fiber *first = c.sleeping[0]
    cdef fiber *f
    cdef int i = 0, child
    c.n_sleeping -= 1
    f = c.sleeping[c.n_sleeping]
    while True:
        child = 2 * i + 1
        if child >= c.n_sleeping:
            break
        if child + 1 < c.n_sleeping and c.sleeping[child + 1].wake_ns < c.sleeping[child].wake_ns:
            child += 1
        if f.wake_ns <= c.sleeping[child].wake_ns:
            break
        c.sleeping[i] = c.sleeping[child]
        i = child
    c.sleeping[i] = f
    return first


# -- the carrier

cdef void fiber_begin() noexcept nogil:
    cdef fiber *f = this_fiber()
    f.body(f.argument)
    f.ended = True
    fiber_leave(f)


cdef void carrier_resume(carrier *c, fiber *f) noexcept nogil:
    """Run a worker until it waits for something or ends, doing its errands."""
    global sb_running_fiber, sb_rng_state, sb_thread_failed
    while True:
        f.errand = NULL
        sb_running_fiber = f
        sb_rng_state = &worker_of(f.thread_id).rng[0]
        sb_thread_failed = f.failed
        sb_context_switch(&c.context, &f.context)
        f.failed = sb_thread_failed
        sb_running_fiber = NULL
        if f.errand == NULL:
            break
        f.errand_result = f.errand(f.errand_argument)
    if f.ended:
        fiber_end_events(f)
        c.live -= 1
        munmap(f.stack, c.stack_size)
        f.stack = NULL


cdef void carrier_note_lag(int thread_id, uint64_t lag_ns) noexcept nogil:
    global carrier_lag_ns, carrier_lag_thread_id
    if lag_ns > FIBER_LONGEST_NS and lag_ns > sb_load(&carrier_lag_ns):
        carrier_lag_thread_id = thread_id
        sb_store(&carrier_lag_ns, lag_ns)


cdef void carrier_take_events(carrier *c, int timeout_ms) noexcept nogil:
    cdef epoll_event events[FIBER_EVENTS]
    cdef epoll_event nothing
    cdef watched_fd *watched
    cdef int i, n = epoll_wait(c.epoll, events, FIBER_EVENTS, timeout_ms)
    for i in range(n):
        watched = &c.watched[events[i].data.fd]
        if watched.waiting != NULL:
            line_put(&c.ready, watched.waiting)
            watched.waiting = NULL
        else:
            # Nobody waits for what has come, perhaps the end of the connection: do not hear of it again.
            epoll_ctl(c.epoll, EPOLL_CTL_DEL, events[i].data.fd, &nothing)
            watched.events = 0


cdef void carrier_wait(carrier *c) noexcept nogil:
    """Wait until a worker can run, or until it is time to look again at the start of the run."""
    cdef pollfd waiting
    cdef timespec t
    cdef uint64_t now, until_ns
    if c.ready.first != NULL:
        carrier_take_events(c, 0)
        return
    if c.n_sleeping == 0:
        carrier_take_events(c, 1 if c.barrier.first != NULL else -1)
        return
    now = clock_ns()
    until_ns = c.sleeping[0].wake_ns
    if until_ns > now:
        waiting.fd = c.epoll
        waiting.events = POLLIN
        t = to_timespec(until_ns - now)
        ppoll(&waiting, 1, &t, NULL)
    carrier_take_events(c, 0)


cdef void carrier_loop(carrier *c) noexcept nogil:
    """Run all workers of the carrier to their ends."""
    cdef fiber *f
    cdef fiber *last
    cdef bint others
    cdef uint64_t before, now = clock_ns()
    while c.live > 0:
        carrier_wait(c)
        before = clock_ns()
        while c.n_sleeping and c.sleeping[0].wake_ns <= before:
            line_put(&c.ready, sleeper_take(c))
        if c.barrier.first != NULL and sb_flag(&barrier_state) != 0:
            while c.barrier.first != NULL:
                line_put(&c.ready, line_take(&c.barrier))
        # Those that are ready now; who gets ready meanwhile waits for the next round.
        last = c.ready.last
        while c.ready.first != NULL:
            f = line_take(&c.ready)
            f.resumed_ns = before
            others = c.live > 1
            carrier_resume(c, f)
            now = clock_ns()
            if others and sb_flag(&barrier_state) > 0:  # connecting before the run may take its time
                carrier_note_lag(f.thread_id, now - before)
            before = now
            if f == last:
                break


cdef int fiber_init(fiber *f, carrier *c, int thread_id, fiber_body body, void *argument) noexcept nogil:
    """Give the fiber a stack, with a page below it that nobody may touch; -1 without memory."""
    cdef void *stack = mmap(NULL, c.stack_size, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0)
    if stack == MAP_FAILED:
        return -1
    mprotect(stack, FIBER_GUARD_SIZE, PROT_NONE)
    f.stack = <char *>stack
    f.owner = c
    f.thread_id = thread_id
    f.body = body
    f.argument = argument
    sb_context_make(&f.context, f.stack + FIBER_GUARD_SIZE, c.stack_size - FIBER_GUARD_SIZE, fiber_begin)
    line_put(&c.ready, f)
    c.live += 1
    c.at_events += 1
    return 0


def carrier_lag() -> tuple:
    """(thread id, ns): which worker has kept its carrier for longest since the last call, beyond what is normal.

    0 ns if none has."""
    global carrier_lag_ns
    lag_ns = sb_load(&carrier_lag_ns)
    sb_store(&carrier_lag_ns, 0)
    return carrier_lag_thread_id, lag_ns
