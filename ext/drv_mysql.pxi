cdef db_ops mysql_ops = null_ops
