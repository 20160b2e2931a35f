"""A LuaJIT-scriptable benchmark engine that runs sysbench's scripts and command lines."""

from sysbench_py.api import CommandFailed, Plan, cleanup, prepare, run
from sysbench_py.version import __version__

__all__ = ["CommandFailed", "Plan", "__version__", "cleanup", "prepare", "run"]
