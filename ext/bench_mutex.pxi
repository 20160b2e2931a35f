# The mutex test.
