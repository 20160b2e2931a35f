# The memory test.
