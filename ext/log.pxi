# Messages to standard output. Lua's print uses the same C stream, so that lines keep their order; the lock of
# that stream guards all state here too, so that nothing comes between the parts of a message.
from libc.signal cimport SIG_DFL, SIGPIPE, raise_, signal

cdef extern from "<stdio.h>" nogil:
    int setvbuf(FILE *, char *, int, size_t)
    int ferror(FILE *)
    void flockfile(FILE *)
    void funlockfile(FILE *)
    int _IONBF
    int EOF

cdef extern from "<errno.h>" nogil:
    int EPIPE

cdef extern from "<unistd.h>" nogil:
    ssize_t write(int, const void *, size_t)
    int isatty(int)

cdef enum:
    LOG_FATAL = 0
    LOG_ALERT = 1
    LOG_WARNING = 2
    LOG_NOTICE = 3
    LOG_INFO = 4
    LOG_DEBUG = 5
    LOG_SEEN_MAX = 64

cdef int log_verbosity = 3
cdef char *log_last = NULL          # text of the last message that was not timestamped
cdef int log_last_priority = LOG_DEBUG
cdef unsigned log_repeats = 0
# While workers run, a fatal line that another worker has printed already is counted instead.
cdef bint log_collapse_fatal = False
cdef bint log_collapsed = False     # has happened since
cdef char *log_seen[LOG_SEEN_MAX]
cdef unsigned log_seen_repeats[LOG_SEEN_MAX]
cdef int log_seen_count = 0


# The lines that show progress stand on a terminal, with the cursor at their start.
cdef bint progress_shown = False
cdef bint progress_is_one_line = True
cdef int progress_descriptor = 2
cdef bint progress_in_the_way = False       # of standard output, which is a terminal too


cdef void progress_erase() noexcept nogil:
    """Take the progress away, if it is shown; the lock of standard output is held."""
    global progress_shown
    if progress_shown:
        progress_shown = False
        # Where it cannot be erased it could not be drawn either.
        write(progress_descriptor, b"\x1b[K" if progress_is_one_line else b"\x1b[J", 3)


cdef void put(const char *text) noexcept nogil:
    """Write text to standard output, unbuffered; its lock is held."""
    if progress_in_the_way:
        progress_erase()
    if fputs(text, stdout) == EOF and errno == EPIPE and not sb_run_exit(128 + SIGPIPE):
        # Python ignores SIGPIPE. Whoever read the output has gone: end as other programs do.
        signal(SIGPIPE, SIG_DFL)
        raise_(SIGPIPE)


cdef void put_line(const char *prefix, const char *text) noexcept nogil:
    """At once, if it is not very long: other processes may write too."""
    cdef char line[2048]
    if strlen(prefix) + strlen(text) + 2 <= sizeof(line):
        snprintf(line, sizeof(line), "%s%s\n", prefix, text)
        put(line)
    else:
        put(prefix)
        put(text)
        put(b"\n")


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


cdef bint log_is_last(const char *text) noexcept nogil:
    return log_last != NULL and strcmp(log_last, text) == 0


cdef void log_put_repeats() noexcept nogil:
    """Tell how often the last message came again, if it did."""
    global log_repeats
    cdef char line[64]
    if log_repeats > 0:
        snprintf(line, sizeof(line), "(last message repeated %u times)\n", log_repeats)
        put(line)
        log_repeats = 0


cdef bint log_collapses(const char *text) noexcept nogil:
    """Whether another worker has printed this fatal line already and it is counted instead.

    Lines that follow each other are left to the usual count of repetitions."""
    global log_seen_count, log_collapsed
    cdef int i
    if log_is_last(text) and not log_collapsed:
        return False
    for i in range(log_seen_count):
        if strcmp(log_seen[i], text) == 0:
            log_seen_repeats[i] += 1
            log_collapsed = True
            return True
    if log_seen_count < LOG_SEEN_MAX:
        log_seen[log_seen_count] = copy_string(text)
        log_seen_repeats[log_seen_count] = 0
        if log_seen[log_seen_count] != NULL:
            log_seen_count += 1
    return False


cdef public void sb_log(int priority, const char *text) noexcept nogil:
    """Print text with the prefix of its priority. Equal consecutive messages are counted, not repeated."""
    global log_last, log_last_priority, log_repeats
    if priority > log_verbosity:
        return
    flockfile(stdout)
    if not (log_collapse_fatal and priority == LOG_FATAL and log_collapses(text)):
        if log_is_last(text):
            log_repeats += 1
        else:
            log_put_repeats()
            free(log_last)
            log_last = copy_string(text)
            log_last_priority = priority
            put_line(log_prefix(priority), text)
    funlockfile(stdout)


def log_message(int priority, bytes text not None) -> None:
    """Print a message (priority 0 fatal .. 5 debug); `text` may have several lines."""
    cdef const char *c_text = text
    with nogil:
        sb_log(priority, c_text)


def log_timestamped(int priority, double elapsed_s, bytes text not None) -> None:
    """Print `[ <elapsed>s ] <text>`; no duplicate suppression, as each line has its own time."""
    cdef char line[64]
    cdef const char *c_text = text
    if priority > log_verbosity:
        return
    snprintf(line, sizeof(line), "[ %.0fs ] ", elapsed_s)
    with nogil:
        flockfile(stdout)
        put_line(line, c_text)
        funlockfile(stdout)


cdef public void sb_print(const char *text) noexcept nogil:
    """Write text as it is."""
    flockfile(stdout)
    put(text)
    funlockfile(stdout)


def log_raw(bytes text not None) -> None:
    """Write text as it is, whatever the verbosity: help, version, messages before the logger is set up."""
    sb_print(text)


def log_setup(int verbosity) -> None:
    """Set the verbosity and switch buffering of standard output off."""
    global log_verbosity
    log_verbosity = verbosity
    setvbuf(stdout, NULL, _IONBF, 0)


def log_collapse(bint on) -> tuple:
    """Start or end counting fatal lines that several workers print alike.

    Returns how often such a line has come again since the start: (least, most), (0, 0) if none has."""
    global log_collapse_fatal, log_seen_count, log_collapsed
    counts = []
    flockfile(stdout)
    log_collapse_fatal = on
    log_collapsed = False
    for i in range(log_seen_count):
        if log_seen_repeats[i] > 0:
            counts.append(log_seen_repeats[i])
        free(log_seen[i])
    log_seen_count = 0
    funlockfile(stdout)
    return (min(counts), max(counts)) if counts else (0, 0)


def progress_draw(bytes text not None, int descriptor=2) -> None:
    """Show lines, no wider than the terminal at `descriptor`, until something else is printed."""
    global progress_shown, progress_in_the_way, progress_is_one_line, progress_descriptor
    cdef list lines = text.split(b"\n")
    # What an earlier, longer text has left below is erased, too.
    cdef bytes up = b"" if len(lines) == 1 else b"\x1b[J\x1b[%dA" % (len(lines) - 1)
    cdef bytes drawn = b"\x1b[K%b%b\r" % (b"\n\x1b[K".join(lines), up)
    cdef const char *c_text = drawn
    cdef size_t size = len(drawn)
    cdef bint one_line = len(lines) == 1
    with nogil:
        flockfile(stdout)
        if descriptor != progress_descriptor:
            progress_erase()
        progress_is_one_line, progress_descriptor = one_line, descriptor
        progress_in_the_way = isatty(1)
        progress_shown = write(descriptor, c_text, size) > 0
        funlockfile(stdout)


def progress_clear() -> None:
    """Take them away, if they are still there."""
    with nogil:
        flockfile(stdout)
        progress_erase()
        funlockfile(stdout)


def log_end() -> None:
    """The last message has been printed: if it is a fatal one that came again, say how often."""
    flockfile(stdout)
    if log_last_priority == LOG_FATAL:
        log_put_repeats()
    funlockfile(stdout)


def output_failed() -> bool:
    """Whether output is missing from standard output (a full disk)."""
    return fflush(stdout) == EOF or ferror(stdout) != 0
