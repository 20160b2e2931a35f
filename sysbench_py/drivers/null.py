"""The null driver: every statement succeeds, and nothing is sent. The floor of a measurement."""

from __future__ import annotations

from sysbench_py import core
from sysbench_py.options import Option, OptionSet

OPTIONS: tuple[Option, ...] = ()


def setup(options: OptionSet) -> None:
    """Hand the driver to the core."""
    core.driver_setup("null", dialect="mysql")


def installed() -> str:
    """Nothing is used, so there is nothing to tell."""
    return ""
