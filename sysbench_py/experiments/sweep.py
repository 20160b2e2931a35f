"""A sweep: a test at every value of an option, or of two, several times each, in random order.

Its folder has `sweep.json`, which is the plan, a JSON result for each run that ended well, and what others printed.
"""

from __future__ import annotations

import itertools
import json
import os
import random
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from sysbench_py.api import CommandFailed
from sysbench_py.errors import UsageError
from sysbench_py.experiments.children import TestLine
from sysbench_py.experiments.layout import shown
from sysbench_py.experiments.values import number
from sysbench_py.sinks.files import WholeFile
from sysbench_py.sinks.json_document import read_file
from sysbench_py.stats.model import NS_PER_MS
from sysbench_py.stats.result import RunResult
from sysbench_py.stats.serialise import from_data, to_data

PLAN_FILE = "sweep.json"
# Goes up when what is in a plan changes its meaning.
PLAN_VERSION = 1
TEST_AXIS = "test"

Values = tuple[str, ...]
Runs = Mapping[Values, Sequence[RunResult]]


@dataclass(frozen=True, kw_only=True, slots=True)
class Axis:
    """An option, by its name as typed, or `test`, and the values that it takes in turn."""

    name: str
    values: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class SweepPlan:
    """What is to be run. `options` are those that stay; `before` and `after` are the commands around all runs.

    `done` are the commands of these that have been done. `secrets` are names of options that are needed too, but
    are not to be written down.
    """

    plan_version: int = PLAN_VERSION
    test: str
    options: tuple[str, ...]
    axes: tuple[Axis, ...]
    repeats: int
    seed: int
    before: tuple[str, ...]
    after: tuple[str, ...]
    secrets: tuple[str, ...] = ()
    done: tuple[str, ...] = ()

    def points(self) -> list[Values]:
        """All combinations of values, in their order."""
        return list(itertools.product(*(axis.values for axis in self.axes)))

    def order(self) -> list[tuple[Values, int]]:
        """All runs as (values, number from 1): every point once, shuffled, then every point a second time, and so on.

        So what changes slowly on the machine meets all points alike.
        """
        runs = []
        for number_ in range(1, self.repeats + 1):
            block = self.points()
            random.Random(f"{self.seed}/{number_}").shuffle(block)
            runs += [(values, number_) for values in block]
        return runs

    def label(self, values: Values) -> str:
        """A point as people call it: `threads=4, rate=100`."""
        return ", ".join(f"{axis.name}={value}" for axis, value in zip(self.axes, values, strict=True))

    def line(self, values: Values) -> TestLine:
        """The command line of a point."""
        test, options = self.test, list(self.options)
        for axis, value in zip(self.axes, values, strict=True):
            if axis.name == TEST_AXIS:
                test = value
            else:
                options.append(f"--{axis.name}={value}")
        return TestLine(test, tuple(options), self.label(values))

    def common_line(self) -> TestLine:
        """That of the commands around all runs: the first of words, the largest of numbers.

        But not more threads than there are CPUs: a server need not take as many as the largest point has.
        """
        return self.line(tuple(map(_common_value, self.axes)))


def _common_value(axis: Axis) -> str:
    numbers = [(number(value), value) for value in axis.values]
    known = [(size, value) for size, value in numbers if size is not None]
    if len(known) < len(numbers):
        return axis.values[0]
    size, value = max(known)
    return value if axis.name != "threads" else str(min(int(size), len(os.sched_getaffinity(0))))


class SweepFolder:
    """Where the plan and the results of a sweep are."""

    def __init__(self, path: Path, plan: SweepPlan) -> None:
        self.path = path
        self.plan = plan
        self._numbers = {values: number_ for number_, values in enumerate(plan.points(), 1)}

    @classmethod
    def create(cls, path: Path, plan: SweepPlan) -> SweepFolder:
        """A folder that there was not. Raises UsageError."""
        try:
            path.mkdir(parents=True)
        except FileExistsError:
            advice = f"--resume={path} goes on with it" if (path / PLAN_FILE).exists() else "name another one"
            raise UsageError.fatal(f"--folder={path}: it exists", advice=advice) from None
        except OSError as error:
            raise UsageError.fatal(f"--folder={path}: {error.strerror}") from None
        folder = cls(path, plan)
        folder.save_plan()
        return folder

    @classmethod
    def open(cls, path: Path) -> SweepFolder:
        """One that there is. Raises UsageError."""
        file = path / PLAN_FILE
        try:
            data = json.loads(file.read_bytes())
            version = data.get("plan_version") if isinstance(data, dict) else None
            if version != PLAN_VERSION:
                raise ValueError(f"plan_version is {version}, and this program knows {PLAN_VERSION}")
            return cls(path, from_data(SweepPlan, data))
        except OSError as error:
            raise UsageError.fatal(f"'{path}' is no folder of a sweep: {PLAN_FILE}: {error.strerror}") from None
        except ValueError as error:
            raise UsageError.fatal(f"'{file}' is no plan of a sweep: {error}") from None

    def save_plan(self) -> None:
        """Write the plan. Raises OSError."""
        self.write(PLAN_FILE, json.dumps(to_data(self.plan), indent=1) + "\n")

    def write(self, name: str, content: str | bytes) -> None:
        """Write a file of that name, whole. Raises OSError."""
        WholeFile(str(self.path / name)).write_bytes(content.encode() if isinstance(content, str) else content)

    def mark_done(self, command: str) -> None:
        """A command around all runs has been done. Raises OSError."""
        self.plan = replace(self.plan, done=(*self.plan.done, command))
        self.save_plan()

    def result_file(self, values: Values, run: int) -> Path:
        """Where the result of a run is, once there is one."""
        label = re.sub(r"[^\w.=+-]+", "_", self.plan.label(values))[:100]
        return self.path / f"{self._numbers[values]:03d}-{label}-run{run}.json"

    def failure_file(self, values: Values, run: int) -> Path:
        """Where the output of a run that failed is."""
        return self.result_file(values, run).with_suffix(".failed.txt")

    def missing(self) -> list[tuple[Values, int]]:
        """The runs that have no result, in their order."""
        return [(values, run) for values, run in self.plan.order() if not self.result_file(values, run).exists()]

    def files(self) -> dict[Values, list[Path]]:
        """The results of each point, of those that have any."""
        numbers = range(1, self.plan.repeats + 1)
        found = {
            values: [file for number_ in numbers if (file := self.result_file(values, number_)).exists()]
            for values in self.plan.points()
        }
        return {values: files for values, files in found.items() if files}

    def runs(self) -> dict[Values, list[RunResult]]:
        """The results of each point, without intervals. Raises UsageError."""
        return {values: [read_file(file, intervals=False) for file in files] for values, files in self.files().items()}


def conduct(
    folder: SweepFolder, given: Sequence[str], tell: Callable[[str], None], keep: Callable[[Runs], None]
) -> int:
    """Do what is missing; returns how many runs failed. `given` are options to add to each command line.

    `tell` gets a line a run, and `keep` all results after each. Raises CommandFailed for a command before the runs,
    UsageError, OSError, and Interrupted.
    """
    _around(folder, folder.plan.before, given, tell)
    runs = folder.runs()
    order = folder.plan.order()
    failed = 0
    for values, run in folder.missing():
        line = folder.plan.line(values)
        line = replace(line, options=(*line.options, *given))
        where = f"[{order.index((values, run)) + 1:>{len(str(len(order)))}}/{len(order)}] {line.title}, run {run}"
        file, failure = folder.result_file(values, run), folder.failure_file(values, run)
        try:
            line.run(file)
        except CommandFailed as error:
            failed += 1
            WholeFile(str(failure)).write(error.output)
            tell(f"{where} failed: {error} (see {failure})")
            continue
        failure.unlink(missing_ok=True)
        result = read_file(file, intervals=False)
        runs.setdefault(values, []).append(result)
        keep(runs)
        tell(f"{where}: {_headline(result)}")
    if not failed:
        _around(folder, folder.plan.after, given, tell)
    return failed


def _around(folder: SweepFolder, commands: Sequence[str], given: Sequence[str], tell: Callable[[str], None]) -> None:
    line = folder.plan.common_line()
    for command in commands:
        if command not in folder.plan.done:
            tell(f"{command} ...")
            line.command(command, *given)
            folder.mark_done(command)


def _headline(result: RunResult) -> str:
    total = result.total
    parts = [f"{total.events_per_s:,.2f} {'transactions' if total.sql else 'events'}/s"]
    parts += [f"p{each} {shown(each.latency_ns / NS_PER_MS)} ms" for each in total.latency.percentiles]
    if total.counters.errors:
        parts.append(f"{total.errors_per_s:,.2f} errors/s")
    return ", ".join(parts)
