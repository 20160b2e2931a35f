# C types, the ABI shared with Lua, the clock.
from libc.stdint cimport int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free, malloc, realloc
from libc.string cimport memchr, memcmp, memcpy, memmove, memset, strcmp, strcpy, strlen, strncmp, strstr
from posix.strings cimport strncasecmp
from libc.stdio cimport FILE, fflush, fputs, snprintf, stdout
from libc.math cimport exp, expm1, fabs, floor, log, log1p, pow, sqrt
from libc.errno cimport EAGAIN, EINTR, errno

cdef extern from "<stdbool.h>":
    ctypedef bint cbool "bool"

cdef extern from "atomic.h" nogil:
    uint64_t sb_load(const uint64_t *)
    void sb_store(uint64_t *, uint64_t)
    void sb_publish(uint64_t *, uint64_t)
    uint64_t sb_acquire(const uint64_t *)
    uint64_t sb_fetch_add(uint64_t *, uint64_t)
    int sb_flag(const int *)
    void sb_set_flag(int *, int)
    void sb_fetch_ahead(const void *)
    int sb_bit_length(uint64_t)

cdef extern from "abi.h" nogil:
    ctypedef enum sb_counter_type:
        SB_CNT_OTHER, SB_CNT_READ, SB_CNT_WRITE, SB_CNT_TRX, SB_CNT_ERROR, SB_CNT_RECONNECT
        SB_CNT_BYTES_READ, SB_CNT_BYTES_WRITTEN, SB_CNT_MAX
    ctypedef enum sql_error_class:
        DB_ERROR_NONE, DB_ERROR_IGNORABLE, DB_ERROR_FATAL
    ctypedef enum sql_bind_type:
        SQL_TYPE_NONE, SQL_TYPE_TINYINT, SQL_TYPE_SMALLINT, SQL_TYPE_INT, SQL_TYPE_BIGINT
        SQL_TYPE_FLOAT, SQL_TYPE_DOUBLE, SQL_TYPE_TIME, SQL_TYPE_DATE, SQL_TYPE_DATETIME
        SQL_TYPE_TIMESTAMP, SQL_TYPE_CHAR, SQL_TYPE_VARCHAR
    ctypedef struct sb_arg:
        const char *name
        const char *desc
        const char *value
        int type
    ctypedef struct sb_histogram:
        pass
    ctypedef struct sql_driver:
        const char *name_of_dialect
    ctypedef struct sql_connection:
        int error
        int sql_errno
        const char *sql_state
        const char *sql_errmsg
        sql_driver *driver
        int thread_id
    ctypedef struct sql_statement:
        sql_connection *connection
        int nparams
    ctypedef struct sql_param:
        int type
        void *buffer
        uint32_t data_len
        uint32_t max_len
        cbool is_null
    ctypedef struct sql_result:
        int counter
        uint32_t nrows
        uint32_t nfields
        sql_statement *statement
    ctypedef struct sql_value:
        const char *buffer
        size_t length
    ctypedef struct sql_row:
        const sql_value *values

cdef extern from "<time.h>" nogil:
    ctypedef long time_t
    cdef struct timespec:
        time_t tv_sec
        long tv_nsec
    int clock_gettime(int, timespec *)
    int nanosleep(const timespec *, timespec *)
    int CLOCK_MONOTONIC

cdef extern from "<pthread.h>" nogil:
    ctypedef struct pthread_mutex_t:
        pass
    ctypedef struct pthread_cond_t:
        pass
    ctypedef struct pthread_condattr_t:
        pass
    int pthread_mutex_init(pthread_mutex_t *, void *)
    int pthread_mutex_lock(pthread_mutex_t *)
    int pthread_mutex_unlock(pthread_mutex_t *)
    int pthread_condattr_init(pthread_condattr_t *)
    int pthread_condattr_setclock(pthread_condattr_t *, int)
    int pthread_cond_init(pthread_cond_t *, pthread_condattr_t *)
    int pthread_cond_wait(pthread_cond_t *, pthread_mutex_t *)
    int pthread_cond_timedwait(pthread_cond_t *, pthread_mutex_t *, const timespec *)
    int pthread_cond_broadcast(pthread_cond_t *)

cdef extern from "<stdlib.h>" nogil:
    int posix_memalign(void **, size_t, size_t)

# Bumped with every change of abi.h that an older internal Lua would not survive.
ABI_VERSION = 1


cdef inline uint64_t clock_ns() noexcept nogil:
    cdef timespec t
    clock_gettime(CLOCK_MONOTONIC, &t)
    return <uint64_t>t.tv_sec * 1000000000 + <uint64_t>t.tv_nsec


cdef inline timespec to_timespec(uint64_t ns) noexcept nogil:
    cdef timespec t
    t.tv_sec = <time_t>(ns // 1000000000)
    t.tv_nsec = <long>(ns % 1000000000)
    return t


cdef void sleep_ns(uint64_t ns) noexcept nogil:
    cdef timespec t = to_timespec(ns)
    nanosleep(&t, NULL)


def now_ns() -> int:
    """The clock of all measurements: CLOCK_MONOTONIC in nanoseconds."""
    return clock_ns()


def clock_read_ns() -> float:
    """What a reading of this clock takes: the least of several means, as others may take the CPU meanwhile."""
    cdef uint64_t start, least = <uint64_t>-1
    cdef int i, k
    with nogil:
        for i in range(10):
            start = clock_ns()
            for k in range(99):
                clock_ns()
            start = clock_ns() - start
            if start < least:
                least = start
    return least / 100.0


cdef bint make_room(void **memory, size_t *room, size_t wanted, size_t size, size_t first) noexcept nogil:
    """Let an array have room for `wanted` elements of `size` bytes, by doubling from `first`; False without memory."""
    cdef size_t grown = room[0] if room[0] else first
    cdef void *moved
    if wanted <= room[0]:
        return True
    while grown < wanted:
        grown *= 2
    moved = realloc(memory[0], grown * size)
    if moved == NULL:
        return False
    memory[0] = moved
    room[0] = grown
    return True
