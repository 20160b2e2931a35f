"""How tools end when something is wrong: one line on standard error and an exit status."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import typer


@contextmanager
def explained() -> Iterator[None]:
    """What goes wrong inside, by the user's mistake or by the machine's fault, ends the tool with one line."""
    from sysbench_py.api import CommandFailed
    from sysbench_py.errors import UsageError

    try:
        yield
    except UsageError as error:
        line = error.line
    except CommandFailed as error:
        line = f"FATAL: {error}"
    except OSError as error:
        place = f"{error.filename}: " if error.filename else ""
        line = f"FATAL: {place}{error.strerror or error}"
    else:
        return
    typer.echo(line.rstrip("\n"), err=True)
    raise typer.Exit(1)
