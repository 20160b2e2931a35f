# libpq's functions, found in the libpq that psycopg2 uses.
#
# psycopg2's wheel carries a libpq of its own, and a second libpq must not see the first one's PGconn. So nothing
# is linked: the functions come by dlsym from psycopg2's module, whose dependencies include the right libpq.
# The prototypes are those of the PostgreSQL manual, "libpq - C Library".

cdef extern from "<dlfcn.h>" nogil:
    void *dlopen(const char *, int)
    void *dlsym(void *, const char *)
    int RTLD_NOW
    int RTLD_NOLOAD

cdef extern from *:
    """
    typedef struct pg_conn PGconn;
    typedef struct pg_result PGresult;
    """
    ctypedef struct PGconn:
        pass
    ctypedef struct PGresult:
        pass

ctypedef unsigned int Oid
ctypedef void (*notice_receiver)(void *, const PGresult *) noexcept nogil

cdef enum:
    PG_CONNECTION_OK = 0        # ConnStatusType
    PG_COMMAND_OK = 1           # ExecStatusType
    PG_TUPLES_OK = 2
    PG_COPY_OUT = 3
    PG_COPY_IN = 4
    PG_FATAL_ERROR = 7
    PG_COPY_BOTH = 8
    PG_DIAG_SQLSTATE = 67       # 'C', PG_DIAG_* are the letters of the protocol's error fields
    PG_DIAG_PRIMARY = 77        # 'M'
    PG_DIAG_SEVERITY = 86       # 'V', in English whatever lc_messages is
    PG_OID_INT8 = 20
    PG_OID_FLOAT8 = 701
    PG_OID_VARCHAR = 1043

cdef struct libpq_functions:
    int (*status)(const PGconn *) noexcept nogil
    int (*socket)(const PGconn *) noexcept nogil
    int (*ssl_in_use)(PGconn *) noexcept nogil
    char *(*error_message)(const PGconn *) noexcept nogil
    notice_receiver (*set_notice_receiver)(PGconn *, notice_receiver, void *) noexcept nogil
    int (*send_query)(PGconn *, const char *) noexcept nogil
    int (*send_prepare)(PGconn *, const char *, const char *, int, const Oid *) noexcept nogil
    int (*send_query_prepared)(PGconn *, const char *, int, const char *const *, const int *, const int *,
                               int) noexcept nogil
    int (*consume_input)(PGconn *) noexcept nogil
    int (*is_busy)(PGconn *) noexcept nogil
    PGresult *(*get_result)(PGconn *) noexcept nogil
    int (*put_copy_end)(PGconn *, const char *) noexcept nogil
    int (*get_copy_data)(PGconn *, char **, int) noexcept nogil
    void (*freemem)(void *) noexcept nogil
    int (*result_status)(const PGresult *) noexcept nogil
    char *(*result_error_message)(const PGresult *) noexcept nogil
    char *(*result_error_field)(const PGresult *, int) noexcept nogil
    int (*ntuples)(const PGresult *) noexcept nogil
    int (*nfields)(const PGresult *) noexcept nogil
    char *(*getvalue)(const PGresult *, int, int) noexcept nogil
    int (*getlength)(const PGresult *, int, int) noexcept nogil
    int (*getisnull)(const PGresult *, int, int) noexcept nogil
    char *(*cmd_tuples)(PGresult *) noexcept nogil
    void (*clear)(PGresult *) noexcept nogil

cdef libpq_functions pq
cdef void *libpq_handle = NULL


cdef void *libpq_symbol(const char *name) except NULL:
    cdef void *found = dlsym(libpq_handle, name)
    if found == NULL:
        line = f"psycopg2's libpq has no function {name.decode()}: install psycopg2-binary 2.9.9 or newer"
        raise ConnectError(0, "HY000", line, (line,))
    return found


def pgsql_load(str path not None) -> None:
    """Find libpq's functions through psycopg2's loaded extension module at `path`. Raises ConnectError."""
    global libpq_handle
    cdef bytes module = path.encode()
    if pq.clear != NULL:
        return
    libpq_handle = dlopen(module, RTLD_NOW | RTLD_NOLOAD)
    if libpq_handle == NULL:
        line = f"cannot look into psycopg2's extension module {path}"
        raise ConnectError(0, "HY000", line, (line,))
    (<void **>&pq.status)[0] = libpq_symbol(b"PQstatus")
    (<void **>&pq.socket)[0] = libpq_symbol(b"PQsocket")
    (<void **>&pq.ssl_in_use)[0] = libpq_symbol(b"PQsslInUse")
    (<void **>&pq.error_message)[0] = libpq_symbol(b"PQerrorMessage")
    (<void **>&pq.set_notice_receiver)[0] = libpq_symbol(b"PQsetNoticeReceiver")
    (<void **>&pq.send_query)[0] = libpq_symbol(b"PQsendQuery")
    (<void **>&pq.send_prepare)[0] = libpq_symbol(b"PQsendPrepare")
    (<void **>&pq.send_query_prepared)[0] = libpq_symbol(b"PQsendQueryPrepared")
    (<void **>&pq.consume_input)[0] = libpq_symbol(b"PQconsumeInput")
    (<void **>&pq.is_busy)[0] = libpq_symbol(b"PQisBusy")
    (<void **>&pq.get_result)[0] = libpq_symbol(b"PQgetResult")
    (<void **>&pq.put_copy_end)[0] = libpq_symbol(b"PQputCopyEnd")
    (<void **>&pq.get_copy_data)[0] = libpq_symbol(b"PQgetCopyData")
    (<void **>&pq.freemem)[0] = libpq_symbol(b"PQfreemem")
    (<void **>&pq.result_status)[0] = libpq_symbol(b"PQresultStatus")
    (<void **>&pq.result_error_message)[0] = libpq_symbol(b"PQresultErrorMessage")
    (<void **>&pq.result_error_field)[0] = libpq_symbol(b"PQresultErrorField")
    (<void **>&pq.ntuples)[0] = libpq_symbol(b"PQntuples")
    (<void **>&pq.nfields)[0] = libpq_symbol(b"PQnfields")
    (<void **>&pq.getvalue)[0] = libpq_symbol(b"PQgetvalue")
    (<void **>&pq.getlength)[0] = libpq_symbol(b"PQgetlength")
    (<void **>&pq.getisnull)[0] = libpq_symbol(b"PQgetisnull")
    (<void **>&pq.cmd_tuples)[0] = libpq_symbol(b"PQcmdTuples")
    (<void **>&pq.clear)[0] = libpq_symbol(b"PQclear")
