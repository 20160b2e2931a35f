"""The files of the fileio test: `prepare` makes them, a run opens them, `cleanup` removes them."""

from __future__ import annotations

import errno
import mmap
import os
import stat
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from sysbench_py import core
from sysbench_py.builtin.fileio_options import Settings
from sysbench_py.log import DEBUG, FATAL, NOTICE, WARNING, log
from sysbench_py.progress import ByteProgress

MIB = 2**20
FILE_MODE = 0o600

_OPEN_FLAGS = {"sync": os.O_SYNC, "dsync": os.O_DSYNC, "direct": os.O_DIRECT}
_FLAG_NAMES = {"sync": "sync ", "dsync": "dsync ", "direct": "directio"}


def format_size(size_bytes: int) -> str:
    """Five significant digits and a binary unit, as in `1.4648KiB`."""
    size: float = size_bytes
    for unit in ("B", "KiB", "MiB", "GiB"):
        if size < 1024:
            return f"{size:.5g}{unit}"
        size /= 1024
    return f"{size:.5g}TiB"


def failed(message: str, error: OSError, end: str = "") -> bool:
    """Print what the operating system refused; False."""
    number = error.errno or 0
    log(FATAL, f"{message} errno = {number} ({os.strerror(number)}){end}")
    return False


class FileSet:
    """`test_file.0` and so on in the working directory. What goes wrong is told by a message."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._open_flags = 0
        for flag in settings.extra_flags:
            self._open_flags |= _OPEN_FLAGS[flag]
        self.descriptors: list[int] = []

    @property
    def flags_message(self) -> str:
        """The line that names the extra flags, always in the same order."""
        names = "".join(name for flag, name in _FLAG_NAMES.items() if flag in self._settings.extra_flags)
        return f"Extra file open flags: {names or '(none)'}"

    @property
    def remainder_messages(self) -> tuple[str, ...]:
        """A line if the total size cannot be divided by the number of files."""
        settings = self._settings
        if not settings.unused_bytes:
            return ()
        return (
            f"--file-total-size ({settings.total_bytes + settings.unused_bytes} bytes) cannot be divided by "
            f"--file-num ({settings.files}): {settings.total_bytes} bytes are used",
        )

    def _paths(self, first: int = 0) -> Iterator[Path]:
        """One after the other: there may be more than the memory can hold."""
        return (Path(f"test_file.{number}") for number in range(first, self._settings.files))

    # -- prepare and cleanup

    def create(self) -> bool:
        """Make the files, or make them longer: whole blocks until each has its size at least."""
        settings = self._settings
        log(
            NOTICE,
            f"{settings.files} files, {settings.file_bytes // 1024}Kb each, {settings.total_bytes // MIB}Mb total",
        )
        for line in self.remainder_messages:
            log(NOTICE, line)
        log(NOTICE, "Creating files for the test...")
        log(NOTICE, self.flags_message)
        writer = _Writer(settings)
        start_s = time.monotonic()
        if not all(self._create_file(path, writer) for path in self._paths()):
            return False
        writer.progress.clear()
        elapsed_s = time.monotonic() - start_s
        if writer.written_bytes:
            rate = writer.written_bytes / MIB / elapsed_s
            log(
                NOTICE,
                f"{writer.written_bytes} bytes written in {elapsed_s:.2f} seconds ({rate:.2f} MiB/sec).",
            )
        else:
            log(NOTICE, "No bytes written.")
        return True

    def _create_file(self, path: Path, writer: _Writer) -> bool:
        writer.progress.clear()
        try:
            descriptor = os.open(path, os.O_CREAT | os.O_WRONLY | self._open_flags, FILE_MODE)
        except OSError as error:
            return failed(f"Cannot open file '{path}'", error)
        try:
            size_bytes = os.fstat(descriptor).st_size
            if size_bytes >= self._settings.file_bytes:
                log(NOTICE, f"Reusing existing file {path}")
                writer.progress.skip(self._settings.file_bytes)
                return True
            log(NOTICE, f"{'Extending existing' if size_bytes else 'Creating'} file {path}")
            writer.extend(descriptor, size_bytes)
            return True
        except OSError as error:
            writer.progress.clear()
            return failed(f"Failed to write file! file: {path}", error)
        finally:
            os.close(descriptor)

    def remove(self) -> bool:
        """Remove the files that are there."""
        log(NOTICE, "Removing test files...")
        for path in self._paths():
            try:
                path.unlink()
            except FileNotFoundError:
                continue
            except OSError as error:
                return failed(f"Cannot remove file '{path}'", error)
        return True

    # -- run

    def open(self) -> bool:
        """Open all files, new and empty ones if the test makes them."""
        for path in self._paths():
            log(DEBUG, f"Opening file: {path}")
            if not (self._open_new(path) if self._settings.mode.creates else self._open_existing(path)):
                return False
        return True

    def _open_new(self, path: Path) -> bool:
        try:
            with suppress(FileNotFoundError):
                path.unlink()
            flags = os.O_CREAT | os.O_EXCL | os.O_RDWR | self._open_flags
            self.descriptors.append(os.open(path, flags, FILE_MODE))
            if self._settings.io_mode == "mmap":
                os.ftruncate(self.descriptors[-1], self._settings.file_bytes)
            return True
        except OSError as error:
            return failed(f"Cannot create file '{path}'", error)

    def _open_existing(self, path: Path) -> bool:
        # A file that is only read may be in a place that is not writable.
        access = os.O_RDWR if self._settings.mode.writes else os.O_RDONLY
        try:
            self.descriptors.append(os.open(path, access | self._open_flags))
            status = os.fstat(self.descriptors[-1])
            if stat.S_ISDIR(status.st_mode):
                raise IsADirectoryError(errno.EISDIR, "")
        except OSError as error:
            failed(f"Cannot open file '{path}'", error)
            if isinstance(error, FileNotFoundError):
                log(WARNING, "Did you forget to run the prepare step?")
            return False
        wanted_bytes = self._settings.file_bytes
        if status.st_size >= wanted_bytes:
            return True
        log(
            FATAL,
            f"Size of file '{path}' is {format_size(status.st_size)}, "
            f"but at least {format_size(wanted_bytes)} is expected.",
        )
        log(WARNING, "Did you run 'prepare' with different --file-total-size or --file-num values?")
        return False

    def complete(self, full: int) -> bool:
        """Give all files their size after a run that was to write them and has filled the first `full`."""
        wanted_bytes = self._settings.file_bytes
        for path, descriptor in zip(self._paths(full), self.descriptors[full:], strict=True):
            try:
                if os.fstat(descriptor).st_size < wanted_bytes:
                    os.ftruncate(descriptor, wanted_bytes)
            except OSError as error:
                return failed(f"Cannot extend file '{path}'", error)
        missing = self._settings.files - full
        if missing:
            log(
                WARNING,
                f"The run ended before {missing} of {self._settings.files} files were written to their end; "
                "the rest of them is a hole: do 'cleanup' and 'prepare' before a test that reads them",
            )
        return True

    def close(self) -> None:
        """Close what is open."""
        while self.descriptors:
            os.close(self.descriptors.pop())


class _Writer:
    """Writes the blocks of new files: zero bytes, or contents that can be validated."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        # Several small blocks go in one write. Anonymous memory: its address is good for direct I/O.
        blocks = max(MIB // settings.block_bytes, 1)
        self._buffer = mmap.mmap(-1, blocks * settings.block_bytes)
        self.progress = ByteProgress(settings.total_bytes, settings.progress)
        self.written_bytes = 0

    def extend(self, descriptor: int, size_bytes: int) -> None:
        """Write a file from `size_bytes` to its end, and to the disk. Raises OSError."""
        block_bytes = self._settings.block_bytes
        # A block that is there in part is written anew: blocks begin at multiples of their size.
        position = size_bytes // block_bytes * block_bytes
        self.progress.skip(position)
        end = -(-self._settings.file_bytes // block_bytes) * block_bytes
        while position < end:
            with memoryview(self._buffer)[: end - position] as chunk:
                if self._settings.validate:
                    core.file_blocks_fill(chunk, block_bytes, position)
                self._write(descriptor, chunk, position)
                position += len(chunk)
        os.fsync(descriptor)

    def _write(self, descriptor: int, chunk: memoryview, position: int) -> None:
        done = 0
        while done < len(chunk):
            written = os.pwrite(descriptor, chunk[done:], position + done)
            done += written
            self.written_bytes += written
            self.progress.add(written)
