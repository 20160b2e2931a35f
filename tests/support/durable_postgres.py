"""A private PostgreSQL server that writes to disk before it says so, as real ones do."""

from collections.abc import Sequence

from tests.support.postgres import PostgreSQL

# However quick the disk is, and whatever else runs: a commit that waits for it waits so long at least.
COMMIT_DELAY_US = 10_000


class DurablePostgreSQL(PostgreSQL):
    """Has a second user, `sbasync`, whose commits do not wait for the disk."""

    def _command(self) -> Sequence[str]:
        return [*super()._command(), "--fsync=on", f"--commit-delay={COMMIT_DELAY_US}", "--commit-siblings=0"]

    def _populate(self) -> None:
        super()._populate()
        self.sql("CREATE ROLE sbasync LOGIN IN ROLE sbtest")
        self.sql("ALTER ROLE sbasync SET synchronous_commit = off")
