# What is needed of libpq and its OpenSSL to take over a connection that psycopg2 has made.
#
# psycopg2's wheel carries a libpq and an OpenSSL of its own, and others must not see their objects. So nothing is
# linked: the functions come by dlsym from psycopg2's module, whose dependencies include the right libraries.
# The prototypes are those of the PostgreSQL manual, "libpq - C Library", and of OpenSSL's manual pages.

cdef extern from "<dlfcn.h>" nogil:
    void *dlopen(const char *, int)
    void *dlsym(void *, const char *)
    int RTLD_NOW
    int RTLD_NOLOAD

cdef enum:
    SSL_ERROR_WANT_READ = 2
    SSL_ERROR_WANT_WRITE = 3

cdef struct libpq_functions:
    int (*socket)(const void *) noexcept nogil
    void *(*ssl_struct)(void *, const char *) noexcept nogil
    int (*ssl_in_use)(void *) noexcept nogil
    int (*gss_in_use)(void *) noexcept nogil                        # NULL in a libpq without GSSAPI

cdef struct openssl_functions:
    int (*read)(void *, void *, int) noexcept nogil
    int (*write)(void *, const void *, int) noexcept nogil
    int (*get_error)(const void *, int) noexcept nogil
    void (*clear_error)() noexcept nogil

cdef libpq_functions pq
cdef openssl_functions openssl
cdef void *libpq_handle = NULL


cdef void *libpq_symbol(const char *name) except NULL:
    cdef void *found = dlsym(libpq_handle, name)
    if found == NULL:
        raise_not_usable(f"psycopg2's libraries have no function {name.decode()}: "
                         "install psycopg2-binary 2.9.9 or newer")
    return found


cdef raise_not_usable(str line):
    raise ConnectError(0, "HY000", line, (line,))


def pgsql_load(str path not None) -> None:
    """Find libpq's functions through psycopg2's loaded extension module at `path`. Raises ConnectError."""
    global libpq_handle
    cdef bytes module = path.encode()
    if pq.socket != NULL:
        return
    libpq_handle = dlopen(module, RTLD_NOW | RTLD_NOLOAD)
    if libpq_handle == NULL:
        raise_not_usable(f"cannot look into psycopg2's extension module {path}")
    (<void **>&pq.ssl_struct)[0] = libpq_symbol(b"PQsslStruct")
    (<void **>&pq.ssl_in_use)[0] = libpq_symbol(b"PQsslInUse")
    (<void **>&pq.gss_in_use)[0] = dlsym(libpq_handle, b"PQgssEncInUse")
    (<void **>&pq.socket)[0] = libpq_symbol(b"PQsocket")


cdef void *libpq_tls(void *connection) except? NULL:
    """OpenSSL's SSL of a connection, NULL if it is plain. Raises ConnectError if it cannot be taken over."""
    cdef void *ssl
    if pq.gss_in_use != NULL and pq.gss_in_use(connection):
        raise_not_usable("the connection is encrypted by GSSAPI, which cannot be taken over: "
                         "set PGGSSENCMODE=disable")
    if not pq.ssl_in_use(connection):
        return NULL
    ssl = pq.ssl_struct(connection, b"OpenSSL")
    if ssl == NULL:
        raise_not_usable("psycopg2's libpq has its TLS not from OpenSSL: install psycopg2-binary 2.9.9 or newer")
    if openssl.read == NULL:
        (<void **>&openssl.write)[0] = libpq_symbol(b"SSL_write")
        (<void **>&openssl.get_error)[0] = libpq_symbol(b"SSL_get_error")
        (<void **>&openssl.clear_error)[0] = libpq_symbol(b"ERR_clear_error")
        (<void **>&openssl.read)[0] = libpq_symbol(b"SSL_read")
    return ssl


# -- a TLS stream on a descriptor that does not block

cdef int tls_wants(void *ssl, int rc) noexcept nogil:
    """What the stream wants to go on: POLLIN or POLLOUT; 0 if it has ended or failed."""
    cdef int error = openssl.get_error(ssl, rc)
    if error == SSL_ERROR_WANT_READ:
        return POLLIN
    return POLLOUT if error == SSL_ERROR_WANT_WRITE else 0


cdef bint tls_send(int fd, void *ssl, const char *data, size_t n) noexcept nogil:
    """Send all of it; False if the connection failed."""
    cdef int sent, wants
    while n > 0:
        openssl.clear_error()
        sent = openssl.write(ssl, data, <int>(n if n < 0x40000000 else 0x40000000))
        if sent > 0:
            data += sent
            n -= sent
            continue
        wants = tls_wants(ssl, sent)
        if wants == 0:
            return False
        wait_for(fd, <short>wants)
    return True


cdef ssize_t tls_receive(int fd, void *ssl, char *to, size_t room) noexcept nogil:
    """How many bytes came; 0 at the end, -1 if the connection failed, WIRE_WOULD_BLOCK if none are there yet."""
    cdef int n, wants
    while True:
        openssl.clear_error()
        n = openssl.read(ssl, to, <int>(room if room < 0x40000000 else 0x40000000))
        if n > 0:
            return n
        wants = tls_wants(ssl, n)
        if wants == 0:
            return -1 if n < 0 else 0
        if wants == POLLIN:
            return WIRE_WOULD_BLOCK
        wait_for(fd, POLLOUT)
