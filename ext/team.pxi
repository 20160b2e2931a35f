# The threads of a parallel command: a place where they meet, and numbered work that they share out.

cdef pthread_mutex_t team_mutex
cdef pthread_cond_t team_cond
pthread_mutex_init(&team_mutex, NULL)
pthread_cond_init(&team_cond, NULL)
cdef int team_size = 1
cdef int team_waiting = 0
cdef int team_left = 0          # have ended
cdef int team_failed = 0        # one of them with an error
cdef uint64_t team_round = 0    # how often all have met


def team_setup(int threads) -> None:
    """A command of so many threads begins."""
    global team_size, team_waiting, team_left, team_failed
    team_size = threads
    team_waiting = team_left = team_failed = 0
    across.sequence = 0


cdef void team_meets() noexcept nogil:
    """Let all go on if the last one has come; the mutex is held."""
    global team_round, team_waiting
    if team_waiting > 0 and team_waiting + team_left >= team_size:
        team_waiting = 0
        team_round += 1
        across.sequence = 0
        pthread_cond_broadcast(&team_cond)


cdef public cbool sb_team_meet() noexcept nogil:
    """Wait until all threads of the command have come here, or have ended; False if one has failed."""
    global team_waiting
    cdef uint64_t round
    pthread_mutex_lock(&team_mutex)
    round = team_round
    team_waiting += 1
    team_meets()
    while team_round == round and not team_failed:
        if this_fiber() == NULL:
            pthread_cond_wait(&team_cond, &team_mutex)
        else:
            # Others of this carrier may have to come, too.
            pthread_mutex_unlock(&team_mutex)
            worker_sleep_ns(1000000)
            pthread_mutex_lock(&team_mutex)
    pthread_mutex_unlock(&team_mutex)
    return not sb_flag(&team_failed)


cdef public int64_t sb_team_next(int64_t n) noexcept nogil:
    """The next of the numbers 0 .. n-1 that no thread has got since all have met; -1 if there is none, or if a
    thread has failed."""
    cdef uint64_t number
    if sb_flag(&team_failed):
        return -1
    number = sb_fetch_add(&across.sequence, 1)
    return <int64_t>number if <int64_t>number < n else -1


cdef public void sb_team_leave(cbool ok) noexcept nogil:
    """The calling thread has ended its command."""
    global team_left
    pthread_mutex_lock(&team_mutex)
    team_left += 1
    if not ok:
        sb_set_flag(&team_failed, 1)
        pthread_cond_broadcast(&team_cond)
    team_meets()
    pthread_mutex_unlock(&team_mutex)
