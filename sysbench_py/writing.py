"""Writing without a buffer: what cannot be written is known at once, not at the end of the process."""

from __future__ import annotations

import io
import os

STDOUT = 1
OUTPUT_LOST = "the results could not be written to standard output"


class OutputLostError(Exception):
    """Standard output takes no more; as a text, the line for the user."""


def write_all(descriptor: int, content: bytes) -> None:
    """Write all of it. Raises OSError."""
    rest = memoryview(content)
    while rest:
        rest = rest[os.write(descriptor, rest) :]


class StandardOutput(io.TextIOBase):
    """Standard output as a file for `print`. All that is written to it may raise OutputLostError."""

    encoding = "utf-8"
    errors = "surrogateescape"

    def write(self, text: str) -> int:
        if not isinstance(text, str):
            raise TypeError("texts only")
        try:
            write_all(STDOUT, text.encode(self.encoding, self.errors))
        except OSError as error:
            raise OutputLostError(f"{OUTPUT_LOST}: {error.strerror}") from None
        return len(text)

    def writable(self) -> bool:
        return True

    def isatty(self) -> bool:
        return os.isatty(STDOUT)
