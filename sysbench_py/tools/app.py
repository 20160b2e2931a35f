"""The Typer application: one line a tool. What a tool needs besides, it imports when it is used."""

from __future__ import annotations

import typer

from sysbench_py.tools.complete import complete
from sysbench_py.tools.completion import completion
from sysbench_py.tools.report import report

app = typer.Typer(add_completion=False, no_args_is_help=True, pretty_exceptions_enable=False, rich_markup_mode=None)


@app.callback()
def tools() -> None:
    """Tools beside the tests. A script called `tools` is still run, as ./tools."""


app.command()(completion)
app.command()(report)
app.command(hidden=True)(complete)
