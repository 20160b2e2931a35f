"""The command of all benchmarks: which rows, how often, and the table."""

from __future__ import annotations

import argparse
import resource
import statistics
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path

from benchmarks.ending import ends_with_its_reader
from benchmarks.machine import description
from benchmarks.measure import Metric, RunFailed, run
from benchmarks.row import Row
from benchmarks.site import Site


def parse(description: str, arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--reference", default="/usr/bin/sysbench", metavar="COMMAND", help="default: %(default)s")
    parser.add_argument(
        "--ours", default=f"{sys.executable} -m sysbench_py", metavar="COMMAND", help="default: %(default)s"
    )
    parser.add_argument("--pairs", type=_positive, default=7, help="pairs of runs for each row [%(default)s]")
    parser.add_argument("--time", type=_positive, default=10, help="seconds of each timed run [%(default)s]")
    parser.add_argument("--quick", action="store_true", help="a look only: --pairs=3 --time=2")
    parser.add_argument("--list", action="store_true", help="print the names of the rows, and run nothing")
    parser.add_argument("words", nargs="*", metavar="WORD", help="only rows whose name contains a WORD")
    options = parser.parse_args(arguments)
    if options.quick:
        options.pairs, options.time = 3, 2
    return options


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise ValueError(text)
    return number


def selected(rows: Iterable[Row], words: Sequence[str]) -> list[Row]:
    """Rows whose names contain one of the words, in either case; all without words. Exits where a word has none.

    A word that is a whole name selects that row alone.
    """
    rows = list(rows)
    names = [row.name.lower() for row in rows]
    chosen = set() if words else set(names)
    for word in map(str.lower, words):
        found = [word] if word in names else [name for name in names if word in name]
        if not found:
            sys.exit(f"no row contains {word!r} (see --list)")
        chosen.update(found)
    return [row for row in rows if row.name.lower() in chosen]


def measure(row: Row, site: Site, pairs: int) -> Iterator[str]:
    """Run theirs, ours, theirs, ours ...; the lines of the table. Raises RunFailed."""
    theirs, ours = site.command(row.theirs), site.command(row.ours)
    values: dict[Metric, list[tuple[float, float]]] = {metric: [] for metric in row.figures}
    for _ in range(pairs):
        pair = []
        for command in theirs, ours:
            if row.before:
                run(site.command(row.before), site.directory)
            pair.append(run(command, site.directory))
        for metric, found in values.items():
            found.append((metric.of(pair[0]), metric.of(pair[1])))
    for metric, goal in row.figures.items():
        yield line(row, metric, goal, values[metric])


def line(row: Row, metric: Metric, goal: float | None, pairs: Sequence[tuple[float, float]]) -> str:
    """Medians of both, and the median of the pairs' ratios with the lowest and the highest."""
    ratios = [ours / theirs for theirs, ours in pairs]
    ratio = statistics.median(ratios)
    cells = [
        row.name,
        metric.name,
        row.against,
        _readable(statistics.median(theirs for theirs, _ in pairs)),
        _readable(statistics.median(ours for _, ours in pairs)),
        f"{ratio:.3f} ({min(ratios):.2f}..{max(ratios):.2f})",
    ]
    if goal is None:
        cells += ["", ""]
    else:
        met = ratio >= goal if metric.more_is_better else ratio <= goal
        cells += [f"at {'least' if metric.more_is_better else 'most'} {goal:g}", "yes" if met else "no"]
    return f"| {' | '.join(cells)} |"


def _readable(value: float) -> str:
    return f"{value:,.0f}" if value >= 1000 else f"{value:.3g}"


@ends_with_its_reader()
def main(rows: Iterable[Row], about: str, arguments: Sequence[str] | None = None) -> None:
    """Print the table of the rows that the command line selects. The exit status is 1 if one could not be run."""
    options = parse(about, arguments)
    chosen = selected(rows, options.words)
    if options.list:
        print(*(row.name for row in chosen), sep="\n")
        return
    # A connection takes a descriptor, and some rows have thousands.
    resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
    try:
        print(description(options.reference, options.ours))
    except (RunFailed, OSError) as why:
        sys.exit(str(why))
    print(f"Medians of {options.pairs} interleaved pairs; a timed run takes {options.time} s.\n")
    print("| work | figure | against | theirs | ours | ours to theirs (lowest..highest) | goal | met |")
    print("| --- | --- | --- | ---: | ---: | ---: | --- | --- |", flush=True)
    failed = False
    with ExitStack() as stack:
        directory = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="sb-")))
        site = Site(options.reference, options.ours, options.time, directory, stack)
        for row in chosen:
            print(f"{row.name} ...", file=sys.stderr, flush=True)
            try:
                print(*measure(row, site, options.pairs), sep="\n", flush=True)
            except RunFailed as why:
                failed = True
                print(why, file=sys.stderr)
                print(f"| {row.name} | failed | {row.against} | | | | | |", flush=True)
    sys.exit(failed)
