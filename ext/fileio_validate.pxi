# Contents that can be checked: random bytes, their CRC-32 in 4 bytes, the block's offset in the file in 8, both
# with the low byte first.
from cpython.buffer cimport PyBUF_WRITABLE, PyBuffer_Release, PyObject_GetBuffer

cdef enum:
    CHECK_BYTES = 12            # at the end of a block

# CRC-32 as in zlib and IEEE 802.3: reflected polynomial 0xEDB88320, all bits inverted before and after.
cdef uint32_t crc_table[256]


cdef void crc_init() noexcept nogil:
    cdef uint32_t i, value
    cdef int bit
    for i in range(256):
        value = i
        for bit in range(8):
            value = value >> 1 ^ (<uint32_t>0xEDB88320 if value & 1 else 0)
        crc_table[i] = value


crc_init()


cdef uint32_t crc32(const uint8_t *data, uint64_t length) noexcept nogil:
    cdef uint32_t value = 0xFFFFFFFF
    cdef uint64_t i
    for i in range(length):
        value = value >> 8 ^ crc_table[(value ^ data[i]) & 255]
    return ~value


cdef void put_number(uint8_t *to, uint64_t value, int length) noexcept nogil:
    cdef int i
    for i in range(length):
        to[i] = <uint8_t>(value >> 8 * i)


cdef uint64_t get_number(const uint8_t *source, int length) noexcept nogil:
    cdef uint64_t value = 0
    cdef int i
    for i in range(length):
        value |= <uint64_t>source[i] << 8 * i
    return value


cdef void fill_block(uint8_t *block, uint64_t size, uint64_t offset, uint64_t *rng) noexcept nogil:
    """New contents for the block at `offset` of its file, one draw a byte."""
    cdef uint64_t length = size - CHECK_BYTES
    cdef uint64_t state[2]
    cdef uint64_t i
    memcpy(state, rng, sizeof(state))
    for i in range(length):
        block[i] = <uint8_t>rng_next(state)
    memcpy(rng, state, sizeof(state))
    put_number(block + length, crc32(block, length), 4)
    put_number(block + length + 4, offset, 8)


cdef void fill_request(file_worker *w, file_request *request, char *buffer) noexcept nogil:
    cdef uint64_t block_bytes = w.test.settings.block_bytes
    cdef uint64_t i, at
    for i in range(request.size // block_bytes):
        at = i * block_bytes
        fill_block(<uint8_t *>buffer + at, block_bytes, request.position + at, w.events.rng)


cdef bint check_request(file_worker *w, file_request *request, char *buffer) noexcept nogil:
    """Whether all blocks that have been read are as they were written; ends the run if not."""
    cdef uint64_t block_bytes = w.test.settings.block_bytes
    cdef uint64_t length = block_bytes - CHECK_BYTES
    cdef uint64_t i, offset, stored_offset
    cdef uint32_t calculated, stored
    cdef const uint8_t *block
    cdef char line[384]
    for i in range(request.size // block_bytes):
        block = <const uint8_t *>buffer + i * block_bytes
        offset = request.position + i * block_bytes
        calculated = crc32(block, length)
        stored = <uint32_t>get_number(block + length, 4)
        stored_offset = get_number(block + length + 4, 8)
        if calculated == stored and offset == stored_offset:
            continue
        if calculated != stored:
            snprintf(line, sizeof(line), "Checksum mismatch in block with offset: %llu\n"
                     "FATAL:     Calculated value: 0x%x    Stored value: 0x%x\n",
                     <unsigned long long>offset, calculated, stored)
        else:
            snprintf(line, sizeof(line), "Offset mismatch in block:\n"
                     "FATAL:    Actual offset: %llu    Stored offset: %llu\n",
                     <unsigned long long>offset, <unsigned long long>stored_offset)
        snprintf(line + strlen(line), sizeof(line) - strlen(line),
                 "FATAL: Validation failed on file %d, block offset %llu, exiting...", request.file,
                 <unsigned long long>offset)
        return file_fail(w.test, line)
    return True


def file_blocks_fill(buffer, uint64_t block_bytes, uint64_t offset) -> None:
    """Fill a buffer of whole blocks with contents that can be checked; `offset` is where it goes in the file.

    The thread's generator is used (rng_enter). A block needs more than 12 bytes."""
    cdef Py_buffer view
    cdef uint64_t i
    PyObject_GetBuffer(buffer, &view, PyBUF_WRITABLE)
    with nogil:
        for i in range(<uint64_t>view.len // block_bytes):
            fill_block(<uint8_t *>view.buf + i * block_bytes, block_bytes, offset + i * block_bytes, sb_rng_state)
    PyBuffer_Release(&view)


def crc32_of(bytes data not None) -> int:
    """The CRC-32 that stands in the blocks of the fileio test."""
    return crc32(<const uint8_t *><const char *>data, len(data))
