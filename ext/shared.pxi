# Memory that worker processes share with the one that reports: made before they are, and zero at first.

cdef extern from "<sys/mman.h>" nogil:
    void *mmap(void *, size_t, int, int, int, long)
    int munmap(void *, size_t)
    int PROT_READ
    int PROT_WRITE
    int MAP_SHARED
    int MAP_ANONYMOUS
    void *MAP_FAILED

cdef extern from "<pthread.h>" nogil:
    ctypedef struct pthread_mutexattr_t:
        pass
    int pthread_mutexattr_init(pthread_mutexattr_t *)
    int pthread_mutexattr_setpshared(pthread_mutexattr_t *, int)
    int pthread_mutexattr_setrobust(pthread_mutexattr_t *, int)
    int PTHREAD_PROCESS_SHARED
    int PTHREAD_MUTEX_ROBUST


cdef void *shared_new(size_t size) noexcept nogil:
    """NULL without memory."""
    cdef void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)
    return NULL if memory == MAP_FAILED else memory


cdef void *shared_always(size_t size) except NULL:
    """For what is made once."""
    cdef void *memory = shared_new(size)
    if memory == NULL:
        raise MemoryError("not enough memory")
    return memory


cdef void shared_mutex_init(pthread_mutex_t *mutex) noexcept nogil:
    """For shared memory; nobody waits for ever for a process that has died with it."""
    cdef pthread_mutexattr_t kind
    pthread_mutexattr_init(&kind)
    pthread_mutexattr_setpshared(&kind, PTHREAD_PROCESS_SHARED)
    pthread_mutexattr_setrobust(&kind, PTHREAD_MUTEX_ROBUST)
    pthread_mutex_init(mutex, <void *>&kind)


# The first of such errors in a command, for whoever explains why that failed.
cdef struct first_error:
    uint64_t times
    int driver                  # its place in drivers
    int number
    char message[1024]

# What all processes of a run count together.
cdef struct shared_counts:
    int sql_used                # a script has asked for an SQL driver
    int table_trouble           # DB_TROUBLE_*, of the last such error
    uint64_t loads_refused      # bulk inserts that --bulk=copy could not load
    uint64_t connections        # for the rotation of hosts
    first_error refused         # connections that could not be made
    first_error bulk_ignored    # bulk inserts that failed with an error that is ignored, and thus not printed
    uint64_t bulk_rows_lost     # rows of bulk inserts that failed
    uint64_t unique_index       # of the unique numbers
    uint64_t sequence           # of the consecutive numbers

cdef shared_counts *across = <shared_counts *>shared_always(sizeof(shared_counts))
