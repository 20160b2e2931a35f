"""Measurements of this program beside others; each module with a `main` is a command, `python -m benchmarks.X`."""

import sys
from importlib.util import find_spec

# What their imports and the programs that they start take for granted.
NEEDED = ("pytest", "pymysql", "psycopg2", "sysbench_py._core")

# Python calls a package so while it looks for the module in it that is to be run.
if sys.argv[0] == "-m":
    missing = [name for name in NEEDED if find_spec(name) is None]
    if missing:
        sys.exit(f"{', '.join(missing)} cannot be found: do 'pip install -e . pytest' in the checkout")
