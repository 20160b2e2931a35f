"""The tools beside the grammar of sysbench: `sysbench tools NAME ...`."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import redirect_stdout
from typing import Any

from sysbench_py.tool_names import COMMANDS_OF_THEIR_OWN
from sysbench_py.writing import OutputLostError, StandardOutput


def run_tool(arguments: Sequence[str]) -> int:
    """Do what the words behind `sysbench tools` ask for; returns the exit status."""
    try:
        with redirect_stdout(StandardOutput()):
            return _run(arguments)
    except OutputLostError as error:
        print(error, file=sys.stderr)
        return 1


def _run(arguments: Sequence[str]) -> int:
    if arguments[:1] == ["complete"]:
        # What the completion scripts ask at each Tab: no tool for people, and no reason to load Typer.
        from sysbench_py.tools.complete import complete

        complete([word for number, word in enumerate(arguments[1:]) if number or word != "--"])
        return 0
    # Only here: nothing else needs Typer, and it is slow to import.
    from sysbench_py.tools.app import WrongUse, app

    program = "sysbench" if arguments[:1] and arguments[0] in COMMANDS_OF_THEIR_OWN else "sysbench tools"
    try:
        status = app(list(arguments) or ["--help"], prog_name=program, standalone_mode=False)
    except WrongUse as error:
        where = error.ctx.command_path if error.ctx else program
        print(f"{where}: {' '.join(_message(error).split())}", file=sys.stderr)
        return 1
    return int(status or 0) if arguments else 1


def _message(error: Any) -> str:
    """Typer's message, with a guess as the command gives one if an option is unknown."""
    from sysbench_py.suggest import option_meant

    if not hasattr(error, "possibilities") or not error.ctx:
        return str(error.format_message())
    known = [name[2:] for row in error.ctx.command.params for name in row.opts if name.startswith("--")]
    advice = option_meant(error.option_name.lstrip("-"), [*known, "help"])
    return f"{error.message} ({advice})" if advice else str(error.message)
