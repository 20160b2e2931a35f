# One worker's numbers. Only the worker writes them; the reporter reads them while it runs and subtracts.

cdef enum:
    STATEMENT_KEPT = 144        # bytes of a statement that are kept for whoever asks what a worker is waiting for
    PAGE_BYTES = 4096
    PAGE_BUCKETS = 512          # buckets of a page
    RARE_LATENCIES = 32
    RARE_OF_PAGE = 8            # beyond so many of one page, its buckets come into use

cdef struct worker:
    uint64_t rng[2]
    uint64_t event_start_ns     # when the event should have started (rate mode) or did start; 0 outside of events
    uint64_t work_start_ns      # rate mode: when it did start
    uint64_t now_ns             # last reading of the clock
    uint64_t counters[8]        # by sb_counter_type; events are SB_CNT_TRX
    uint64_t latency_sum_ns
    uint64_t latency_min_ns
    uint64_t latency_max_ns
    worker *counted_by          # who counts its latencies: itself, or one that runs on the same OS thread
    uint64_t *latency_counts    # HDR_COUNTS buckets, from the beginning of a page
    uint64_t pending            # 1 + the bucket of the last latency, while it is not in the counts; else 0
    # Most latencies of a worker are alike, and the odd ones far apart: each of these would take a page.
    uint64_t pages[2]           # a bit for each page of buckets in use; to read another one would take memory, too
    uint64_t rare[RARE_LATENCIES]       # 1 + the bucket of a latency beyond them; 0 if free
    uint64_t statement_length   # of the statement that the worker waits for; 0 outside of statements
    const void *statement_of    # the prepared statement that `statement` is of, if it is of one
    char statement[STATEMENT_KEPT]      # how it begins; ends a cache line

cdef worker *workers = NULL
cdef int worker_count = 0
# Statements of background states (report hooks) are counted here and shown nowhere.
cdef worker background
cdef uint64_t background_counts[HDR_COUNTS]

# In rate mode, how long events took from their actual start; their latency runs from the intended one.
cdef worker *service_times = NULL

cdef enum:
    OPERATIONS_MAX = 4

# What a test does inside of events may have latencies of its own: an array of all workers for each operation.
cdef worker *operations[OPERATIONS_MAX]
cdef int operation_count = 0
_operation_names = ()


cdef inline worker *worker_of(int thread_id) noexcept nogil:
    if 0 <= thread_id < worker_count:
        return &workers[thread_id]
    return &background


cdef inline size_t workers_pages_size(int n) noexcept nogil:
    """Bytes of the numbers without the buckets, up to the end of a page."""
    return (n * sizeof(worker) + PAGE_BYTES - 1) // PAGE_BYTES * PAGE_BYTES


cdef inline size_t workers_size(int n) noexcept nogil:
    return workers_pages_size(n) + n * HDR_COUNTS * sizeof(uint64_t)


cdef void workers_delete(worker *array, int n) noexcept nogil:
    if array != NULL:
        munmap(array, workers_size(n))


cdef worker *workers_new(int n) noexcept nogil:
    """Numbers for n workers, all zero, their latency buckets behind them; NULL without memory."""
    cdef worker *array = <worker *>shared_new(workers_size(n))
    cdef int i
    if array == NULL:
        return NULL
    for i in range(n):
        array[i].counted_by = &array[i]
        array[i].latency_counts = <uint64_t *>(<char *>array + workers_pages_size(n)) + i * <size_t>HDR_COUNTS
        array[i].latency_min_ns = <uint64_t>-1
    return array


cdef int workers_alloc(int n) noexcept nogil:
    """Make room for n workers, without operations; -1 without memory."""
    global workers, worker_count, operation_count, service_times
    cdef int i
    for i in range(operation_count):
        workers_delete(operations[i], worker_count)
    operation_count = 0
    workers_delete(service_times, worker_count)
    service_times = NULL
    sql_details_free()
    workers_delete(workers, worker_count)
    worker_count = 0
    workers = workers_new(n)
    if workers == NULL or sql_details_alloc(n) != 0:
        return -1
    worker_count = n
    return 0


cdef void count_together(int one, int other) noexcept nogil:
    """Two workers of one OS thread, that have not begun: count the latencies of the other with those of the one."""
    workers[other].counted_by = &workers[one]
    if service_times != NULL:
        service_times[other].counted_by = &service_times[one]


cdef inline unsigned page_of(uint64_t bucket) noexcept nogil:
    return <unsigned>(bucket // PAGE_BUCKETS)


cdef inline bint page_in_use(const worker *w, unsigned page) noexcept nogil:
    return sb_load(&w.pages[page // 64]) >> page % 64 & 1


cdef inline void count_latency(worker *w, uint64_t bucket) noexcept nogil:
    sb_publish(&w.latency_counts[bucket], w.latency_counts[bucket] + 1)


cdef unsigned rare_of_page(const worker *w, unsigned page) noexcept nogil:
    cdef unsigned i, n = 0
    for i in range(<unsigned>RARE_LATENCIES):
        if w.rare[i] and page_of(w.rare[i] - 1) == page:
            n += 1
    return n


cdef void use_page(worker *w, unsigned page) noexcept nogil:
    """Count what is rare no more."""
    cdef unsigned i
    cdef uint64_t rare
    sb_store(&w.pages[page // 64], w.pages[page // 64] | <uint64_t>1 << page % 64)
    for i in range(<unsigned>RARE_LATENCIES):
        rare = w.rare[i]
        if rare and page_of(rare - 1) == page:
            sb_store(&w.rare[i], 0)
            count_latency(w, rare - 1)


cdef uint64_t *room_for_rare(worker *w) noexcept nogil:
    """A free place; if there is none, after the page with most of them has come into use."""
    cdef unsigned i, n, most = 0, page = 0
    for i in range(<unsigned>RARE_LATENCIES):
        if w.rare[i] == 0:
            return &w.rare[i]
    for i in range(<unsigned>RARE_LATENCIES):
        n = rare_of_page(w, page_of(w.rare[i] - 1))
        if n > most:
            most, page = n, page_of(w.rare[i] - 1)
    use_page(w, page)
    return room_for_rare(w)


cdef void keep_rare(worker *w, uint64_t bucket) noexcept nogil:
    """Keep a latency whose page is not in use."""
    cdef unsigned page = page_of(bucket)
    if rare_of_page(w, page) == RARE_OF_PAGE:
        use_page(w, page)
        count_latency(w, bucket)
    else:
        sb_publish(room_for_rare(w), bucket + 1)


cdef inline void worker_settle(worker *of) noexcept nogil:
    """Put the pending latency to the others. Between the two steps it is in neither, so no reader sees it twice."""
    cdef worker *w = of.counted_by
    cdef uint64_t pending = w.pending
    if pending:
        sb_store(&w.pending, 0)
        if page_in_use(w, page_of(pending - 1)):
            count_latency(w, pending - 1)
        else:
            keep_rare(w, pending - 1)


cdef inline void worker_record(worker *w, uint64_t latency_ns) noexcept nogil:
    # Buckets are many, and seldom in the cache: this one is fetched while the next statement is sent.
    cdef unsigned i = hdr_index(latency_ns)
    worker_settle(w)
    sb_fetch_ahead(&w.counted_by.latency_counts[i])
    sb_store(&w.counted_by.pending, i + 1)
    sb_store(&w.latency_sum_ns, w.latency_sum_ns + latency_ns)
    if latency_ns < w.latency_min_ns:
        sb_store(&w.latency_min_ns, latency_ns)
    if latency_ns > w.latency_max_ns:
        sb_store(&w.latency_max_ns, latency_ns)
    sb_store(&w.counters[<int>SB_CNT_TRX], w.counters[<int>SB_CNT_TRX] + 1)


cdef inline void count(worker *w, int counter, uint64_t n) noexcept nogil:
    # A fetch-and-add on the background worker only: several states may share that one.
    if w == &background:
        sb_fetch_add(&w.counters[counter], n)
    else:
        sb_store(&w.counters[counter], w.counters[counter] + n)


cdef inline void statement_begins(worker *w, const char *text, size_t length, const void *of) noexcept nogil:
    """`of` is the prepared statement that has this text, or NULL."""
    # Whoever reads this may see parts of two statements: nothing waits for a reader.
    if of == NULL or w.statement_of != of:
        memcpy(w.statement, text, length if length < STATEMENT_KEPT else <size_t>STATEMENT_KEPT)
        w.statement_of = of
    sb_store(&w.statement_length, length)


cdef inline void statement_ended(worker *w) noexcept nogil:
    sb_store(&w.statement_length, 0)


def worker_statement(int thread_id) -> tuple:
    """(how the statement begins that the worker waits for now, its whole length); (b"", 0) outside of statements.

    While the worker goes on, the text may be of two statements."""
    cdef worker *w = worker_of(thread_id)
    cdef uint64_t length = sb_load(&w.statement_length)
    return w.statement[:min(length, <uint64_t>STATEMENT_KEPT)], length


cdef public void sb_counter_add(int thread_id, sb_counter_type counter, uint64_t n) noexcept nogil:
    if 0 <= <int>counter < <int>SB_CNT_MAX:
        count(worker_of(thread_id), <int>counter, n)


cdef public void sb_counter_inc(int thread_id, sb_counter_type counter) noexcept nogil:
    sb_counter_add(thread_id, counter, 1)


cdef public uint64_t sb_counter_val(int thread_id, sb_counter_type counter) noexcept nogil:
    if 0 <= <int>counter < <int>SB_CNT_MAX:
        return sb_load(&worker_of(thread_id).counters[<int>counter])
    return 0


cdef class Snapshot:
    """The statistics of all workers at one moment, cumulative since they were set up.

    time_ns is on the clock of now_ns(). counters are sums over the workers, by sb_counter_type; the worker_*
    tuples hold one entry a worker. `operations` are such statistics by name, for the operations inside of events
    that operations_setup() has named, `service` of the service times in rate mode. `statements` are StatementCounts
    by (kind, text), `errors` (count, fatal, restarted, reconnected, message of one) by (number, SQLSTATE), both
    only if asked for. In a difference (`minus`), minimum and maximum are those of all workers' buckets, for every
    worker that has events."""
    cdef readonly uint64_t time_ns
    cdef readonly int threads
    cdef readonly tuple counters
    cdef readonly tuple worker_events
    cdef readonly tuple worker_latency_sum_ns
    cdef readonly tuple worker_latency_min_ns
    cdef readonly tuple worker_latency_max_ns
    cdef readonly dict operations
    cdef readonly Snapshot service
    cdef readonly dict statements
    cdef readonly dict errors
    cdef uint64_t *counts

    def __cinit__(self):
        self.counts = <uint64_t *>calloc(HDR_COUNTS, sizeof(uint64_t))
        if self.counts == NULL:
            raise MemoryError()
        self.operations = {}
        self.statements = {}
        self.errors = {}

    def __dealloc__(self):
        free(self.counts)

    def buckets(self) -> list:
        """Non-empty latency buckets, ascending: (lowest equivalent value in ns, count)."""
        cdef unsigned i
        return [(hdr_value(i), self.counts[i]) for i in range(<unsigned>HDR_COUNTS) if self.counts[i]]

    def minus(self, Snapshot earlier not None) -> Snapshot:
        """What happened between `earlier` and this one."""
        cdef Snapshot result = Snapshot()
        cdef unsigned i
        cdef bint any_before = any(earlier.worker_events)
        result.time_ns = self.time_ns
        result.threads = self.threads
        result.counters = tuple(a - b for a, b in zip(self.counters, earlier.counters))
        result.worker_events = tuple(a - b for a, b in zip(self.worker_events, earlier.worker_events))
        result.worker_latency_sum_ns = tuple(
            a - b for a, b in zip(self.worker_latency_sum_ns, earlier.worker_latency_sum_ns))
        for i in range(<unsigned>HDR_COUNTS):
            # A latency that was pending may be on its way into the counts now, and in neither.
            result.counts[i] = max(self.counts[i], earlier.counts[i]) - earlier.counts[i]
        if any_before:
            used = [i for i in range(<unsigned>HDR_COUNTS) if result.counts[i]] or [0]
            # Nor can they be beyond those of the whole run.
            least = min(ns for ns, n in zip(self.worker_latency_min_ns, self.worker_events) if n)
            lowest = max(hdr_value(min(used)), least)
            highest = min(hdr_value(max(used) + 1) - 1, max(self.worker_latency_max_ns))
            result.worker_latency_min_ns = tuple(lowest if n else 0 for n in result.worker_events)
            result.worker_latency_max_ns = tuple(highest if n else 0 for n in result.worker_events)
        else:
            result.worker_latency_min_ns = self.worker_latency_min_ns
            result.worker_latency_max_ns = self.worker_latency_max_ns
        result.operations = {name: now.minus(earlier.operations[name]) for name, now in self.operations.items()}
        if self.service is not None:
            result.service = self.service.minus(earlier.service)
        for key, now in self.statements.items():
            result.statements[key] = now.minus(earlier.statements[key]) if key in earlier.statements else now
        for key, (*counts, message) in self.errors.items():
            before = earlier.errors.get(key, (0, 0, 0, 0))
            result.errors[key] = (*(a - b for a, b in zip(counts, before)), message)
        return result


cdef void add_buckets(uint64_t *counts, const worker *w) noexcept nogil:
    cdef unsigned i, page
    cdef uint64_t bucket
    for page in range(<unsigned>(HDR_COUNTS // PAGE_BUCKETS)):
        if page_in_use(w, page):
            for i in range(page * PAGE_BUCKETS, (page + 1) * PAGE_BUCKETS):
                counts[i] += sb_acquire(&w.latency_counts[i])
    # A latency goes from pending to rare to the counts: read the other way round, none is seen twice.
    for i in range(<unsigned>RARE_LATENCIES):
        bucket = sb_acquire(&w.rare[i])
        if bucket:
            counts[bucket - 1] += 1
    i = <unsigned>sb_load(&w.pending)
    if i:
        counts[i - 1] += 1


cdef Snapshot read_workers(worker *array):
    """Read every worker's counters and merge the latency buckets. Workers are not disturbed."""
    cdef Snapshot result = Snapshot()
    cdef worker *w
    cdef unsigned i, k
    totals = [0] * <int>SB_CNT_MAX
    events, sums, minima, maxima = [], [], [], []
    for k in range(<unsigned>worker_count):
        w = &array[k]
        for i in range(<unsigned>SB_CNT_MAX):
            totals[i] += sb_load(&w.counters[i])
        if w.counted_by == w:
            with nogil:
                add_buckets(result.counts, w)
        n = sb_load(&w.counters[<int>SB_CNT_TRX])
        events.append(n)
        sums.append(sb_load(&w.latency_sum_ns))
        minima.append(sb_load(&w.latency_min_ns) if n else 0)
        maxima.append(sb_load(&w.latency_max_ns))
    result.time_ns = clock_ns()
    result.threads = worker_count
    result.counters = tuple(totals)
    result.worker_events = tuple(events)
    result.worker_latency_sum_ns = tuple(sums)
    result.worker_latency_min_ns = tuple(minima)
    result.worker_latency_max_ns = tuple(maxima)
    return result


def snapshot(*, bint ended=False, bint sql_detail=False) -> Snapshot:
    """The statistics of all workers now, with statements and errors for sql_detail. Workers are not disturbed.

    If the run has ended, the time is when the last worker had run its events, not when it has cleared up."""
    cdef Snapshot result
    cdef uint64_t end_ns = 0
    cdef int i
    by_name = {_operation_names[i]: read_workers(operations[i]) for i in range(operation_count)}
    result = read_workers(workers)
    result.operations = by_name
    if service_times != NULL:
        result.service = read_workers(service_times)
    if sql_detail:
        result.statements = read_statements()
        result.errors = read_errors()
    if ended:
        for i in range(worker_count):
            end_ns = max(end_ns, workers[i].now_ns)
    if end_ns:
        result.time_ns = end_ns
    return result


def operations_setup(tuple names not None) -> None:
    """Have the latencies of operations inside of events kept too, until the next run_setup()."""
    global _operation_names, operation_count
    _operation_names = names
    while operation_count < len(names):
        operations[operation_count] = workers_new(worker_count)
        if operations[operation_count] == NULL:
            raise MemoryError(f"not enough memory for {worker_count} workers")
        operation_count += 1
