"""What a user can get wrong, and how the program ends."""

from __future__ import annotations

from enum import IntEnum
from typing import Literal


class ExitStatus(IntEnum):
    """Exit status of the `sysbench` command."""

    OK = 0
    ERROR = 1
    FORCED = 2
    SIGINT = 130
    SIGTERM = 143


class UsageError(Exception):
    """A mistake of the user: print `line` on `stream`, then exit with `ExitStatus.ERROR`."""

    def __init__(
        self, message: str, stream: Literal["stdout", "stderr"] = "stderr", prefix: str = ""
    ) -> None:
        super().__init__(message)
        self.stream = stream
        self.prefix = prefix

    @classmethod
    def fatal(cls, message: str) -> UsageError:
        """An error that sysbench reports through its log: on stdout, with the prefix `FATAL: `."""
        return cls(message, "stdout", "FATAL: ")

    @property
    def line(self) -> str:
        """The text to print, without its last newline."""
        return f"{self.prefix}{self}"
