"""`sysbench compare A B [...]`: saved results against each other."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sysbench_py.tools.explained import explained

if TYPE_CHECKING:
    from sysbench_py.experiments.comparison import Line, Side

# A point of a sweep, or an empty text, and the files of its runs.
Files = Mapping[str, Sequence[Path]]


def compare(
    results: Annotated[
        list[Path],
        typer.Argument(metavar="A B...", help="Results of --output=json, folders of some, or folders of sweeps."),
    ],
    percentile: Annotated[str, typer.Option(metavar="N,...", help="Percentiles of the latency.")] = "50,95,99",
    paired: Annotated[bool, typer.Option("--paired", help="The n-th runs of both folders belong together.")] = False,
    fail_above: Annotated[
        str | None, typer.Option(metavar="PERCENT", help="Exit with 1 if B is worse by more than that: 5%.")
    ] = None,
) -> None:
    """Compare saved results: ratios of throughput and latency, how certain they are, and a verdict.

    A is the base; every other one is compared with it. Several runs of a set-up are a folder.
    """
    with explained():
        limit, percentiles = limit_of(fail_above), percentiles_of(percentile, "--percentile")
        needs_numpy("compare")
        from sysbench_py.errors import UsageError

        if len(results) < 2:
            raise UsageError.fatal("compare needs two results or more: sysbench compare A.json B.json")
        found = [_files(path) for path in results]
        failed = False
        for path, files in zip(results[1:], found[1:], strict=True):
            failed |= _against(results[0], found[0], path, files, percentiles, paired, len(found) - 1, limit)
    if failed:
        raise typer.Exit(1)


def needs_numpy(tool: str) -> None:
    """Raises UsageError where it is missing."""
    from importlib.util import find_spec

    from sysbench_py.errors import UsageError
    from sysbench_py.sinks.outputs import EXTRA

    if find_spec("numpy") is None:
        raise UsageError.fatal(f"{tool} needs the Python package numpy: pip install '{EXTRA}'")


def limit_of(text: str | None) -> float:
    """The share that `5%` or `5` is; infinite without one. Raises UsageError."""
    from sysbench_py.errors import UsageError

    if text is None:
        return math.inf
    try:
        percent = float(text.removesuffix("%"))
    except ValueError:
        percent = -1
    if not 0 <= percent < math.inf:
        raise UsageError.fatal(f"Invalid value for --fail-above: '{text}' (write for example 5%)")
    return percent / 100


def percentiles_of(text: str, option: str) -> tuple[float, ...]:
    """Raises UsageError for what is no percentage above 0."""
    from sysbench_py.errors import UsageError

    percents = []
    for item in filter(None, text.split(",")):
        try:
            percents.append(float(item))
        except ValueError:
            percents.append(0)
        if not 0 < percents[-1] <= 100:
            raise UsageError.fatal(f"Invalid value for {option}: '{item}' (write for example 50,95,99.9)")
    return tuple(dict.fromkeys(percents))


def _files(path: Path) -> Files:
    """Raises UsageError for a folder without results."""
    from sysbench_py.errors import UsageError
    from sysbench_py.experiments.sweep import PLAN_FILE, SweepFolder

    if not path.is_dir():
        return {"": [path]}
    if (path / PLAN_FILE).exists():
        folder = SweepFolder.open(path)
        found: Files = {folder.plan.label(values): files for values, files in folder.files().items()}
    else:
        files = sorted(path.glob("*.json"))
        found = {"": files} if files else {}
    if not found:
        raise UsageError.fatal(f"'{path}' has no results that --output=json has written")
    return found


def _against(
    a: Path,
    a_files: Files,
    b: Path,
    b_files: Files,
    percentiles: Sequence[float],
    paired: bool,
    others: int,
    limit: float,
) -> bool:
    """Print a comparison; returns whether it asks for an exit status of 1."""
    from sysbench_py.errors import UsageError
    from sysbench_py.experiments.comparison import compare

    common = [where for where in a_files if where in b_files]
    if not common:
        raise UsageError.fatal(f"'{a}' and '{b}' have no point in common")
    pairs = {}
    for where in common:
        alone = len(a_files[where]) == len(b_files[where]) == 1
        pairs[where] = (_side(a, a_files[where], intervals=alone), _side(b, b_files[where], intervals=alone))
    lines = compare(pairs, percentiles, paired=paired, others=others)
    typer.echo(heading(pairs))
    failed = conclude(lines, limit)
    for path, other, other_files, files in ((b, a, a_files, b_files), (a, b, b_files, a_files)):
        missing = [where for where in other_files if where not in files]
        if missing:
            typer.echo(f"FATAL: '{path}' has no result of {'; '.join(missing)}, which '{other}' has", err=True)
            failed = True
    return failed


def _side(path: Path, files: Sequence[Path], *, intervals: bool) -> Side:
    from sysbench_py.errors import UsageError
    from sysbench_py.experiments.comparison import Side
    from sysbench_py.sinks.json_document import read_file

    runs = [read_file(file, intervals=intervals) for file in files]
    for file, run in zip(files, runs, strict=True):
        if run.exit_status:
            raise UsageError.fatal(f"'{file}' is of a run that did not end well (exit status {run.exit_status})")
    return Side(str(path), runs)


def heading(pairs: Mapping[str, tuple[Side, Side]]) -> str:
    """Who is A and who is B, and how they differ."""
    from sysbench_py.experiments.comparison import differences

    sides = list(pairs.values())
    lines = []
    for letter, number in (("A", 0), ("B", 1)):
        runs = sum(len(pair[number].runs) for pair in sides)
        lines.append(f"{letter}: {sides[0][number].name} ({runs} run{'s' if runs > 1 else ''})")
    different = differences(sides[0][0].runs[0].setup, sides[0][1].runs[0].setup)
    if different:
        lines.append(f"set-up, A / B: {'; '.join(different)}")
    return "\n".join(lines) + "\n"


def conclude(lines: Sequence[Line], limit: float) -> bool:
    """Print the ratios and what they say; returns whether there is a regression above the limit."""
    from sysbench_py.experiments.comparison import regressions, table, verdict
    from sysbench_py.experiments.layout import relative

    typer.echo(f"{table(lines)}\n\n{verdict(lines)}")
    found = regressions(lines, limit)
    unsure = [line for line in lines if line not in found and line.largest_loss > limit]
    if found:
        typer.echo(f"worse by more than {limit * 100:.4g}%: {', '.join(map(str, found))}")
    elif unsure:
        names = ", ".join(f"{line.title} {relative(line.worst)}" for line in unsure)
        typer.echo(f"not excluded, but not shown either: {names}; more runs or longer ones would tell")
    return bool(found)
