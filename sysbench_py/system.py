"""What the operating system allows this process."""

from __future__ import annotations

import os
import resource
import signal
import threading
import time
from contextlib import suppress
from pathlib import Path

# What ends a run or a series of runs; the last one comes when the terminal, or the connection to it, is gone.
END_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
# Signals that come within so long are one.
SAME_SIGNAL_S = 0.2
_PR_SET_PDEATHSIG = 1
# How often a thread that is about to end is looked at.
_ENDING_POLL_S = 0.0005


def raise_open_files_limit() -> None:
    """Allow as many open files as the hard limit does: every connection needs one or more."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != hard:
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def processors() -> int:
    """How many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def join_os_thread(thread: threading.Thread) -> None:
    """Wait until a thread has ended for the operating system, too.

    Python's join() returns before C libraries have freed what they keep for the thread. A process that exits
    meanwhile may crash: libkrb5support, which psycopg2's wheel carries, frees the same memory at exit.
    """
    thread.join()
    task = Path(f"/proc/self/task/{thread.native_id}")
    while task.exists():
        time.sleep(_ENDING_POLL_S)


def let_servers_work() -> None:
    """From now on the calling thread does not interrupt others when it wakes, where the system has such a policy.

    A thread with many connections else stops a server on the same machine at each reply, to take that one alone.
    """
    # Both calls are about the calling thread (sched_setscheduler(2)); someone's own choice of a policy stays.
    if hasattr(os, "SCHED_BATCH") and os.sched_getscheduler(0) == os.SCHED_OTHER:
        with suppress(OSError):
            os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0))


def end_with_parent() -> None:
    """The kernel kills this process when the thread that has forked it ends, be this process stopped or stuck."""
    import ctypes  # late: only processes of workers need it

    libc = ctypes.CDLL(None)
    if hasattr(libc, "prctl"):
        libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
