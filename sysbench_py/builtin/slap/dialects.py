"""What databases say in different ways, as far as the slap test says it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

Rows = list[tuple[bytes | None, ...]]
Execute = Callable[[str], Rows]


@dataclass(frozen=True)
class Dialect:
    """How the generated table and the schema of the test are spelled.

    `key` is the column of --auto-generate-sql-add-autoincrement and `next_key` its value in an INSERT; `guid` is the
    value of the other key. Indexes stand in the CREATE TABLE or are made by statements of their own. `begin` starts a
    transaction on a new connection and is empty if `autocommit_off` does for all. A table has `most_columns` and
    `most_indexes` at most, as the databases are usually built.
    """

    key: str
    next_key: str
    guid: str
    int_type: str
    quote: str
    index_in_table: bool
    most_columns: int
    most_indexes: int | None = None
    autocommit_off: str = ""
    begin: str = ""

    def quoted(self, name: str) -> str:
        """A name in quotes."""
        return f"{self.quote}{name.replace(self.quote, self.quote * 2)}{self.quote}"


MYSQL = Dialect(
    key="id serial",
    next_key="NULL",
    guid="uuid()",
    int_type="INT(32)",
    quote="`",
    index_in_table=True,
    most_columns=4096,
    most_indexes=64,
    autocommit_off="SET AUTOCOMMIT=0",
)
PGSQL = Dialect(
    key="id bigserial primary key",
    next_key="DEFAULT",
    guid="gen_random_uuid()",
    int_type="INT",
    quote='"',
    index_in_table=False,
    most_columns=1600,
    begin="BEGIN",
)
SQLITE = Dialect(
    key="id integer primary key",
    next_key="NULL",
    guid="lower(hex(randomblob(16)))",
    int_type="INT",
    quote='"',
    index_in_table=False,
    most_columns=2000,
    begin="BEGIN",
)
DIALECTS = {"mysql": MYSQL, "pgsql": PGSQL, "sqlite": SQLITE, "null": MYSQL}
