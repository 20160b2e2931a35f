"""Where outputs go: files that are written whole, files that grow, standard output.

Opening finds out what can be known before the run: that the place can be written to and has room. What is no
regular file, such as a pipe or a device, is written to as it is.
"""

from __future__ import annotations

import contextlib
import os
import stat
from pathlib import Path
from typing import Protocol

from sysbench_py.writing import write_all

STDOUT = "-"
# What is written to see whether a disk is full: a block of most file systems.
_PROBE = b" " * 4096
# So much of a file's name, in bytes, is in that of the temporary file, whose name must not be too long.
LONGEST_NAME = 200


class Target(Protocol):
    """Something to write texts to. All methods raise OSError."""

    def open(self) -> None:
        """Find out whether it can be written to; an existing file stays as it is."""

    def begin(self) -> None:
        """What was there before is replaced from now on."""

    def write(self, text: str) -> None:
        """Write all of the text; it has left this process when this returns."""

    def close(self) -> None:
        """The last text has been written, or there will be none."""


class WholeFile:
    """A file that is replaced in one step by the last text that is written."""

    def __init__(self, path: str) -> None:
        # A symbolic link stays one.
        self._path = Path(os.path.realpath(path))
        self._parts: list[str] = []

    def open(self) -> None:
        _refuse_directory(self._path)
        self._replace_with(_PROBE, keep=False)

    def begin(self) -> None:
        pass

    def write(self, text: str) -> None:
        self.write_bytes(text.encode(errors="surrogateescape"))

    def write_bytes(self, content: bytes) -> None:
        """Write what is no text. Raises OSError, which names the file."""
        try:
            self._replace_with(content, keep=True)
        except OSError as error:
            error.filename = str(self._path)
            raise

    def close(self) -> None:
        pass

    def _replace_with(self, content: bytes, *, keep: bool) -> None:
        name = os.fsdecode(os.fsencode(self._path.name)[:LONGEST_NAME])
        temporary = self._path.with_name(f".{name}.{os.getpid()}.tmp")
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
        try:
            try:
                write_all(descriptor, content)
                if keep:
                    os.fsync(descriptor)
            finally:
                os.close(descriptor)
            if keep:
                temporary.replace(self._path)
        finally:
            # After a replacement there is none any more.
            with contextlib.suppress(FileNotFoundError):
                temporary.unlink()


class _Stream:
    """A descriptor to which each text is appended as it is written; below 0 while it is not open."""

    _descriptor = -1

    def write(self, text: str) -> None:
        write_all(self._descriptor, text.encode())

    def close(self) -> None:
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1


class GrowingFile(_Stream):
    """A file, pipe or device. A file that takes no more ends with the last text that it has taken whole."""

    def __init__(self, path: str) -> None:
        self._path = Path(path)

    def write(self, text: str) -> None:
        _write_whole(self._descriptor, text)

    def open(self) -> None:
        _refuse_directory(self._path)
        exists = self._path.exists()
        if not exists or self._path.is_file():
            # An empty file can be made on a full disk too. It is made when the run begins, which may never happen.
            WholeFile(str(self._path)).open()
        if exists:
            self._descriptor = os.open(self._path, os.O_WRONLY | os.O_CLOEXEC)

    def begin(self) -> None:
        if self._descriptor < 0:
            self._descriptor = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o666)
        elif stat.S_ISREG(os.fstat(self._descriptor).st_mode):
            os.ftruncate(self._descriptor, 0)


class StandardOutput(_Stream):
    """Standard output, for one output alone: everything else that is printed goes to standard error."""

    def open(self) -> None:
        self._descriptor = os.dup(1)
        os.dup2(2, 1)

    def begin(self) -> None:
        pass


def target(path: str, *, whole: bool) -> Target:
    """What a name on the command line stands for; `whole` asks for a file that is written in one step."""
    if path == STDOUT:
        return StandardOutput()
    if whole and (not os.path.exists(path) or os.path.isfile(path)):  # noqa: PTH110, PTH113 -- "" is no Path
        return WholeFile(path)
    return GrowingFile(path)


def append(path: str, text: str) -> None:
    """Add a text to a file, whole or not at all; anything else gets what it takes. Raises OSError."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o666)
    try:
        _write_whole(descriptor, text)
    finally:
        os.close(descriptor)


def _write_whole(descriptor: int, text: str) -> None:
    """Write behind the end of what is there; a file that does not take all of the text stays as it was."""
    before = os.fstat(descriptor)
    try:
        write_all(descriptor, text.encode(errors="surrogateescape"))
    except OSError:
        if stat.S_ISREG(before.st_mode):
            os.ftruncate(descriptor, before.st_size)
        raise


def _refuse_directory(path: Path) -> None:
    if path.is_dir():
        raise IsADirectoryError(21, os.strerror(21), str(path))
