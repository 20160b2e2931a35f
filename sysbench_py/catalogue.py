"""The tests that there are."""

from __future__ import annotations

from pathlib import Path

from sysbench_py.builtin import BUILTIN_TESTS
from sysbench_py.resources import stock_workloads


def known_tests() -> list[str]:
    """The built-in tests, then the scripts that are installed with this package."""
    return [*BUILTIN_TESTS, *stock_workloads()]


def scripts_beside(path: str) -> list[str]:
    """The Lua files in the folder of `path`, spelled with the same folder."""
    folder = path[: path.rfind("/") + 1]
    return sorted(f"{folder}{found.name}" for found in Path(folder or ".").glob("*.lua"))
