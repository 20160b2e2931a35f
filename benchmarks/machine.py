"""What was measured where: the machine, and the versions of all programs."""

from __future__ import annotations

import os
import platform
import re
import shlex
import subprocess
from pathlib import Path

from benchmarks.measure import ROOT, run
from tests.support.proc import find_program


def _model() -> str:
    match = re.search(r"^model name\s*: (.*)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    return match[1] if match else "processor unknown"


def _version(command: str) -> str:
    """The first line that a program says of its version."""
    return run(shlex.split(command), ROOT).text.splitlines()[0].strip()


def _commit() -> str:
    done = subprocess.run(["git", "describe", "--always", "--dirty"], cwd=ROOT, capture_output=True, text=True)
    return f", commit {done.stdout.strip()}" if done.returncode == 0 else ""


def description(reference: str, ours: str) -> str:
    """Markdown: the machine with its load at this moment, and a list of programs."""
    load = os.getloadavg()[0]
    cores = len(os.sched_getaffinity(0))
    programs = [
        ("theirs", f"{_version(f'{reference} --version')}"),
        ("ours", f"{_version(f'{ours} --version')}{_commit()}, Python {platform.python_version()}"),
        ("MariaDB", _version(f"{find_program('mariadbd', 'mariadb-server')} --version")),
        ("PostgreSQL", _version(f"{find_program('postgres', 'postgresql')} --version")),
        ("pgbench", _version(f"{find_program('pgbench', 'postgresql')} --version")),
        ("compiler", _version(f"{find_program('gcc', 'gcc')} --version")),
    ]
    machine = (
        f"{_model()}, {platform.machine()}, {cores} cores, Linux {platform.release()}, load {load:.1f} at the start"
    )
    return "\n".join([machine, "", *(f"- {name}: {version}" for name, version in programs), ""])
