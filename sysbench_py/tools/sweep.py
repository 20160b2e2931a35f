"""`sysbench sweep TEST ...`: a test at every value of an option or two, as table, CSV and picture."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sysbench_py.tools.explained import explained

if TYPE_CHECKING:
    from sysbench_py.experiments.curve import Curve
    from sysbench_py.experiments.sweep import Runs, SweepFolder, SweepPlan

FORMS = ("png", "svg", "html")
MOST_AXES = 2
# The order of all runs is made before the first.
MOST_REPEATS = 1000
OWN_OPTIONS = ("repeats", "sweep-seed", "over", "folder", "resume", "pictures")


def sweep(
    words: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="TEST --OPTION=VALUES... [prepare] run [cleanup]",
            help="A command line in which an option or two have several values: 1,2,8 or 1..16 or 10..100+10 or "
            "1..64*2. TEST may be several, separated by commas.",
        ),
    ] = None,
    repeats: Annotated[int, typer.Option(help="Runs at each point.")] = 3,
    sweep_seed: Annotated[int, typer.Option(help="Fixes the random order of the runs.")] = 1,
    over: Annotated[str, typer.Option(metavar="OPTION[,OPTION]", help="Sweep over these, be their values words.")] = "",
    folder: Annotated[Path | None, typer.Option(help="A new folder for the results.")] = None,
    resume: Annotated[Path | None, typer.Option(help="Go on with the sweep in this folder; no other words.")] = None,
    pictures: Annotated[str | None, typer.Option(metavar="FORMAT,...", help="png, svg, html, or nothing.")] = None,
) -> None:
    """Run a test at several values of an option, or of two, several times each.

    Every run is a process of its own, in random order, with a warm-up. The folder gets a JSON result a run, CSV and
    pictures. An interrupted sweep goes on with --resume.
    """
    with explained():
        forms = _forms(pictures)
        if resume is not None:
            target, given = _opened(resume, words or [])
        else:
            target, given = _created(words or [], repeats, sweep_seed, over, folder)
        _conduct(target, given, forms)


def _forms(text: str | None) -> tuple[str, ...]:
    """Formats of pictures. Raises UsageError if one is unknown, or cannot be drawn although it was asked for."""
    from importlib.util import find_spec

    from sysbench_py.errors import UsageError
    from sysbench_py.sinks.outputs import EXTRA

    forms = FORMS if text is None else tuple(filter(None, text.split(",")))
    for form in forms:
        if form not in FORMS:
            raise UsageError.fatal(f"Invalid value for --pictures: '{form}' (use {', '.join(FORMS)})")
    if forms and find_spec("matplotlib") is None:
        missing = f"pictures need the Python package matplotlib: pip install '{EXTRA}'"
        if text is not None:
            raise UsageError.fatal(f"--pictures={text}: {missing}")
        typer.echo(f"No pictures: {missing}", err=True)
        return ()
    return forms


def _created(
    words: Sequence[str], repeats: int, seed: int, over: str, path: Path | None
) -> tuple[SweepFolder, tuple[str, ...]]:
    from sysbench_py.experiments.sweep import SweepFolder
    from sysbench_py.sinks.outputs import stem_for
    from sysbench_py.tools.experiment_line import secrets_of, split

    plan = plan_of(words, repeats, seed, over)
    given = secrets_of(split("sweep", words).options)
    named = path or Path(stem_for(plan.test).replace("sysbench-", "sysbench-sweep-", 1))
    return SweepFolder.create(named, plan), given


def _opened(path: Path, words: Sequence[str]) -> tuple[SweepFolder, tuple[str, ...]]:
    from sysbench_py.errors import UsageError
    from sysbench_py.experiments.sweep import SweepFolder
    from sysbench_py.options import option_key
    from sysbench_py.tools.experiment_line import name_of

    folder = SweepFolder.open(path)
    wanted = {option_key(name): name for name in folder.plan.secrets}
    for word in words:
        if not word.startswith("--") or option_key(name_of(word)) not in wanted:
            raise UsageError.fatal(f"--resume={path} takes no '{word}': the sweep goes on as it began")
    typed = {option_key(name_of(word)) for word in words}
    for key, name in wanted.items():
        if key not in typed and folder.missing():
            raise UsageError.fatal(f"--resume={path}: passwords are not kept, give --{name}=... again")
    return folder, tuple(words)


def plan_of(words: Sequence[str], repeats: int, seed: int, over: str) -> SweepPlan:
    """The plan that a command line asks for, every value of it checked. Raises UsageError."""
    from sysbench_py.errors import UsageError
    from sysbench_py.experiments.children import with_warmup
    from sysbench_py.experiments.sweep import TEST_AXIS, Axis, SweepPlan
    from sysbench_py.options import option_key
    from sysbench_py.tools.experiment_line import Checker, first_value, name_of, secrets_of, split, tests_of

    if not 1 <= repeats <= MOST_REPEATS:
        raise UsageError.fatal(f"Invalid value for --repeats: {repeats} (use 1 to {MOST_REPEATS})")
    line = split("sweep", words)
    tests = tests_of(line.test)
    chosen = {option_key(name) for name in over.split(",") if name}
    commands = (*line.before, *line.after)
    keys = {option_key(name_of(option)): option for option in line.options}
    with _advising_over({key: option for key, option in keys.items() if first_value(option, chosen) == option}):
        checkers = [Checker(test, line.options, commands, OWN_OPTIONS, several=chosen) for test in tests]
    for key in sorted(chosen - keys.keys()):
        raise UsageError(f"--over={over}: there is no --{key.replace('_', '-')}=VALUES to sweep over", about=key)
    swept = {key: option for key, option in keys.items() if (key in chosen if chosen else checkers[0].is_swept(option))}
    axes = [Axis(name=name_of(option), values=checkers[0].values(option)) for option in swept.values()]
    if len(tests) > 1:
        axes.append(Axis(name=TEST_AXIS, values=tests))
    if not axes:
        checkers[0].check(line.options)
        raise UsageError(
            "sweep has nothing to sweep over: give an option several values, as in --threads=1,2,4..64, "
            "and name it with --over if its values are texts or lists",
            advice=_over(keys.values()),
        )
    if len(axes) > MOST_AXES:
        names = ", ".join(axis.name for axis in axes)
        raise UsageError(f"sweep takes one or two options with several values, and has {len(axes)}: {names}")
    rest = tuple(option for option in line.options if option_key(name_of(option)) not in swept)
    with _advising_over({key: option for key, option in keys.items() if key not in swept}):
        for checker in checkers:
            first = [f"--{axis.name}={axis.values[0]}" for axis in axes if axis.name != TEST_AXIS]
            for axis in axes:
                for value in axis.values:
                    checker.check([*rest, *first, *([f"--{axis.name}={value}"] if axis.name != TEST_AXIS else [])])
    secrets = secrets_of(rest)
    return SweepPlan(
        test=tests[0],
        options=with_warmup(tuple(option for option in rest if option not in secrets)),
        axes=tuple(axes),
        repeats=repeats,
        seed=seed,
        before=line.before,
        after=line.after,
        secrets=tuple(map(name_of, secrets)),
    )


@contextmanager
def _advising_over(options: Mapping[str, str]) -> Iterator[None]:
    """Errors about the value of one of these, by key, name --over if it may be several values."""
    from sysbench_py.errors import UsageError

    try:
        yield
    except UsageError as error:
        if error.about in options:
            error.advice = _over([options[error.about]]) or error.advice
        raise


def _over(options: Iterable[str]) -> str:
    """What to add for the first of the options that may have several values."""
    from sysbench_py.tools.experiment_line import may_be_swept, name_of

    several = [name_of(option) for option in options if may_be_swept(option)]
    return f"add --over={several[0]} to sweep over its values" if several else ""


def _conduct(folder: SweepFolder, given: Sequence[str], forms: Sequence[str]) -> None:
    from sysbench_py.experiments.children import Interrupted, interruptible
    from sysbench_py.experiments.curve import Curve, points_csv, runs_csv, table
    from sysbench_py.experiments.sweep import conduct

    def keep(runs: Runs) -> None:
        folder.write("points.csv", points_csv(Curve.of(folder.plan, runs)))
        folder.write("runs.csv", runs_csv(folder.plan, runs))

    runs_in_all = len(folder.plan.order())
    typer.echo(f"{runs_in_all} runs, results in {folder.path}")
    with interruptible():
        try:
            failed = conduct(folder, given, typer.echo, keep)
        except Interrupted as signal:
            keep(folder.runs())
            done = runs_in_all - len(folder.missing())
            again = f"sysbench sweep --resume={folder.path} goes on"
            typer.echo(f"interrupted by {signal}: {done} of {runs_in_all} runs are done; {again}", err=True)
            raise typer.Exit(signal.exit_status) from None
    runs = folder.runs()
    if runs:
        keep(runs)
        curve = Curve.of(folder.plan, runs)
        typer.echo(f"\n{table(curve)}")
        names = ["points.csv", "runs.csv", *_draw(folder, curve, runs, forms)]
        typer.echo(f"\n{folder.path}: {', '.join(names)}")
    if failed:
        again = f"sysbench sweep --resume={folder.path} tries them again"
        left = f", and {', '.join(folder.plan.after)} is left out" if folder.plan.after else ""
        typer.echo(f"FATAL: {failed} of {runs_in_all} runs failed{left}; {again}", err=True)
        raise typer.Exit(1)


def _draw(folder: SweepFolder, curve: Curve, runs: Runs, forms: Sequence[str]) -> list[str]:
    """Draw the pictures; returns their names."""
    if not forms:
        return []
    from sysbench_py.experiments.pictures import draw

    setup = next(iter(runs.values()))[0].setup
    for form in forms:
        folder.write(f"sweep.{form}", draw(curve, setup, form))
    return [f"sweep.{form}" for form in forms]
