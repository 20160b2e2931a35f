"""Our command under its own name, for shells and for scripts that are programs."""

import os
import shlex
import sys
from pathlib import Path


def sysbench_on_path(folder: Path) -> dict[str, str]:
    """An environment in which `sysbench` is ours; it is put into a new folder inside of `folder`."""
    programs = folder / "programs"
    programs.mkdir()
    program = programs / "sysbench"
    program.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m sysbench_py "$@"\n')
    program.chmod(0o755)
    return {"PATH": f"{programs}{os.pathsep}{os.environ.get('PATH', os.defpath)}"}
