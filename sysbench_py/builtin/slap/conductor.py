"""The iterations of a step: make the tables, run the clients, drop what was made."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from sysbench_py import core
from sysbench_py.builtin import Runs
from sysbench_py.builtin.slap.dialects import Rows
from sysbench_py.builtin.slap.options import Engine, Settings
from sysbench_py.builtin.slap.report import Step
from sysbench_py.builtin.slap.script import LIST_KEYS, Script
from sysbench_py.builtin.slap.workload import SlapWorkload
from sysbench_py.errors import ExitStatus
from sysbench_py.log import DEBUG, FATAL, INFO, log
from sysbench_py.plan import Plan
from sysbench_py.stats.model import TotalStats

# Of a statement that fails, so much is shown.
MOST_SHOWN = 200


class StepFailed(Exception):
    """A step could not be done to its end. Why has been told."""

    def __init__(self, status: ExitStatus) -> None:
        super().__init__()
        self.status = status


class Conductor:
    """Does the steps of a test, with a connection of its own beside those of the clients."""

    def __init__(self, settings: Settings, script: Script, plan: Plan, runs: Runs) -> None:
        """Raises core.SqlError if the server cannot be reached."""
        self._settings = settings
        self._script = script
        self._plan = plan
        self._runs = runs
        self._session = core.SqlClient()

    def step(self, engine: Engine, clients: int) -> Step:
        """Do all iterations. Raises StepFailed, and UsageError for a schema that is there already."""
        generated = self._settings.generated
        return Step(
            engine=engine.name,
            load=generated.load_type if generated is not None else "query",
            clients=clients,
            queries_per_client=self._script.queries_per_client(clients),
            runs=[self._iteration(engine, clients) for _ in range(self._settings.iterations)],
        )

    def _iteration(self, engine: Engine, clients: int) -> TotalStats:
        with self._tables(engine):
            keys = self._keys()
            self._command("pre-system", self._settings.pre_system)
            self._execute_all(self._settings.pre_query)
            stats = self._run_clients(clients, keys)
            self._execute_all(self._settings.post_query)
            self._command("post-system", self._settings.post_system)
        return stats

    @contextmanager
    def _tables(self, engine: Engine) -> Iterator[None]:
        """The tables are there meanwhile."""
        schema = self._script.schema
        if schema is None or not self._settings.makes_schema:
            if schema is not None:
                self._execute_all(schema.enter())
            yield
            return
        log(INFO, "Making the tables")
        with self._errors_told():
            schema.make(self._execute)
        try:
            self._execute_all(self._script.load(engine))
            yield
        finally:
            if not self._settings.no_drop:
                with self._errors_told():
                    schema.drop(self._execute)

    def _keys(self) -> list[bytes]:
        if not self._script.needs_keys:
            return []
        with self._errors_told():
            keys = [key for (key,) in self._execute(LIST_KEYS) if key is not None]
        if not keys:
            log(FATAL, "the table has no rows whose keys the queries could use")
            raise StepFailed(ExitStatus.ERROR)
        return keys

    def _run_clients(self, clients: int, keys: list[bytes]) -> TotalStats:
        script = self._script
        workload = SlapWorkload(
            core.SlapWork(
                [
                    (os.fsencode(query.head), None if query.tail is None else os.fsencode(query.tail))
                    for query in script.queries
                ],
                keys,
                queries=script.queries_per_client(clients),
                on_connect=[os.fsencode(statement) for statement in script.on_connect()],
                commit_every=self._settings.commit_every,
                on_commit=[os.fsencode(statement) for statement in script.on_commit()],
                on_end=[os.fsencode(statement) for statement in script.on_end()],
                detach_every=self._settings.detach_every,
            )
        )
        log(INFO, f"Running {clients} clients")
        status = self._runs.part(workload, self._plan._replace(threads=clients))
        if status is not ExitStatus.OK or workload.stats is None:
            raise StepFailed(status)
        return workload.stats

    def _execute(self, statement: str) -> Rows:
        log(DEBUG, f"{statement};")
        return self._session.execute(os.fsencode(statement))

    def _execute_all(self, statements: Sequence[str]) -> None:
        for statement in statements:
            status = self._runs.between()
            if status is not ExitStatus.OK:
                raise StepFailed(status)
            with self._errors_told(statement):
                self._execute(statement)

    @contextmanager
    def _errors_told(self, statement: str = "") -> Iterator[None]:
        """A statement that fails ends the step, and says why."""
        try:
            yield
        except core.SqlError as error:
            shown = statement if len(statement) <= MOST_SHOWN else f"{statement[:MOST_SHOWN]}..."
            log(FATAL, f"error {error.number or error.sqlstate}: {error}" + (f" (in '{shown}')" if shown else ""))
            raise StepFailed(ExitStatus.ERROR) from None

    def _command(self, option: str, command: str) -> None:
        if not command:
            return
        status = subprocess.run(command, shell=True, check=False).returncode
        if status:
            log(FATAL, f"--{option} '{command}' ended with status {status}")
            raise StepFailed(ExitStatus.ERROR)
