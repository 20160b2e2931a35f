"""Statements that a user gives, as text or as a file."""

from __future__ import annotations

import os
from pathlib import Path

from sysbench_py.errors import UsageError


def read_statements(option: str, value: str, delimiter: str) -> tuple[str, ...]:
    """The statements of an option's value, which may be the name of a file; empty ones are left out.

    Raises UsageError for a file that is not there or cannot be read, and for a value without a statement.
    """
    if not value:
        return ()
    text = value
    if os.path.isfile(value):  # noqa: PTH113 -- Path takes offence at the length of some texts
        try:
            text = Path(value).read_text(encoding="utf-8", errors="surrogateescape")
        except OSError as error:
            raise UsageError.fatal(f"Cannot read {option} '{value}': {error.strerror}") from None
    elif _is_path(value):
        raise UsageError.fatal(f"Cannot read {option} '{value}': no such file")
    statements = tuple(part.strip() for part in text.split(delimiter) if part.strip())
    if not statements:
        raise UsageError.fatal(f"{option} has no statement: '{value}'")
    return statements


def _is_path(value: str) -> bool:
    """Whether the text can only be meant as the name of a file: no statement is one word with a slash or `.sql`."""
    return len(value.split()) == 1 and ("/" in value or value.endswith(".sql"))
