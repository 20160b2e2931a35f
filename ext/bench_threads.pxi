# The threads test.
