"""The command `mysqlslap-py`: mysqlslap's command line for the slap test."""

from __future__ import annotations

import sys
from collections.abc import Sequence

PROGRAM = "mysqlslap-py"


def main() -> None:
    """Console script `mysqlslap-py`."""
    sys.exit(run(sys.argv))


def run(argv: Sequence[str]) -> int:
    """Do what the command line (program name first) asks for; returns the exit status."""
    from sysbench_py.cli import end_as_others_do
    from sysbench_py.cli import run as run_sysbench
    from sysbench_py.errors import ExitStatus, UsageError
    from sysbench_py.mysqlslap.translate import Answer, translate
    from sysbench_py.passwords import hide_passwords
    from sysbench_py.writing import OutputLostError, StandardOutput

    end_as_others_do()
    hide_passwords(argv, "-p")
    try:
        arguments = translate(argv[1:])
    except Answer as answer:
        try:
            print(answer, end="", file=StandardOutput())
        except OutputLostError as error:
            print(error, file=sys.stderr)
            return ExitStatus.ERROR
        return ExitStatus.OK
    except UsageError as error:
        print(f"{PROGRAM}: {error.line}", file=sys.stderr)
        return ExitStatus.ERROR
    return run_sysbench([PROGRAM, *arguments])
