# Input and output by pread() and pwrite(), and what every mode does with a request that is done.
from posix.types cimport off_t

cdef extern from "<unistd.h>" nogil:
    ssize_t pread(int, void *, size_t, off_t)
    ssize_t pwrite(int, const void *, size_t, off_t)
    int fsync(int)
    int fdatasync(int)


cdef int64_t transfer(file_test *test, file_slot *slot, uint64_t done) noexcept nogil:
    """Read or write what is left of a request after `done` bytes.

    All bytes then, fewer where the file ends, or -errno."""
    cdef file_request *request = &slot.request
    cdef int descriptor = test.descriptors[request.file]
    cdef ssize_t n
    while done < request.size:
        if request.operation == FILE_READ:
            n = pread(descriptor, slot.buffer + done, request.size - done, <off_t>(request.position + done))
        else:
            n = pwrite(descriptor, slot.buffer + done, request.size - done, <off_t>(request.position + done))
        if n == 0:
            break
        if n > 0:
            done += n
        elif errno != EINTR:
            return -errno
    return done


cdef int64_t synchronize(file_test *test, int file) noexcept nogil:
    """fsync() or fdatasync() of a file: 0 or -errno."""
    cdef int descriptor = test.descriptors[file]
    while (fdatasync(descriptor) if test.settings.data_only else fsync(descriptor)) != 0:
        if errno != EINTR:
            return -errno
    return 0


cdef int64_t sync_start(file_worker *w, file_slot *slot) noexcept nogil:
    """Do a request; its result as `transfer` has it."""
    if slot.request.operation == FILE_FSYNC:
        return synchronize(w.test, slot.request.file)
    return transfer(w.test, slot, 0)


# -- the end of a request, in every mode

cdef int64_t do_the_rest(file_test *test, file_slot *slot, int64_t result) noexcept nogil:
    """The kernel may do a part of a request only, or ask to try again: the rest tells why, if there is a reason."""
    if slot.request.operation == FILE_FSYNC:
        return result
    if result == -EINTR or result == -EAGAIN:
        result = 0
    if 0 <= result < <int64_t>slot.request.size:
        return transfer(test, slot, result)
    return result


cdef bint file_cut_short(file_test *test, file_request *request, int64_t done) noexcept nogil:
    cdef char line[256]
    snprintf(line, sizeof(line), "Failed to %s file! file: test_file.%d pos: %llu: only %lld of %llu bytes are there",
             file_verb(request.operation), request.file, <unsigned long long>request.position, <long long>done,
             <unsigned long long>request.size)
    return file_fail(test, line)


cdef bint count_request(file_worker *w, file_slot *slot, int64_t result) noexcept nogil:
    """Add a request to its worker's counters. False, and nothing is counted, if it has failed."""
    cdef file_request *request = &slot.request
    if result < 0:
        return file_request_failed(w.test, request, <int>-result)
    if <uint64_t>result < request.size:
        return file_cut_short(w.test, request, result)
    if request.operation == FILE_FSYNC:
        count(w.events, <int>SB_CNT_OTHER, 1)
    elif request.operation == FILE_WRITE:
        count(w.events, <int>SB_CNT_WRITE, 1)
        count(w.events, <int>SB_CNT_BYTES_WRITTEN, request.size)
    else:
        if w.test.settings.validate and not check_request(w, request, slot.buffer):
            return False
        count(w.events, <int>SB_CNT_READ, 1)
        count(w.events, <int>SB_CNT_BYTES_READ, request.size)
    return True


cdef bint file_done(file_worker *w, file_slot *slot, int64_t result) noexcept nogil:
    """Count a request that has ended with `result` (bytes or -errno), and free its slot; False if it has failed."""
    cdef bint ok
    result = do_the_rest(w.test, slot, result)
    w.done_ns = clock_ns()
    ok = count_request(w, slot, result)
    if ok:
        worker_record(w.latencies[slot.request.operation], w.done_ns - slot.start_ns)
    if slot.request.operation != FILE_FSYNC:
        generator_release(&w.test.generator, &w.test.settings, &slot.request)
    w.free_slots[w.free_count] = <int>(slot - w.slots)
    w.free_count += 1
    return ok
