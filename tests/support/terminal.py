"""A program on a terminal of its own."""

from __future__ import annotations

import os
import pty
import re
import signal
import subprocess
import sys
from itertools import groupby
from pathlib import Path

ROOT = Path(__file__).parents[2]


def on_terminal(
    *arguments: str, cwd: Path, stdout_too: bool, columns: int = 100, interrupt_at: str = "", status: int = 0
) -> tuple[str, str]:
    """Run our `sysbench` with standard error on a terminal: (standard output, what the terminal got).

    With `stdout_too` the terminal gets standard output too, and the first text is empty. SIGINT is sent when the
    terminal has got `interrupt_at`. The test fails if the exit status is another one.
    """
    ours, theirs = pty.openpty()
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "COLUMNS": str(columns), "TERM": "xterm-256color"}
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
        if interrupt_at and interrupt_at.encode() in got:
            interrupt_at = ""
            process.send_signal(signal.SIGINT)
    os.close(ours)
    printed = process.stdout.read() if process.stdout else b""
    if process.stdout:
        process.stdout.close()
    assert process.wait() == status, got
    return printed.decode(), got.decode().replace("\r\n", "\n")


# A command to the terminal: ESC [ parameters letter (ECMA-48).
CONTROL = re.compile(r"\x1b\[([0-9;]*)([A-Za-z])")


def screen(got: str) -> list[str]:
    """The lines that a terminal shows in the end: carriage returns, moves up, erasing; colours are left out."""
    lines = [""]
    row = column = position = 0
    while position < len(got):
        control = CONTROL.match(got, position)
        if control is not None:
            position = control.end()
            if control[2] in "KJ":
                lines[row] = lines[row][:column]
            if control[2] == "J":
                del lines[row + 1 :]
            elif control[2] == "A":
                row -= int(control[1])
            continue
        character = got[position]
        position += 1
        if character == "\n":
            row += 1
            column = 0
            if row == len(lines):
                lines.append("")
        elif character == "\r":
            column = 0
        else:
            lines[row] = lines[row][:column].ljust(column) + character + lines[row][column + 1 :]
            column += 1
    return lines


def without_numbers(lines: list[str]) -> list[str]:
    """The lines with an N for each number and the blanks before it. Lines that are then alike are one: the last
    interval and the run end in either order."""
    return [line for line, _ in groupby(re.sub(r" *[\d.]+", " N", line.rstrip()) for line in lines)]
