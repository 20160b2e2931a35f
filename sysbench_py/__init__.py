"""A LuaJIT-scriptable benchmark engine that runs sysbench's scripts and command lines."""

from typing import TYPE_CHECKING

from sysbench_py.version import __version__

if TYPE_CHECKING:
    from sysbench_py.api import CommandFailed, Plan, cleanup, prepare, run

__all__ = ["CommandFailed", "Plan", "__version__", "cleanup", "prepare", "run"]


def __getattr__(name: str) -> object:
    # Late: the command line needs none of it.
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from sysbench_py import api

    return getattr(api, name)
