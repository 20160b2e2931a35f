# The fileio test.
