"""What the operating system allows this process."""

from __future__ import annotations

import resource


def raise_open_files_limit() -> None:
    """Allow as many open files as the hard limit does: every connection needs one or more."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != hard:
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
