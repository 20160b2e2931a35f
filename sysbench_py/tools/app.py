"""The Typer application: one line a tool. What a tool needs besides, it imports when it is used."""

from __future__ import annotations

from typing import Any

import typer

from sysbench_py.tool_names import TOOLS
from sysbench_py.tools.ab import ab
from sysbench_py.tools.compare import compare
from sysbench_py.tools.completion import completion
from sysbench_py.tools.drivers import drivers
from sysbench_py.tools.report import report
from sysbench_py.tools.sweep import sweep

# The exception for all mistakes on a command line, which Typer has under no name of its own.
WrongUse: Any = typer.BadParameter.__base__

# What is not the tool's own option belongs to the test that it runs.
OF_A_TEST = {"ignore_unknown_options": True}

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)


@app.callback()
def tools() -> None:
    """Tools beside the tests. A script called `tools` is still run, as ./tools."""


app.command(short_help=TOOLS["ab"], context_settings=OF_A_TEST)(ab)
app.command(short_help=TOOLS["compare"])(compare)
app.command(short_help=TOOLS["completion"])(completion)
app.command(short_help=TOOLS["drivers"])(drivers)
app.command(short_help=TOOLS["report"])(report)
app.command(short_help=TOOLS["sweep"], context_settings=OF_A_TEST)(sweep)
