"""What a user can get wrong, and how the program ends."""

from __future__ import annotations

from enum import IntEnum
from typing import Literal


class ExitStatus(IntEnum):
    """Exit status of the `sysbench` command."""

    OK = 0
    ERROR = 1
    FORCED = 2
    SIGHUP = 129
    SIGINT = 130
    SIGPIPE = 141
    SIGTERM = 143

    @classmethod
    def _missing_(cls, value: object) -> ExitStatus | None:
        """Any other that a script asks for by os.exit."""
        if not isinstance(value, int):
            return None
        status = int.__new__(cls, value)
        status._name_, status._value_ = f"EXIT_{value}", value
        return status


class UsageError(Exception):
    """A mistake of the user: print `line` on `stream`, then exit with `ExitStatus.ERROR`.

    `about` is the option (its key) or the word of the command line that is wrong. `advice` says what would
    be right, in brackets; it may be added later, by who knows more of the command line.
    """

    def __init__(
        self,
        message: str,
        stream: Literal["stdout", "stderr"] = "stderr",
        prefix: str = "",
        *,
        about: str = "",
        advice: str = "",
    ) -> None:
        super().__init__(message)
        self.stream = stream
        self.prefix = prefix
        self.about = about
        self.advice = advice

    @classmethod
    def fatal(cls, message: str, *, about: str = "", advice: str = "") -> UsageError:
        """An error that sysbench reports through its log: on stdout, with the prefix `FATAL: `."""
        return cls(message, "stdout", "FATAL: ", about=about, advice=advice)

    @property
    def advised(self) -> str:
        """The message with the advice behind it."""
        text = str(self)
        if self.advice:
            # Some messages end with an empty line.
            shown = text.rstrip("\n")
            text = f"{shown} ({self.advice}){text[len(shown) :]}"
        return text

    @property
    def line(self) -> str:
        """The text to print, without its last newline."""
        return f"{self.prefix}{self.advised}"
