"""A program on a terminal of its own."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def on_terminal(*arguments: str, cwd: Path, stdout_too: bool) -> tuple[str, str]:
    """Run our `sysbench` with standard error on a terminal: (standard output, what the terminal got).

    With `stdout_too` the terminal gets standard output too, and the first text is empty.
    """
    ours, theirs = pty.openpty()
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "COLUMNS": "100"}
    process = subprocess.Popen(
        [sys.executable, "-m", "sysbench_py", *arguments],
        cwd=cwd,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=theirs if stdout_too else subprocess.PIPE,
        stderr=theirs,
    )
    os.close(theirs)
    got = b""
    while True:
        try:
            chunk = os.read(ours, 65536)
        except OSError:
            # Linux's way to say that nobody has the terminal open any more.
            break
        if not chunk:
            break
        got += chunk
    os.close(ours)
    printed = process.stdout.read() if process.stdout else b""
    if process.stdout:
        process.stdout.close()
    assert process.wait() == 0, got
    return printed.decode(), got.decode().replace("\r\n", "\n")


def screen(got: str) -> list[str]:
    """The lines that a terminal shows in the end: a carriage return goes back, and erasing empties what follows."""
    lines = [""]
    column = 0
    position = 0
    while position < len(got):
        if got.startswith("\x1b[K", position):
            lines[-1] = lines[-1][:column]
            position += 3
            continue
        character = got[position]
        position += 1
        if character == "\n":
            lines.append("")
            column = 0
        elif character == "\r":
            column = 0
        else:
            lines[-1] = lines[-1][:column] + character + lines[-1][column + 1 :]
            column += 1
    return lines
