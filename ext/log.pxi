# Messages to standard output. Lua's print uses the same C stream, so that lines keep their order.
cdef extern from "<stdio.h>" nogil:
    int setvbuf(FILE *, char *, int, size_t)
    int ferror(FILE *)
    int _IONBF
    int EOF

cdef extern from "<errno.h>" nogil:
    int EPIPE

cdef enum:
    LOG_FATAL = 0
    LOG_ALERT = 1
    LOG_WARNING = 2
    LOG_NOTICE = 3
    LOG_INFO = 4
    LOG_DEBUG = 5
    LOG_SEEN_MAX = 64

cdef pthread_mutex_t log_mutex
cdef bint log_pipe_closed = False   # the reader has gone: nobody misses the output
cdef int log_verbosity = 3
cdef char *log_last = NULL          # text of the last message that was not timestamped
cdef unsigned log_repeats = 0
# While workers run, a fatal line that another worker has printed already is counted instead.
cdef bint log_collapse_fatal = False
cdef char *log_seen[LOG_SEEN_MAX]
cdef unsigned log_seen_repeats[LOG_SEEN_MAX]
cdef int log_seen_count = 0
pthread_mutex_init(&log_mutex, NULL)


cdef void put(const char *text) noexcept nogil:
    """Write text to standard output, unbuffered; the mutex is held."""
    global log_pipe_closed
    if fputs(text, stdout) == EOF and errno == EPIPE:
        log_pipe_closed = True


cdef const char *log_prefix(int priority) noexcept nogil:
    if priority == LOG_FATAL:
        return b"FATAL: "
    if priority == LOG_ALERT:
        return b"ALERT: "
    if priority == LOG_WARNING:
        return b"WARNING: "
    if priority == LOG_DEBUG:
        return b"DEBUG: "
    return b""


cdef char *copy_string(const char *text) noexcept nogil:
    cdef size_t size = strlen(text) + 1
    cdef char *copy = <char *>malloc(size)
    if copy != NULL:
        memcpy(copy, text, size)
    return copy


cdef bint log_seen_before(const char *text) noexcept nogil:
    cdef int i
    for i in range(log_seen_count):
        if strcmp(log_seen[i], text) == 0:
            log_seen_repeats[i] += 1
            return True
    return False


cdef void log_remember(const char *text) noexcept nogil:
    global log_seen_count
    if log_seen_count < LOG_SEEN_MAX:
        log_seen[log_seen_count] = copy_string(text)
        log_seen_repeats[log_seen_count] = 0
        if log_seen[log_seen_count] != NULL:
            log_seen_count += 1


cdef public void sb_log(int priority, const char *text) noexcept nogil:
    """Print text with the prefix of its priority. Equal consecutive messages are counted, not repeated."""
    global log_last, log_repeats
    cdef char line[64]
    if priority > log_verbosity:
        return
    pthread_mutex_lock(&log_mutex)
    if log_collapse_fatal and priority == LOG_FATAL:
        if log_seen_before(text):
            pthread_mutex_unlock(&log_mutex)
            return
        log_remember(text)
    if log_last != NULL and strcmp(log_last, text) == 0:
        log_repeats += 1
    else:
        if log_repeats > 0:
            snprintf(line, sizeof(line), "(last message repeated %u times)\n", log_repeats)
            put(line)
            log_repeats = 0
        free(log_last)
        log_last = copy_string(text)
        put(log_prefix(priority))
        put(text)
        put(b"\n")
    pthread_mutex_unlock(&log_mutex)


def log_message(int priority, bytes text not None) -> None:
    """Print a message (priority 0 fatal .. 5 debug); `text` may have several lines."""
    sb_log(priority, text)


def log_timestamped(int priority, double elapsed_s, bytes text not None) -> None:
    """Print `[ <elapsed>s ] <text>`; no duplicate suppression, as each line has its own time."""
    cdef char line[64]
    if priority > log_verbosity:
        return
    snprintf(line, sizeof(line), "[ %.0fs ] ", elapsed_s)
    pthread_mutex_lock(&log_mutex)
    put(line)
    put(text)
    put(b"\n")
    pthread_mutex_unlock(&log_mutex)


cdef public void sb_print(const char *text) noexcept nogil:
    """Write text as it is."""
    pthread_mutex_lock(&log_mutex)
    put(text)
    pthread_mutex_unlock(&log_mutex)


def log_raw(bytes text not None) -> None:
    """Write text as it is, whatever the verbosity: help, version, messages before the logger is set up."""
    sb_print(text)


def log_setup(int verbosity) -> None:
    """Set the verbosity and switch buffering of standard output off."""
    global log_verbosity
    log_verbosity = verbosity
    setvbuf(stdout, NULL, _IONBF, 0)


def log_collapse(bint on) -> list:
    """Start or end counting fatal lines that several workers print alike.

    Returns what was counted since the start: (text, how often it came again)."""
    global log_collapse_fatal, log_seen_count
    counted = []
    pthread_mutex_lock(&log_mutex)
    log_collapse_fatal = on
    for i in range(log_seen_count):
        if log_seen_repeats[i] > 0:
            counted.append((<bytes>log_seen[i], log_seen_repeats[i]))
        free(log_seen[i])
    log_seen_count = 0
    pthread_mutex_unlock(&log_mutex)
    return counted


def output_failed() -> bool:
    """Whether output is missing from standard output (a full disk); a pipe that the reader closed is no fault."""
    global log_pipe_closed
    if fflush(stdout) == EOF and errno == EPIPE:
        log_pipe_closed = True
    return ferror(stdout) != 0 and not log_pipe_closed
