"""`sysbench report FILE`: a saved result, printed as its run has printed it or written in other formats."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sysbench_py.tools.explained import explained

if TYPE_CHECKING:
    from sysbench_py.stats.result import RunResult


def report(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A result that --output=json has written.")],
    output: Annotated[
        list[str] | None,
        typer.Option(metavar="FORMAT[:FILE]", help="Write it as json, jsonl, csv, hdr, prometheus or html."),
    ] = None,
    report_style: Annotated[
        str | None, typer.Option(metavar="STYLE", help="Layout of the text: 1.0 or 0.4, without it that of the run.")
    ] = None,
) -> None:
    """Print a saved result as its run has printed it, or write it in other formats.

    Without a name, a file is called as FILE, with the ending of its format; - is standard output.
    """
    from sysbench_py.sinks.json_document import read_file
    from sysbench_py.validate import check_report_style

    with explained():
        if report_style is not None:
            check_report_style(report_style)
        result = read_file(file)
        if output:
            _write(result, file, output)
        else:
            from sysbench_py.sinks.text_saved import result_text

            typer.echo(result_text(result, report_style), nl=False)


def _write(result: RunResult, file: Path, texts: list[str]) -> None:
    from sysbench_py.errors import UsageError
    from sysbench_py.sinks.outputs import Outputs, requests

    outputs = Outputs(requests(texts, stem=str(file.with_suffix(""))), saved=True)
    try:
        outputs.begin(result.setup)
        for name in outputs.end(result):
            typer.echo(name, err=True)
    finally:
        outputs.close()
    if outputs.problems:
        raise UsageError.fatal("; ".join(outputs.problems))
