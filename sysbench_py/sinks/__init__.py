"""Ways to present results. A sink formats `sysbench_py.stats.model` and computes nothing."""
