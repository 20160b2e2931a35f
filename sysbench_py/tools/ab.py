"""`sysbench ab TEST ...`: two set-ups in turn, A B B A, and which is better."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sysbench_py.tools.compare import conclude, heading, limit_of, needs_numpy, percentiles_of
from sysbench_py.tools.explained import explained

if TYPE_CHECKING:
    from sysbench_py.experiments.children import TestLine

OWN_OPTIONS = ("a", "b", "pairs", "folder", "compare-percentile", "fail-above")
# Of options of drivers: those that say which database it is.
_PLACES = ("_host", "_port", "_socket", "_db")


def ab(
    words: Annotated[
        list[str],
        typer.Argument(
            metavar="TEST --OPTION=VALUE... [prepare] run [cleanup]", help="What both sides have in common."
        ),
    ],
    a: Annotated[str, typer.Option("--a", metavar="'WORDS'", help="Options of side A alone, or another test.")] = "",
    b: Annotated[str, typer.Option("--b", metavar="'WORDS'", help="Those of side B.")] = "",
    pairs: Annotated[int, typer.Option(help="Runs of each side.")] = 5,
    folder: Annotated[Path | None, typer.Option(help="A new folder for the results.")] = None,
    percentile: Annotated[str, typer.Option("--compare-percentile", metavar="N,...", help="Of the latency.")] = (
        "50,95,99"
    ),
    fail_above: Annotated[
        str | None, typer.Option(metavar="PERCENT", help="Exit with 1 if B is worse by more than that: 5%.")
    ] = None,
) -> None:
    """Run two set-ups in turn and compare them: servers, options or scripts.

    Every run is a process of its own, with a warm-up. The turns are A B B A, so that neither side is always the first.
    """
    with explained():
        limit, percentiles = limit_of(fail_above), percentiles_of(percentile, "--compare-percentile")
        needs_numpy("ab")
        from sysbench_py.errors import UsageError
        from sysbench_py.experiments.comparison import FEWEST_PAIRS
        from sysbench_py.tools.experiment_line import split

        if pairs < FEWEST_PAIRS:
            raise UsageError.fatal(
                f"Invalid value for --pairs: {pairs} (must be at least {FEWEST_PAIRS}: fewer give no interval)"
            )
        common = split("ab", words)
        if a == b:
            raise UsageError("ab compares two set-ups: give --a='...' or --b='...', for example --b='--threads=8'")
        commands = [*common.before, *common.after]
        sides = {
            "a": _side(common.test, common.options, a, commands),
            "b": _side(common.test, common.options, b, commands),
        }
        where = _new_folder(folder, common.test)
        missing = _run_all(sides, pairs, where, common.before, common.after)
        failed = _compare(where, percentiles, limit)
        if missing:
            raise UsageError.fatal(f"{_of_pairs(missing, pairs)} not complete; what was printed is in {where}")
    if failed:
        raise typer.Exit(1)


def _side(test: str, options: Sequence[str], text: str, commands: Sequence[str]) -> TestLine:
    """The line of a side, checked. Raises UsageError."""
    from sysbench_py.errors import UsageError
    from sysbench_py.experiments.children import TestLine, with_warmup
    from sysbench_py.tools.experiment_line import Checker

    try:
        words = shlex.split(text)
    except ValueError as error:
        raise UsageError(f"'{text}' cannot be read: {error}") from None
    names = [word for word in words if not word.startswith("--")]
    if len(names) > 1:
        raise UsageError(f"'{text}' has more than one test: {' and '.join(names)}")
    test = names[0] if names else test
    own = (*options, *(word for word in words if word.startswith("--")))
    Checker(test, own, commands, OWN_OPTIONS).check(own)
    return TestLine(test, with_warmup(own), text or "no options of its own")


def _new_folder(path: Path | None, test: str) -> Path:
    from sysbench_py.errors import UsageError
    from sysbench_py.sinks.outputs import stem_for

    path = path or Path(stem_for(test).replace("sysbench-", "sysbench-ab-", 1))
    try:
        for side in ("a", "b"):
            (path / side).mkdir(parents=True)
    except FileExistsError:
        raise UsageError.fatal(f"--folder={path}: it exists (name another one)") from None
    return path


def _run_all(
    sides: Mapping[str, TestLine], pairs: int, where: Path, before: Sequence[str], after: Sequence[str]
) -> int:
    """Do all commands; returns how many pairs are not complete."""
    from sysbench_py.experiments.children import Interrupted, interruptible
    from sysbench_py.experiments.comparison import FEWEST_PAIRS

    typer.echo(f"{2 * pairs} runs, results in {where}")
    done = 0
    with interruptible():
        try:
            _around(sides, before)
            for pair in range(1, pairs + 1):
                done += _run_pair(sides, pair, where)
            _around(sides, after)
        except Interrupted as signal:
            again = f"; sysbench compare --paired {where}/a {where}/b compares them" if done >= FEWEST_PAIRS else ""
            typer.echo(f"interrupted by {signal}: {_of_pairs(done, pairs)} done{again}", err=True)
            raise typer.Exit(signal.exit_status) from None
    return pairs - done


def _of_pairs(some: int, pairs: int) -> str:
    return f"{some} of {pairs} pairs {'is' if some == 1 else 'are'}"


def _run_pair(sides: Mapping[str, TestLine], pair: int, where: Path) -> bool:
    """Run both sides; returns whether both ended well. If not, there is no result of the pair."""
    from sysbench_py.api import CommandFailed
    from sysbench_py.sinks.files import WholeFile
    from sysbench_py.sinks.json_document import read_file

    files = {side: where / side / f"{pair:03d}.json" for side in sides}
    complete = False
    try:
        for side in files if pair % 2 else reversed(files):
            sides[side].run(files[side])
            total = read_file(files[side], intervals=False).total
            rate = f"{total.events_per_s:,.2f} {'transactions' if total.sql else 'events'}/s"
            typer.echo(f"pair {pair}, {side.upper()}: {rate}")
        complete = True
    except CommandFailed as error:
        output = files[side].with_suffix(".failed.txt")
        WholeFile(str(output)).write(error.output)
        typer.echo(f"pair {pair}, {side.upper()} failed: {error} (see {output})")
    finally:
        if not complete:
            for file in files.values():
                file.unlink(missing_ok=True)
    return complete


def _around(sides: Mapping[str, TestLine], commands: Sequence[str]) -> None:
    """On side A, and on side B too if that is another database."""
    a, b = sides["a"], sides["b"]
    for command in commands:
        for line in (a, b) if _place(a) != _place(b) else (a,):
            typer.echo(f"{command} ...")
            line.command(command)


def _place(line: TestLine) -> dict[str, str]:
    """The options that say which database it is."""
    from sysbench_py.options import option_key
    from sysbench_py.tools.experiment_line import name_of, value_of

    options = {option_key(name_of(option)): value_of(option) for option in line.options}
    return {key: value for key, value in options.items() if key == "db_driver" or key.endswith(_PLACES)}


def _compare(where: Path, percentiles: Sequence[float], limit: float) -> bool:
    """Print the comparison; returns whether it asks for an exit status of 1."""
    from sysbench_py.errors import UsageError
    from sysbench_py.experiments.comparison import FEWEST_PAIRS, Side, compare
    from sysbench_py.sinks.json_document import read_file

    runs = {side: [read_file(file, intervals=False) for file in sorted((where / side).glob("*.json"))] for side in "ab"}
    if len(runs["a"]) < FEWEST_PAIRS:
        done = len(runs["a"])
        raise UsageError.fatal(
            f"{done} complete pair{' is' if done == 1 else 's are'} too few to give an interval, "
            f"it takes {FEWEST_PAIRS}: see {where}"
        )
    pair = {"": (Side(f"{where}/a", runs["a"]), Side(f"{where}/b", runs["b"]))}
    typer.echo(f"\n{heading(pair)}")
    return conclude(compare(pair, percentiles, paired=True), limit)
