"""The tools beside the grammar of sysbench: `sysbench tools NAME ...`."""

from __future__ import annotations

from collections.abc import Sequence


def run_tool(arguments: Sequence[str]) -> int:
    """Do what the words behind `sysbench tools` ask for; returns the exit status."""
    # Only here: nothing else needs Typer, and it is slow to import.
    from sysbench_py.tools.app import app

    try:
        app(list(arguments), prog_name="sysbench tools")
    except SystemExit as end:
        # A wrong command line is 2 in Typer's eyes, which stands for a forced shutdown here.
        return 1 if end.code not in (0, None) else 0
    return 0
