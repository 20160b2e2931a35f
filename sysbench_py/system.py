"""What the operating system allows this process."""

from __future__ import annotations

import os
import resource
import signal

_PR_SET_PDEATHSIG = 1


def raise_open_files_limit() -> None:
    """Allow as many open files as the hard limit does: every connection needs one or more."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != hard:
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def processors() -> int:
    """How many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def end_with_parent() -> None:
    """The kernel kills this process when the thread that has forked it ends, be this process stopped or stuck."""
    import ctypes  # late: only processes of workers need it

    libc = ctypes.CDLL(None)
    if hasattr(libc, "prctl"):
        libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
