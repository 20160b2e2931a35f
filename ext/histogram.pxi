# HDR recording of latencies in nanoseconds: 3 significant digits, 1 ns to 2^47 - 1 ns (39 hours).
# Bucket layout of HdrHistogram: 2048 linear values, then halves of 1024 per power of two.

cdef enum:
    HDR_HALF = 1024
    HDR_BITS = 47
    HDR_COUNTS = (HDR_BITS - 11 + 2) * 1024

HIGHEST_LATENCY_NS = (<uint64_t>1 << HDR_BITS) - 1


cdef inline unsigned hdr_index(uint64_t value_ns) noexcept nogil:
    cdef int shift
    if value_ns >> HDR_BITS:
        value_ns = (<uint64_t>1 << HDR_BITS) - 1
    shift = sb_bit_length(value_ns | 2047) - 11
    return <unsigned>((shift + 1) * HDR_HALF + <int>(value_ns >> shift) - HDR_HALF)


cdef inline uint64_t hdr_value(unsigned index) noexcept nogil:
    """The lowest value of a bucket."""
    cdef unsigned half
    if index < 2 * HDR_HALF:
        return index
    half = index // HDR_HALF - 1
    return <uint64_t>(index - half * HDR_HALF) << half


# -- sysbench.histogram: logarithmic buckets, the value quantised to the nearest one

cdef struct log_histogram:
    size_t size
    double range_min
    double range_max
    double step                 # buckets per unit of ln
    uint64_t *counts
    pthread_mutex_t mutex


cdef public sb_histogram *sb_histogram_new(size_t size, double range_min, double range_max) noexcept nogil:
    """NULL unless size > 1 and 0 < range_min < range_max."""
    cdef log_histogram *h
    if size < 2 or not (0 < range_min < range_max):
        return NULL
    h = <log_histogram *>calloc(1, sizeof(log_histogram))
    if h == NULL:
        return NULL
    h.size = size
    h.range_min = range_min
    h.range_max = range_max
    h.step = (size - 1) / (log(range_max) - log(range_min))
    h.counts = <uint64_t *>calloc(size, sizeof(uint64_t))
    if h.counts == NULL:
        free(h)
        return NULL
    pthread_mutex_init(&h.mutex, NULL)
    return <sb_histogram *>h


cdef public void sb_histogram_update(sb_histogram *handle, double value) noexcept nogil:
    """Count value. One number of the thread's generator is drawn, as scripts with a fixed seed rely on it."""
    cdef log_histogram *h = <log_histogram *>handle
    cdef double at = 0
    cdef size_t i = 0
    rng_next(sb_rng_state)
    if value > 0:
        at = floor((log(value) - log(h.range_min)) * h.step + 0.5)
        if at >= h.size:
            i = h.size - 1
        elif at > 0:
            i = <size_t>at
    sb_fetch_add(&h.counts[i], 1)


cdef public void sb_histogram_print(sb_histogram *handle) noexcept nogil:
    cdef log_histogram *h = <log_histogram *>handle
    cdef uint64_t most = 0
    cdef size_t i
    cdef char stars[48]
    cdef char line[128]
    cdef int n
    for i in range(h.size):
        if h.counts[i] > most:
            most = h.counts[i]
    if most == 0:
        return
    flockfile(stdout)
    put(b"       value  ------------- distribution ------------- count\n")
    for i in range(h.size):
        if h.counts[i] == 0:
            continue
        n = <int>floor(<double>h.counts[i] * 40 / most + 0.5)
        memset(stars, 42, n)
        stars[n] = 0
        snprintf(line, sizeof(line), "%12.3f |%-40s %llu\n", exp(i / h.step + log(h.range_min)), stars,
                 <unsigned long long>h.counts[i])
        put(line)
    funlockfile(stdout)


cdef public void sb_histogram_delete(sb_histogram *h) noexcept nogil:
    if h != NULL:
        free((<log_histogram *>h).counts)
        free(h)
