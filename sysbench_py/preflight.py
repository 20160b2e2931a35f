"""Whether a run can work: asked of the server before the load with --preflight=on, or to explain why it failed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from sysbench_py import core
from sysbench_py.errors import ExitStatus
from sysbench_py.log import FATAL, log, say
from sysbench_py.plan import Plan
from sysbench_py.script import State
from sysbench_py.server_facts import DRIVERS, Ask, Session, largest_id, limits, tables
from sysbench_py.stock_needs import Needs, stock_needs

MAX_NAMED = 5
# How servers refuse a connection because of a limit: error numbers of MySQL, and what PostgreSQL says.
REFUSALS = (1040, 1203, 1226)
REFUSAL_TEXTS = ("too many clients", "too many connections", "connection slots")


class Finding(NamedTuple):
    """A line for the user; with a `fatal` one the run cannot work."""

    text: str
    fatal: bool = True


class Preflight:
    """The checks for one run. `servers` is how many the driver goes through."""

    def __init__(self, main: State, plan: Plan, options: Mapping[str, Any], servers: int) -> None:
        self._main = main
        self._plan = plan
        self._servers = servers
        self._title = main.script.title
        self._needs = stock_needs(self._title, options)

    def warn_of_no_work(self) -> None:
        """A line if events would read and write nothing. Asks nobody."""
        if self._needs is not None and self._needs.work == 0:
            say(f"WARNING: with these options an event of {self._title} reads and writes nothing")

    def passes(self) -> bool:
        """Ask the servers; False, after a line for each reason, if the run cannot work."""
        findings = list(self._findings(explaining=False))
        for finding in findings:
            if finding.fatal:
                log(FATAL, finding.text)
            else:
                say(f"WARNING: {finding.text}")
        return not any(finding.fatal for finding in findings)

    def explain(self, status: ExitStatus) -> None:
        """After a run: if it has failed because a server refused connections, say how many it has room for."""
        _, number, message = core.db_first_refusal()
        if status is ExitStatus.ERROR and (number in REFUSALS or any(text in message for text in REFUSAL_TEXTS)):
            for finding in self._findings(explaining=True):
                say(finding.text)

    def some_tables_there(self) -> bool:
        """Ask the first server whether any of the tables is there that the workload needs; False if it needs none."""
        if self._needs is None or self._plan.db_driver not in DRIVERS:
            return False
        with Session(self._main, self._plan.verbosity, say_why=False) as session:
            there = tables(self._plan.db_driver, session.ask) if session.connected else set()
        return any(f"sbtest{number}" in there for number in range(1, self._needs.tables + 1))

    def _findings(self, *, explaining: bool) -> Iterator[Finding]:
        driver = self._plan.db_driver
        if driver not in DRIVERS:
            yield Finding(f"--preflight has nothing to ask of the driver {driver}", fatal=False)
            return
        # New connections go through the servers in turn, and so do these.
        for server in range(self._servers):
            found: list[Finding] = []
            with Session(self._main, self._plan.verbosity, say_why=not explaining) as session:
                if session.connected and driver != "sqlite":
                    found += self._limit_findings(session.ask, len(range(server, self._plan.threads, self._servers)))
                if session.connected and self._needs is not None and not explaining:
                    found += self._table_findings(session.ask, self._needs)
            if not session.connected and not explaining:
                yield Finding("--preflight: the server cannot be asked")
            yield from found

    def _limit_findings(self, ask: Ask, threads: int) -> Iterator[Finding]:
        """`threads` is how many of them connect to this server."""
        found = limits(self._plan.db_driver, ask)
        if found is None:
            yield Finding("--preflight: the server does not tell its limits", fatal=False)
            return
        who = f"--threads={self._plan.threads}" + (f" ({threads} of them here)" if self._servers > 1 else "")
        tightest = min(found.connections, key=lambda limit: limit.room)
        if threads > tightest.room:
            yield Finding(f"{who} needs {threads} connections, and the server has room for {tightest.room}: {tightest}")
        statements = found.statements
        if self._needs is None or statements is None:
            return
        each = self._needs.statements - (self._needs.transactions and not found.prepares_begin)
        if threads * each > statements.room:
            yield Finding(
                f"{who} needs {threads * each} prepared statements ({each} a thread), and the server has room for "
                f"{statements.room}: {statements} (--db-ps-mode=disable needs none)"
            )

    def _table_findings(self, ask: Ask, needs: Needs) -> Iterator[Finding]:
        there = tables(self._plan.db_driver, ask)
        wanted = [f"sbtest{number}" for number in range(1, needs.tables + 1)]
        missing = [name for name in wanted if name not in there]
        commands = "prepare" if len(missing) == len(wanted) else "cleanup prepare"
        again = f"do 'sysbench {self._main.script.name} ... {commands}' with the same options"
        if missing:
            yield Finding(f"{len(missing)} of {len(wanted)} tables missing ({_listed(missing)}): {again}")
        if not needs.rows:
            return
        ids = {name: largest_id(ask, name) for name in wanted if name in there}
        short = [name for name, largest in ids.items() if largest is not None and largest < needs.rows]
        if short:
            yield Finding(
                f"--table-size={needs.rows}, but the largest id in {_listed(short)} is "
                f"{min(ids[name] or 0 for name in short)}: what is read beyond is not there; {again}",
                fatal=False,
            )


def _listed(names: list[str]) -> str:
    more = f" and {len(names) - MAX_NAMED} more" if len(names) > MAX_NAMED else ""
    return f"{', '.join(names[:MAX_NAMED])}{more}"
