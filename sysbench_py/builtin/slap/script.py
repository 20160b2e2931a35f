"""Everything that a slap test sends, and in which order."""

from __future__ import annotations

import re
from collections.abc import Iterator

from sysbench_py.builtin.slap.dialects import DIALECTS, Dialect, Rows
from sysbench_py.builtin.slap.generate import Generator, Statement
from sysbench_py.builtin.slap.options import Engine, Generated, Settings
from sysbench_py.builtin.slap.schema import Schema, schema_for
from sysbench_py.errors import UsageError

LIST_KEYS = "SELECT id from t1"
_CREATE_TABLE = re.compile(r"create\s+(temporary\s+)?table\b", re.IGNORECASE)


class Script:
    """The statements of a test on a driver; `seed` is that of the generated ones."""

    def __init__(self, settings: Settings, driver: str, seed: int) -> None:
        """Raises UsageError for what the driver's databases do not have."""
        if driver not in DIALECTS:
            raise UsageError.fatal(
                f"the slap test does not run on --db-driver={driver}",
                about="db_driver",
                advice=f"use {', '.join(DIALECTS)}",
            )
        self._settings = settings
        self._dialect = DIALECTS[driver]
        if settings.engines[0].name and driver not in ("mysql", "null"):
            raise UsageError.fatal(f"--engine={settings.engines[0].name} is for MySQL and MariaDB only", about="engine")
        self._generator = None
        if settings.generated is not None:
            _check_size(settings.generated, driver, self._dialect)
            self._generator = Generator(settings.generated, self._dialect, seed)
            self._rows = self._generator.rows()
            self.queries = self._generator.queries()
        else:
            self._rows = []
            self.queries = [Statement(query) for query in settings.query]
        self.schema: Schema | None = None
        if settings.makes_schema or (settings.create_schema and driver != "mysql"):
            self.schema = schema_for(driver, settings.create_schema, self._dialect)

    @property
    def needs_keys(self) -> bool:
        return any(query.tail is not None for query in self.queries)

    def load(self, engine: Engine) -> list[str]:
        """What makes and fills the tables."""
        if self._generator is not None:
            return [*self._generator.table(engine.clause), *self._rows]
        return [
            f"{statement}{engine.clause}" if _CREATE_TABLE.match(statement) else statement
            for statement in self._settings.create
        ]

    def on_connect(self) -> list[str]:
        """What a client sends first on a connection."""
        enter = self.schema.enter() if self.schema is not None else []
        init = [self._settings.init_command] if self._settings.init_command else []
        return [*enter, *init, *self._begin()]

    def _begin(self) -> list[str]:
        if not self._settings.commit_every:
            return []
        return [self._dialect.autocommit_off or self._dialect.begin]

    def on_commit(self) -> list[str]:
        """What ends a transaction of --commit, and begins the next one."""
        return ["COMMIT", self._dialect.begin] if self._dialect.begin else ["COMMIT"]

    def on_end(self) -> list[str]:
        """What a client sends last."""
        return ["COMMIT"] if self._settings.commit_every else []

    def queries_per_client(self, clients: int) -> int:
        """How many queries each of so many clients sends."""
        if self._settings.number_of_queries:
            return max(self._settings.number_of_queries // clients, 1)
        if self._generator is not None and self._settings.execute_number:
            return self._settings.execute_number
        return len(self.queries)

    def everything(self) -> Iterator[str]:
        """What the test would send, one client after the other, but for what their connections begin with."""
        for engine in self._settings.engines:
            for clients in self._settings.concurrency:
                for _ in range(self._settings.iterations):
                    yield from self._iteration(engine, clients)

    def _iteration(self, engine: Engine, clients: int) -> Iterator[str]:
        sent: list[str] = []

        def execute(statement: str) -> Rows:
            sent.append(statement)
            return []

        makes_schema = self.schema is not None and self._settings.makes_schema
        if self.schema is not None and makes_schema:
            self.schema.make(execute)
        yield from [*sent, *self.load(engine), *self._settings.pre_query]
        for _ in range(clients):
            yield from self._client(self.queries_per_client(clients))
        yield from self._settings.post_query
        if self.schema is not None and makes_schema and not self._settings.no_drop:
            sent.clear()
            self.schema.drop(execute)
            yield from sent

    def _client(self, queries: int) -> Iterator[str]:
        commit_every = self._settings.commit_every
        yield from self._begin()
        for number in range(queries):
            query = self.queries[number % len(self.queries)]
            yield query.with_key(self._generator.sample_key() if self._generator is not None else "")
            if commit_every and (number + 1) % commit_every == 0:
                yield from self.on_commit()
        yield from self.on_end()


def _check_size(generated: Generated, driver: str, dialect: Dialect) -> None:
    """Raises UsageError for a table that no database of the driver can hold."""
    limits = (
        ("columns", generated.columns, dialect.most_columns),
        ("indexes", generated.indexes, dialect.most_indexes),
    )
    for what, number, most in limits:
        if most is not None and number > most:
            raise UsageError.fatal(
                f"the generated table would have {number} {what}, and a table of {driver} has {most} at most "
                "(--number-int-cols, --number-char-cols, --auto-generate-sql-secondary-indexes)"
            )
