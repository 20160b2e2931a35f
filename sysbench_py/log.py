"""Messages to the user, through the core's log: it keeps their order with what Lua prints."""

from __future__ import annotations

import os
import sys

from sysbench_py import core

FATAL, ALERT, WARNING, NOTICE, INFO, DEBUG = range(6)


def log(priority: int, message: str) -> None:
    """Print a message with the prefix of its priority, if the verbosity lets it through."""
    core.log_message(priority, os.fsencode(message))


def log_at(priority: int, elapsed_s: float, message: str) -> None:
    """Print a message that begins with the time since the start of the run."""
    core.log_timestamped(priority, elapsed_s, os.fsencode(message))


def say(line: str) -> None:
    """A line for people on standard error, so that standard output stays as scripts expect it."""
    core.progress_clear()
    print(line, file=sys.stderr, flush=True)
