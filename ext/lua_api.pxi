# What internal Lua needs of the process beside events, numbers and SQL: the script's options, and the one JSON
# array that the reports of all states make up.

cdef char *test_options_help = NULL
_test_args = []                 # (name, description, default or None, type), as bytes and int
cdef int json_elements = 0


cdef public int sb_lua_set_test_args(const sb_arg *args, size_t n) noexcept nogil:
    """Declare the options of the script; 0."""
    set_test_args_with_gil(args, n)
    return 0


cdef void set_test_args_with_gil(const sb_arg *args, size_t n) noexcept with gil:
    _test_args.clear()
    for i in range(n):
        value = <bytes>args[i].value if args[i].value != NULL else None
        _test_args.append((<bytes>args[i].name, <bytes>args[i].desc, value, args[i].type))


def test_args() -> list:
    """The options that the script has declared last: (name, description, default or None, sb_arg_type)."""
    return list(_test_args)


def set_test_options_help(bytes text not None) -> None:
    """What sb_print_test_options prints."""
    global test_options_help
    free(test_options_help)
    test_options_help = copy_string(text)


cdef public void sb_print_test_options() noexcept nogil:
    """Print the script's options as the help does."""
    if test_options_help != NULL:
        sb_print(test_options_help)


cdef public cbool sb_json_element() noexcept nogil:
    """Count one more element of the array of JSON reports; True for the first, which opens the array."""
    global json_elements
    json_elements += 1
    return json_elements == 1


def json_end() -> None:
    """Close the array of JSON reports, if one is open."""
    global json_elements
    if json_elements > 0:
        json_elements = 0
        sb_print(b"\n]\n")
