"""Many runs of tests, each a process of its own: sweeps over values of options, comparisons of set-ups."""
