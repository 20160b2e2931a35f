"""A private PostgreSQL server that writes to disk before it says so, as real ones do."""

from collections.abc import Sequence

from tests.support.postgres import PostgreSQL


class DurablePostgreSQL(PostgreSQL):
    """Has a second user, `sbasync`, whose commits do not wait for the disk."""

    def _command(self) -> Sequence[str]:
        return [*super()._command(), "--fsync=on"]

    def _populate(self) -> None:
        super()._populate()
        self.sql("CREATE ROLE sbasync LOGIN IN ROLE sbtest")
        self.sql("ALTER ROLE sbasync SET synchronous_commit = off")
