# What the wire protocols share: a socket's system calls, and buffers that grow.

cdef extern from "<sys/socket.h>" nogil:
    ssize_t send(int, const void *, size_t, int)
    ssize_t recv(int, void *, size_t, int)
    int MSG_NOSIGNAL
    int MSG_DONTWAIT
    int MSG_PEEK

cdef extern from "<fcntl.h>" nogil:
    int fcntl(int, int, ...)
    int F_GETFL
    int F_SETFL
    int O_NONBLOCK

cdef extern from "<errno.h>" nogil:
    int EWOULDBLOCK

# send() and recv() are points at which a thread can be cancelled, which takes two locked instructions each.
# Nobody cancels ours, so these two ask the kernel directly.
cdef extern from "<unistd.h>" nogil:
    long syscall(long, ...)

cdef extern from "<sys/syscall.h>" nogil:
    long SYS_sendto
    long SYS_recvfrom

cdef extern from "<string.h>" nogil:
    const char *strerror(int)

cdef extern from "<stdlib.h>" nogil:
    unsigned long long strtoull(const char *, char **, int)

cdef enum:
    WIRE_FIRST_SIZE = 4096      # of a buffer; many replies fit
    WIRE_KEPT_SIZE = 1048576    # buffers that grew beyond are given back
    WIRE_WOULD_BLOCK = -2


cdef bint grow_buffer(char **buffer, size_t *size, size_t needed) noexcept nogil:
    """Make room for so many bytes; False without memory."""
    return make_room(<void **>buffer, size, needed, 1, WIRE_FIRST_SIZE)


cdef void shrink_buffer(char **buffer, size_t *size) noexcept nogil:
    """Give back a buffer that one large message has made large."""
    if size[0] > WIRE_KEPT_SIZE:
        free(buffer[0])
        buffer[0] = NULL
        size[0] = 0


cdef bint socket_send(int fd, const char *data, size_t n) noexcept nogil:
    """Send all of it; False if the connection failed."""
    cdef ssize_t sent
    while True:
        sent = syscall(SYS_sendto, fd, data, n, MSG_NOSIGNAL, NULL, 0)
        if sent == <ssize_t>n:
            return True
        if sent > 0:
            data += sent
            n -= sent
        elif errno == EAGAIN or errno == EWOULDBLOCK:
            wait_for(fd, POLLOUT)
        elif errno != EINTR:
            return False


cdef ssize_t socket_receive(int fd, bint polled, char *to, size_t room) noexcept nogil:
    """How many bytes came; 0 at the end, -1 if the connection failed, WIRE_WOULD_BLOCK if it does not block.

    `polled` asks for poll before recv: Linux wakes a receiver that sleeps on a local socket also when the other
    side has read the request, which costs a switch for nothing."""
    cdef ssize_t n
    if polled or this_fiber() != NULL:
        wait_for(fd, POLLIN)
    while True:
        n = syscall(SYS_recvfrom, fd, to, room, 0, NULL, NULL)
        if n >= 0:
            return n
        if errno == EAGAIN or errno == EWOULDBLOCK:
            return WIRE_WOULD_BLOCK
        if errno != EINTR:
            return -1


cdef void socket_must_not_block(int fd) noexcept nogil:
    cdef int flags = fcntl(fd, F_GETFL, 0) if fd >= 0 else -1
    if flags >= 0:
        fcntl(fd, F_SETFL, flags | O_NONBLOCK)
