# Functions of libraries that are found at run time, in a table that is a C struct of pointers.

cdef extern from "<dlfcn.h>" nogil:
    void *dlopen(const char *, int)
    void *dlsym(void *, const char *)
    int RTLD_NOW
    int RTLD_NOLOAD


cdef str find_functions(void *library, void *table, size_t table_size, str prefix, tuple names):
    """Fill the table, whose fields are in the order of the names; the first that is not there, else None."""
    cdef void **fields = <void **>table
    cdef bytes name
    if len(names) * sizeof(void *) != table_size:
        raise AssertionError(f"{prefix}{names[0]} and so on are not the fields of their table")
    for i, function in enumerate(names):
        name = f"{prefix}{function}".encode()
        fields[i] = dlsym(library, name)
        if fields[i] == NULL:
            return name.decode()
    return None
