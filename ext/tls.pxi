# The client's side of TLS, for a login that Python makes on a connection that the core goes on with.

from cpython.exc cimport PyErr_CheckSignals

cdef extern from "<arpa/inet.h>" nogil:
    int inet_pton(int, const char *, void *)
    int AF_INET
    int AF_INET6

cdef enum:
    SSL_VERIFY_NONE = 0
    SSL_VERIFY_PEER = 1
    SSL_FILETYPE_PEM = 1
    SSL_CTRL_SET_READ_AHEAD = 41
    SSL_CTRL_SET_TLSEXT_HOSTNAME = 55
    SSL_CTRL_SET_MIN_PROTO_VERSION = 123
    SSL_CTRL_SET_MAX_PROTO_VERSION = 124
    X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS = 4
    X509_V_ERR_HOSTNAME_MISMATCH = 62
    X509_V_ERR_IP_ADDRESS_MISMATCH = 64


class TlsError(OSError):
    """OpenSSL could not do it; the text says why."""


cdef str openssl_reason(const openssl_functions *lib):
    """Why the last call of this thread has failed, as Python's ssl module would name it."""
    cdef const char *reason = lib.reason_of(lib.last_error())
    return "for no reason" if reason == NULL else reason.decode().upper().replace(" ", "_")


cdef class TlsContext:
    """What the connections of a run have in common: OpenSSL's SSL_CTX."""
    cdef const openssl_functions *lib
    cdef void *context
    cdef bint for_host          # the certificate must be the host's
    cdef unsigned long checks   # X509_V_FLAG_*

    def __init__(self, str module not None, model not None, *, bytes ca_file=b"", bytes ca_folder=b"",
                 bytes certificate=b"", bytes key=b"", bytes passphrase=b""):
        """A copy of `model`, an ssl.SSLContext of Python, with functions of the OpenSSL that the extension module at
        the path `module` uses; that must be loaded.

        A model cannot be asked for its files, nor for the passphrase of the key, so they are given again.
        Raises LookupError if there is no OpenSSL, TlsError if it refuses what the model's has taken."""
        cdef bytes ciphers
        self.lib = openssl_of(module)
        self.lib.clear_error()
        self.context = self.lib.context_new(self.lib.client_method())
        self._must(self.context != NULL)
        self.for_host = model.check_hostname
        self.checks = int(model.verify_flags)
        self.lib.set_verify(self.context, SSL_VERIFY_PEER if model.verify_mode else SSL_VERIFY_NONE, NULL)
        self.lib.set_options(self.context, <uint64_t>int(model.options))
        # Without, each record is read from the socket in two calls.
        self.lib.context_ctrl(self.context, SSL_CTRL_SET_READ_AHEAD, 1, NULL)
        # "Any version" is negative in Python, and 0 here.
        self._set_version(SSL_CTRL_SET_MIN_PROTO_VERSION, max(0, model.minimum_version))
        self._set_version(SSL_CTRL_SET_MAX_PROTO_VERSION, max(0, model.maximum_version))
        names = [cipher["name"] for cipher in model.get_ciphers() if cipher["protocol"] != "TLSv1.3"]
        ciphers = ":".join((f"@SECLEVEL={model.security_level}", *names)).encode()
        self._must(self.lib.set_ciphers(self.context, ciphers) == 1)
        if ca_file or ca_folder:
            self._must(self.lib.load_authorities(self.context, <const char *>ca_file if ca_file else NULL,
                                                 <const char *>ca_folder if ca_folder else NULL) == 1)
        if certificate:
            self._must(self.lib.use_certificates(self.context, certificate) == 1)
            # Be it empty: without one, OpenSSL asks at the terminal.
            self.lib.set_passphrase(self.context, <char *>passphrase)
            self._must(self.lib.use_key(self.context, key, SSL_FILETYPE_PEM) == 1)
            self.lib.set_passphrase(self.context, NULL)

    cdef int _set_version(self, int which, long version) except -1:
        return self._must(self.lib.context_ctrl(self.context, which, version, NULL) == 1)

    cdef int _must(self, bint done) except -1:
        if not done:
            raise TlsError(openssl_reason(self.lib))
        return 0

    def __dealloc__(self):
        if self.context != NULL:
            self.lib.context_free(self.context)


cdef class TlsStream:
    """TLS on a connected socket, as long as Python has it: the core takes it over after the login."""
    cdef tls_stream tls
    cdef str host
    cdef int timeout_ms

    def __init__(self, TlsContext context not None, int fd, str host not None, int timeout_ms):
        """`fd` stays the caller's, and must not block; `host` is a name or an address; each word of the server may
        take `timeout_ms`."""
        cdef const openssl_functions *lib = context.lib
        cdef bytes name = host.encode("idna")
        cdef char address[16]
        cdef bint is_address = inet_pton(AF_INET, name, address) == 1 or inet_pton(AF_INET6, name, address) == 1
        cdef void *checks
        lib.clear_error()
        self.tls.lib = lib
        self.tls.fd = fd
        self.tls.ssl = lib.new(context.context)
        context._must(self.tls.ssl != NULL and lib.set_fd(self.tls.ssl, fd) == 1)
        self.host = host
        self.timeout_ms = timeout_ms
        checks = lib.checks(self.tls.ssl)
        lib.check_flags(checks, context.checks)
        if not is_address:
            lib.ctrl(self.tls.ssl, SSL_CTRL_SET_TLSEXT_HOSTNAME, 0, <char *>name)
        if context.for_host and is_address:
            context._must(lib.check_address(checks, name) == 1)
        elif context.for_host:
            lib.check_host_flags(checks, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS)
            context._must(lib.check_host(checks, name, 0) == 1)

    def handshake(self) -> None:
        """Raises TlsError, TimeoutError, or what the socket's error is."""
        cdef int rc, error
        while True:
            with nogil:
                self.tls.lib.clear_error()
                rc = self.tls.lib.connect(self.tls.ssl)
                error = errno
            if rc == 1:
                return
            if not self._goes_on(rc, error):
                raise TlsError("TLS/SSL connection has been closed (EOF)")

    def send(self, bytes data not None) -> None:
        """All of it. Raises as handshake does."""
        cdef const char *at = data
        cdef int n = <int>len(data), rc, error
        while n > 0:
            with nogil:
                self.tls.lib.clear_error()
                rc = self.tls.lib.write(self.tls.ssl, at, n)
                error = errno
            if rc > 0:
                at += rc
                n -= rc
            elif not self._goes_on(rc, error):
                raise TlsError("TLS/SSL connection has been closed (EOF)")

    def receive_into(self, unsigned char[::1] buffer not None) -> int:
        """How many bytes came; 0 at the end. Raises as handshake does."""
        cdef unsigned char *to = &buffer[0]
        cdef int n = <int>len(buffer), rc, error
        while True:
            with nogil:
                self.tls.lib.clear_error()
                rc = self.tls.lib.read(self.tls.ssl, to, n)
                error = errno
            if rc > 0:
                return rc
            if not self._goes_on(rc, error):
                return 0

    cdef bint _goes_on(self, int rc, int error) except -1:
        """Wait for what a call that returned `rc` wants; False if the stream has ended. Raises if it has failed."""
        cdef const openssl_functions *lib = self.tls.lib
        cdef int why = lib.get_error(self.tls.ssl, rc), n
        cdef pollfd waiting
        if why == SSL_ERROR_WANT_READ or why == SSL_ERROR_WANT_WRITE:
            waiting.fd = self.tls.fd
            waiting.events = POLLIN if why == SSL_ERROR_WANT_READ else POLLOUT
            with nogil:
                n = poll(&waiting, 1, self.timeout_ms)
            if n == 0:
                raise TimeoutError("timed out")
            PyErr_CheckSignals()
            return True
        if why == SSL_ERROR_ZERO_RETURN:
            return False
        if why == SSL_ERROR_SYSCALL:
            if error == 0:
                return False
            raise OSError(error, strerror(error).decode())
        reason = openssl_reason(lib)
        if reason == "UNEXPECTED_EOF_WHILE_READING":
            return False
        raise TlsError(self._doubt() if reason == "CERTIFICATE_VERIFY_FAILED" else reason)

    cdef str _doubt(self):
        """What is wrong with the certificate of the server."""
        cdef long result = self.tls.lib.verify_result(self.tls.ssl)
        if result == X509_V_ERR_HOSTNAME_MISMATCH:
            return f"Hostname mismatch, certificate is not valid for '{self.host}'."
        if result == X509_V_ERR_IP_ADDRESS_MISMATCH:
            return f"IP address mismatch, certificate is not valid for '{self.host}'."
        return self.tls.lib.verify_text(result).decode()

    cdef tls_stream take(self):
        """The stream, which this object is without from now on."""
        cdef tls_stream taken = self.tls
        self.tls.ssl = NULL
        return taken

    def __dealloc__(self):
        tls_free(&self.tls)
