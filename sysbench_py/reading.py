"""Small files that the user names: options, passwords."""

from __future__ import annotations

import errno
import os
from pathlib import Path

MOST_CHARACTERS = 16 * 2**20


def read_text(path: str | os.PathLike[str], errors: str = "surrogateescape") -> str:
    """The whole text, with a newline at each end of a line.

    Raises OSError, as well for what is larger than any such file, be it endless as /dev/zero, and UnicodeError as
    `errors` asks for.
    """
    with Path(path).open(encoding="utf-8", errors=errors) as stream:
        text = stream.read(MOST_CHARACTERS + 1)
    if len(text) > MOST_CHARACTERS:
        raise OSError(errno.EFBIG, os.strerror(errno.EFBIG), os.fspath(path))
    return text
