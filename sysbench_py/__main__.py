"""`python -m sysbench_py`: the same as the `sysbench` command."""

import sys

from sysbench_py.cli import run

sys.exit(run(["sysbench", *sys.argv[1:]]))
