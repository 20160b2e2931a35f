# What is needed of libpq and its OpenSSL to take over a connection that psycopg2 has made.
#
# psycopg2's wheel carries a libpq and an OpenSSL of its own, and others must not see their objects. So nothing is
# linked: the functions come by dlsym from psycopg2's module, whose dependencies include the right libraries.
# The prototypes are those of the PostgreSQL manual, "libpq - C Library".

cdef struct libpq_functions:
    int (*socket)(const void *) noexcept nogil
    void *(*ssl_struct)(void *, const char *) noexcept nogil
    int (*ssl_in_use)(void *) noexcept nogil
    int (*gss_in_use)(void *) noexcept nogil                        # NULL in a libpq without GSSAPI

cdef libpq_functions pq
cdef void *libpq_handle = NULL
_libpq_module = ""           # its path


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
    global libpq_handle, _libpq_module
    cdef bytes module = path.encode()
    if pq.socket != NULL:
        return
    libpq_handle = dlopen(module, RTLD_NOW | RTLD_NOLOAD)
    if libpq_handle == NULL:
        raise_not_usable(f"cannot look into psycopg2's extension module {path}")
    _libpq_module = path
    (<void **>&pq.ssl_struct)[0] = libpq_symbol(b"PQsslStruct")
    (<void **>&pq.ssl_in_use)[0] = libpq_symbol(b"PQsslInUse")
    (<void **>&pq.gss_in_use)[0] = dlsym(libpq_handle, b"PQgssEncInUse")
    (<void **>&pq.socket)[0] = libpq_symbol(b"PQsocket")


cdef tls_stream libpq_tls(void *connection) except *:
    """The TLS stream of a connection; its `ssl` is NULL if that is plain. Raises ConnectError if it cannot be
    taken over."""
    cdef tls_stream tls
    memset(&tls, 0, sizeof(tls))
    tls.fd = pq.socket(connection)
    if pq.gss_in_use != NULL and pq.gss_in_use(connection):
        raise_not_usable("the connection is encrypted by GSSAPI, which cannot be taken over: "
                         "set PGGSSENCMODE=disable")
    if not pq.ssl_in_use(connection):
        return tls
    tls.ssl = pq.ssl_struct(connection, b"OpenSSL")
    if tls.ssl == NULL:
        raise_not_usable("psycopg2's libpq has its TLS not from OpenSSL: install psycopg2-binary 2.9.9 or newer")
    try:
        tls.lib = openssl_of(_libpq_module)
    except LookupError as why:
        raise_not_usable(f"psycopg2's module {why}: install psycopg2-binary 2.9.9 or newer")
    return tls
