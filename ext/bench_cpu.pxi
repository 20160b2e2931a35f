# The cpu test.
