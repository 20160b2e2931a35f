"""Deliberate differences from sysbench 1.0.20: which of docs/compat.md a test shows."""

from collections.abc import Callable
from typing import TypeVar

Test = TypeVar("Test", bound=Callable[..., None])


def compat(identifier: str) -> Callable[[Test], Test]:
    """Says that a test shows the difference `identifier` of docs/compat.md, which test_compat.py holds to."""

    def mark(test: Test) -> Test:
        return test

    return mark
