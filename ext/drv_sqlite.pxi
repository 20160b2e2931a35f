cdef db_ops sqlite_ops = null_ops
