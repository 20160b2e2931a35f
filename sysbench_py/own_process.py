"""How a process of this program starts another one."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

# `-m` would look into the working directory first, where another copy of the package may lie.
_START = "import sys; sys.path[0] = {folder!r}; sys.argv[0] = 'sysbench'; from sysbench_py.cli import main; main()"


def own_command(arguments: Sequence[str]) -> list[str]:
    """The command line that runs this program, from where it was loaded, with `arguments`."""
    return [sys.executable, "-c", _START.format(folder=str(Path(__file__).parent.parent)), *arguments]
