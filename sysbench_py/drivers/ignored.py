"""The lists of errors that restart an event: --mysql-ignore-errors and its like."""

from __future__ import annotations

import re

from sysbench_py.errors import UsageError
from sysbench_py.options import OptionSet


def ignored_errors(options: OptionSet, name: str, entry: str, advice: str) -> tuple[str, ...]:
    """What the option lists, blanks around the items left out; `none` says that there is nothing.

    Raises UsageError with the `advice` for an item other than all that the regular expression `entry` does not match.
    """
    items = [item for item in (text.strip() for text in options.get(name, tuple)) if item not in ("", "none")]
    for item in items:
        if item != "all" and not re.fullmatch(entry, item):
            raise UsageError.fatal(f"Invalid value for --{name}: '{item}' ({advice})")
    return tuple(items)
