"""A LuaJIT-scriptable benchmark engine that runs sysbench's scripts and command lines."""

from sysbench_py.version import __version__

__all__ = ["__version__"]
