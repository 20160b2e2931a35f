"""The outputs of `--output=FORMAT[:FILE]`: what there is, how they are opened, and what they are told.

A format's module has either `render(result)`, the text of a file that is written whole, or `head(setup)` and
`row(setup, stats)`, the texts of one that grows by an interval at a time.
"""

from __future__ import annotations

import importlib
import os
import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from types import ModuleType
from typing import Protocol

from sysbench_py.errors import UsageError
from sysbench_py.sinks.files import STDOUT, Target, target
from sysbench_py.stats.model import IntervalStats
from sysbench_py.stats.result import RunResult, Setup

EXTRA = "sysbench-py[report]"


@dataclass(frozen=True)
class Format:
    """A format; `module` is the name of its module in this package, `suffix` the end of its files' names.

    One that `listens` may have an address in place of a file: its module has `listener(place)`.
    """

    name: str
    suffix: str
    module: str
    grows: bool = False
    listens: bool = False

    def load(self) -> ModuleType:
        """The module, imported at the first call. Raises UsageError if a package that it needs is missing."""
        try:
            return importlib.import_module(f"sysbench_py.sinks.{self.module}")
        except ModuleNotFoundError as error:
            raise UsageError.fatal(
                f"--output={self.name} needs the Python package {error.name}: pip install '{EXTRA}'"
            ) from None

    def text(self, result: RunResult) -> str:
        """The whole text. Raises UsageError as `load`."""
        module = self.load()
        setup = result.setup
        if not self.grows:
            text: str = module.render(result)
            return text
        return "".join([module.head(setup), *(module.row(setup, stats) for stats in result.intervals)])


FORMATS = {
    each.name: each
    for each in (
        Format("json", "json", "json_document"),
        Format("jsonl", "jsonl", "json_lines", grows=True),
        Format("csv", "csv", "csv_rows", grows=True),
        Format("hdr", "hlog", "hdr_log", grows=True),
        Format("prometheus", "prom", "prometheus", listens=True),
        Format("html", "html", "html_page"),
    )
}


class Output(Protocol):
    """One output. All methods but `close` may raise OSError."""

    def open(self) -> None:
        """Before anything is run: see that it can be written."""

    def begin(self, setup: Setup) -> None:
        """The load is about to start."""

    def interval(self, stats: IntervalStats) -> None:
        """An interval has passed."""

    def end(self, result: RunResult) -> None:
        """The run is over."""

    def close(self) -> None:
        """There is nothing more to come."""


class _TextOutput:
    """What a format makes of a run, written to a target."""

    def __init__(self, form: Format, where: Target) -> None:
        self._form = form
        self._target = where

    def open(self) -> None:
        self._target.open()

    def begin(self, setup: Setup) -> None:
        self._target.begin()

    def interval(self, stats: IntervalStats) -> None:
        pass

    def end(self, result: RunResult) -> None:
        pass

    def close(self) -> None:
        self._target.close()


class WholeOutput(_TextOutput):
    """A text that is made of the whole result, at its end."""

    def end(self, result: RunResult) -> None:
        self._target.write(self._form.text(result))


class GrowingOutput(_TextOutput):
    """A text that grows by a piece an interval."""

    def begin(self, setup: Setup) -> None:
        super().begin(setup)
        self._setup = setup
        self._target.write(self._form.load().head(setup))

    def interval(self, stats: IntervalStats) -> None:
        self._target.write(self._form.load().row(self._setup, stats))


@dataclass(frozen=True)
class Request:
    """What one `--output` asks for. `place` is a file, `-` or an address; `named` tells whether the user chose it."""

    form: Format
    place: str
    named: bool

    @property
    def title(self) -> str:
        """As messages call it."""
        return f"--output={self.form.name}:{self.place}"

    def same_place(self, other: Request) -> bool:
        """Whether both would be written over each other; a file may have several names."""
        if STDOUT in (self.place, other.place):
            return self.place == other.place
        return os.path.realpath(self.place) == os.path.realpath(other.place)

    def output(self, *, saved: bool) -> Output:
        """Not open yet; of a `saved` result everything is there at once.

        Raises UsageError for a package that is missing, and for an address that is none or serves no purpose.
        """
        module = self.form.load()
        if self.form.listens:
            try:
                listener: Output | None = module.listener(self.place)
            except ValueError as error:
                raise UsageError.fatal(f"{self.title}: {error}") from None
            if listener is not None and saved:
                raise UsageError.fatal(
                    f"{self.title}: a saved result is not served at a port, but written to a file "
                    f"(--output={self.form.name}:FILE)"
                )
            if listener is not None:
                return listener
        grows = self.form.grows and not saved
        return (GrowingOutput if grows else WholeOutput)(self.form, target(self.place, whole=not grows))


def requests(texts: Sequence[str], stem: str) -> list[Request]:
    """What the values of `--output` ask for; files that are not named get `stem` and the ending of the format.

    Raises UsageError for a format that there is not, and for a place that two of them share.
    """
    found: list[Request] = []
    for text in texts:
        name, colon, place = text.partition(":")
        form = FORMATS.get(name)
        if form is None:
            raise UsageError.fatal(f"Invalid value for --output: '{text}' (use {_listed(list(FORMATS))})")
        if colon and not place:
            raise UsageError.fatal(f"Invalid value for --output: '{text}' (the name of the file is empty)")
        request = Request(form, place or f"{stem}.{form.suffix}", bool(place))
        for other in found:
            if other.same_place(request):
                raise UsageError.fatal(f"{other.title} and {request.title} exclude each other")
        found.append(request)
    return found


def stem_for(test: str) -> str:
    """What the files of a run are called if nobody says it, for example sysbench-cpu-20260214-153012."""
    name = re.sub(r"[^\w.+-]+", "_", test.rpartition("/")[2].removesuffix(".lua")) or "script"
    return f"sysbench-{name}-{datetime.now():%Y%m%d-%H%M%S}"


def _listed(names: list[str]) -> str:
    return f"{', '.join(names[:-1])} or {names[-1]}"


class Outputs:
    """The outputs of a run, opened all or none. One that fails later is given up, and the others go on."""

    def __init__(self, wanted: Sequence[Request], *, saved: bool = False) -> None:
        """Open them, for a run or for a saved result. Raises UsageError for the first that cannot be."""
        self.problems: list[str] = []
        self._open: list[tuple[Request, Output]] = []
        try:
            # Standard output last: messages about the others belong there.
            for request in sorted(wanted, key=lambda request: request.place == STDOUT):
                output = request.output(saved=saved)
                output.open()
                self._open.append((request, output))
        except OSError as error:
            self.close()
            raise UsageError.fatal(f"{request.title}: {_reason(error)}") from None
        except UsageError:
            self.close()
            raise

    def __bool__(self) -> bool:
        return bool(self._open)

    def begin(self, setup: Setup) -> None:
        """The load is about to start. Raises UsageError if an output cannot be written: nothing must be lost."""
        for request, output in self._open:
            try:
                output.begin(setup)
            except OSError as error:
                raise UsageError.fatal(f"{request.title}: {_reason(error)}") from None

    def interval(self, stats: IntervalStats) -> None:
        """An interval has passed."""
        for request, output in list(self._open):
            try:
                output.interval(stats)
            except OSError as error:
                self._give_up(request, output, error)

    def end(self, result: RunResult) -> list[str]:
        """The run is over; returns the names of the files that the user did not choose."""
        chosen_here = []
        for request, output in list(self._open):
            try:
                output.end(result)
            except OSError as error:
                self._give_up(request, output, error)
                continue
            if not request.named:
                chosen_here.append(request.place)
        return chosen_here

    def close(self) -> None:
        """Let go of all that are still open."""
        for _, output in self._open:
            output.close()
        self._open.clear()

    def _give_up(self, request: Request, output: Output, error: OSError) -> None:
        self.problems.append(f"{request.title}: {_reason(error)}")
        self._open.remove((request, output))
        with suppress(OSError):
            output.close()


def _reason(error: OSError) -> str:
    return error.strerror or str(error)
