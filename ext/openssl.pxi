# OpenSSL's functions, found at run time, and a TLS stream through them.
#
# A process may hold several copies of OpenSSL: Python's, psycopg2's. Objects of one must not meet functions of
# another, so nothing is linked: each table comes whole from one of them, by dlsym from a loaded extension module that
# has it among its libraries. Writing to a closed connection raises SIGPIPE, which a run ignores. The prototypes are
# those of OpenSSL's manual pages; 1.1.0 and newer have them all.

cdef enum:
    SSL_ERROR_WANT_READ = 2
    SSL_ERROR_WANT_WRITE = 3
    SSL_ERROR_SYSCALL = 5
    SSL_ERROR_ZERO_RETURN = 6

cdef struct openssl_functions:
    void (*clear_error)() noexcept nogil
    unsigned long (*last_error)() noexcept nogil
    const char *(*reason_of)(unsigned long) noexcept nogil
    long (*context_ctrl)(void *, int, long, void *) noexcept nogil
    void (*context_free)(void *) noexcept nogil
    int (*load_authorities)(void *, const char *, const char *) noexcept nogil
    void *(*context_new)(const void *) noexcept nogil
    void (*set_passphrase)(void *, void *) noexcept nogil
    int (*set_ciphers)(void *, const char *) noexcept nogil
    uint64_t (*set_options)(void *, uint64_t) noexcept nogil
    void (*set_verify)(void *, int, void *) noexcept nogil
    int (*use_key)(void *, const char *, int) noexcept nogil
    int (*use_certificates)(void *, const char *) noexcept nogil
    int (*connect)(void *) noexcept nogil
    long (*ctrl)(void *, int, long, void *) noexcept nogil
    void (*free)(void *) noexcept nogil
    void *(*checks)(void *) noexcept nogil
    int (*get_error)(const void *, int) noexcept nogil
    long (*verify_result)(const void *) noexcept nogil
    int (*has_pending)(const void *) noexcept nogil
    void *(*new)(void *) noexcept nogil
    int (*read)(void *, void *, int) noexcept nogil
    int (*set_fd)(void *, int) noexcept nogil
    int (*write)(void *, const void *, int) noexcept nogil
    const void *(*client_method)() noexcept nogil
    int (*check_host)(void *, const char *, size_t) noexcept nogil
    int (*check_address)(void *, const char *) noexcept nogil
    int (*check_flags)(void *, unsigned long) noexcept nogil
    void (*check_host_flags)(void *, unsigned int) noexcept nogil
    const char *(*verify_text)(long) noexcept nogil

# What the fields are called there, in their order.
_openssl_functions = (
    "ERR_clear_error", "ERR_peek_last_error", "ERR_reason_error_string", "SSL_CTX_ctrl", "SSL_CTX_free",
    "SSL_CTX_load_verify_locations", "SSL_CTX_new", "SSL_CTX_set_default_passwd_cb_userdata",
    "SSL_CTX_set_cipher_list", "SSL_CTX_set_options", "SSL_CTX_set_verify", "SSL_CTX_use_PrivateKey_file",
    "SSL_CTX_use_certificate_chain_file", "SSL_connect", "SSL_ctrl", "SSL_free", "SSL_get0_param", "SSL_get_error",
    "SSL_get_verify_result", "SSL_has_pending", "SSL_new", "SSL_read", "SSL_set_fd", "SSL_write",
    "TLS_client_method", "X509_VERIFY_PARAM_set1_host", "X509_VERIFY_PARAM_set1_ip_asc",
    "X509_VERIFY_PARAM_set_flags", "X509_VERIFY_PARAM_set_hostflags", "X509_verify_cert_error_string",
)

_openssl_found = {}             # path of a module -> address of its table, which is kept for good


cdef const openssl_functions *openssl_of(str module) except NULL:
    """The functions of the OpenSSL that the loaded extension module at this path uses.

    Raises LookupError, whose text goes on after the module's name."""
    cdef openssl_functions *table
    cdef void *handle
    cdef bytes name = module.encode()
    if module in _openssl_found:
        return <const openssl_functions *><size_t>_openssl_found[module]
    handle = dlopen(name, RTLD_NOW | RTLD_NOLOAD)
    if handle == NULL:
        raise LookupError("is not loaded")
    table = <openssl_functions *>malloc(sizeof(openssl_functions))
    if table == NULL:
        raise MemoryError()
    missing = find_functions(handle, table, sizeof(openssl_functions), "", _openssl_functions)
    if missing is not None:
        free(table)
        raise LookupError(f"has no function {missing}")
    _openssl_found[module] = <size_t>table
    return table


# -- a stream: descriptors may block or not

cdef struct tls_stream:
    const openssl_functions *lib
    void *ssl                   # OpenSSL's object; NULL if the connection is plain
    int fd


cdef inline void tls_forget_errors(tls_stream *t) noexcept nogil:
    """What this thread's earlier calls have left would be taken for the next one's. Clearing nothing costs time."""
    if t.lib.last_error() != 0:
        t.lib.clear_error()


cdef int tls_wants(tls_stream *t, int rc) noexcept nogil:
    """What the stream wants to go on: POLLIN or POLLOUT; 0 if it has ended or failed."""
    cdef int error = t.lib.get_error(t.ssl, rc)
    if error == SSL_ERROR_WANT_READ:
        return POLLIN
    return POLLOUT if error == SSL_ERROR_WANT_WRITE else 0


cdef bint tls_send(tls_stream *t, const char *data, size_t n) noexcept nogil:
    """Send all of it; False if the connection failed."""
    cdef int sent, wants
    while n > 0:
        tls_forget_errors(t)
        sent = t.lib.write(t.ssl, data, <int>(n if n < 0x40000000 else 0x40000000))
        if sent > 0:
            data += sent
            n -= sent
            continue
        wants = tls_wants(t, sent)
        if wants == 0:
            return False
        wait_for(t.fd, <short>wants)
    return True


cdef ssize_t tls_receive(tls_stream *t, bint polled, char *to, size_t room) noexcept nogil:
    """How many bytes came; 0 at the end, -1 if the connection failed, WIRE_WOULD_BLOCK if none are there yet.

    `polled` asks for poll before a read of the descriptor."""
    cdef int n, wants
    if polled and not t.lib.has_pending(t.ssl):
        wait_for(t.fd, POLLIN)
    while True:
        tls_forget_errors(t)
        n = t.lib.read(t.ssl, to, <int>(room if room < 0x40000000 else 0x40000000))
        if n > 0:
            return n
        wants = tls_wants(t, n)
        if wants == 0:
            return -1 if n < 0 else 0
        if wants == POLLIN:
            return WIRE_WOULD_BLOCK
        wait_for(t.fd, POLLOUT)


cdef void tls_free(tls_stream *t) noexcept nogil:
    """Give back OpenSSL's object. The descriptor stays open."""
    if t.ssl != NULL:
        t.lib.free(t.ssl)
        t.ssl = NULL
