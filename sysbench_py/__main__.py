"""`python -m sysbench_py`: the same as the `sysbench` command."""

import sys

from sysbench_py.cli import main

sys.argv[0] = "sysbench"
main()
