"""The slap test: for each engine and number of clients, so many runs, each on tables of its own."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping

from sysbench_py import core
from sysbench_py.builtin import Runs
from sysbench_py.builtin.slap import report
from sysbench_py.builtin.slap.conductor import Conductor, StepFailed
from sysbench_py.builtin.slap.options import Settings, read_settings
from sysbench_py.builtin.slap.script import Script
from sysbench_py.drivers import find_driver
from sysbench_py.errors import ExitStatus, UsageError
from sysbench_py.log import FATAL, NOTICE, log
from sysbench_py.options import OptionSet
from sysbench_py.plan import Plan
from sysbench_py.sinks import text
from sysbench_py.sinks.files import append

DEFAULT_PERCENTILES = (50.0, 95.0, 99.0)


class SlapTest:
    """The test; its options are read when it runs."""

    commands: Mapping[str, Callable[[], ExitStatus]] = {}

    def __init__(self, options: OptionSet, plan: Plan) -> None:
        self._options = options
        percentiles = plan.percentiles if options.typed("percentile") else DEFAULT_PERCENTILES
        # What ends a run is that its queries are done.
        self._plan = plan._replace(percentiles=percentiles, histogram=False, events_limit=0, time_limit_s=0)
        self._histogram = plan.histogram

    def conduct(self, runs: Runs) -> ExitStatus:
        """Raises UsageError for options that make no sense, and for a schema that is there already."""
        settings = read_settings(self._options)
        driver = find_driver(self._plan.db_driver)
        script = Script(settings, driver.name, self._plan.seed)
        if settings.only_print:
            return _print_all(script)
        if runs.recorded and settings.runs > 1:
            raise UsageError.fatal(
                "--output takes the results of one run", about="output", advice="use one step and --iterations=1"
            )
        if driver.name == "mysql" and (settings.makes_schema or settings.create_schema):
            # None before there is one; without tables to make, the one that is named.
            self._options.set("mysql-db", "" if settings.makes_schema else settings.create_schema)
        driver.load().setup(self._options)
        core.db_setup(driver.name, self._plan.db_reconnect_timeout_s)
        _append(settings.csv, "")
        runs.between()
        try:
            conductor = Conductor(settings, script, self._plan, runs)
        except core.SqlError as error:
            log(FATAL, f"cannot connect: {error}")
            return ExitStatus.ERROR
        try:
            for engine in settings.engines:
                for clients in settings.concurrency:
                    self._report(settings, conductor.step(engine, clients))
        except StepFailed as failure:
            return failure.status
        return ExitStatus.OK

    def _report(self, settings: Settings, step: report.Step) -> None:
        if self._histogram:
            for message in text.histogram_messages(step.latency.histogram):
                log(NOTICE, message)
        if settings.csv:
            _append(settings.csv, report.csv_row(step))
        elif not settings.silent:
            core.log_raw(os.fsencode(report.block(step, details=self._plan.verbosity >= NOTICE)))


def _print_all(script: Script) -> ExitStatus:
    for statement in script.everything():
        core.log_raw(os.fsencode(f"{statement};\n"))
        if core.output_failed():
            break
    return ExitStatus.OK


def _append(csv: str, line: str) -> None:
    """Add a line to the file of --csv, where `-` is standard output. Raises UsageError if that is not possible."""
    if csv == "-":
        core.log_raw(os.fsencode(line))
    elif csv:
        try:
            append(csv, line)
        except OSError as error:
            raise UsageError.fatal(f"Cannot write --csv '{csv}': {error.strerror}", about="csv") from None
