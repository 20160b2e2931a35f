"""The table, its rows and the queries of --auto-generate-sql."""

from __future__ import annotations

import random
import string
from collections.abc import Iterator
from dataclasses import dataclass

from sysbench_py.builtin.slap.dialects import Dialect
from sysbench_py.builtin.slap.options import Generated

TABLE = "t1"
GUID_TYPE = "varchar(36)"
CHAR_LENGTH = 126
_LETTERS = string.ascii_letters + string.digits


@dataclass(frozen=True)
class Statement:
    """A statement; with a `tail`, a key goes between that and the `head`."""

    head: str
    tail: str | None = None

    def with_key(self, key: str) -> str:
        """The text that is sent."""
        return self.head if self.tail is None else f"{self.head}{key}{self.tail}"


class Generator:
    """Makes the statements. The same `seed` makes the same ones."""

    def __init__(self, generated: Generated, dialect: Dialect, seed: int) -> None:
        self._generated = generated
        self._dialect = dialect
        self._random = random.Random(seed)
        self._ints = [f"intcol{number}" for number in range(1, generated.ints.number + 1)]
        self._chars = [f"charcol{number}" for number in range(1, generated.chars.number + 1)]

    def table(self, engine_clause: str) -> list[str]:
        """The CREATE TABLE, and statements for its indexes where they do not stand in it."""
        columns = [*self._key_columns(), *self._value_columns()]
        create = f"CREATE TABLE {self._dialect.quoted(TABLE)} ({','.join(columns)}){engine_clause}"
        if self._dialect.index_in_table:
            return [create]
        indexed = [*(self._ints * self._generated.ints.indexed), *(self._chars * self._generated.chars.indexed)]
        return [create, *(f"CREATE INDEX {TABLE}_{column} ON {TABLE} ({column})" for column in indexed)]

    def _key_columns(self) -> Iterator[str]:
        if self._generated.guid:
            yield f"id {GUID_TYPE} primary key"
        if self._generated.autoincrement:
            yield self._dialect.key
        unique = "unique key" if self._dialect.index_in_table else "unique"
        for number in range(self._generated.secondary_indexes):
            yield f"id{number} {GUID_TYPE} {unique}"

    def _value_columns(self) -> Iterator[str]:
        # The blanks are mysqlslap's, so that logs of both compare.
        ints, chars = self._generated.ints, self._generated.chars
        in_table = self._dialect.index_in_table
        for name in self._ints:
            kind = self._dialect.int_type
            yield f"{name} {kind}, INDEX({name})" if ints.indexed and in_table else f"{name} {kind} "
        for name in self._chars:
            kind = "VARCHAR(128)"
            yield f"{name} {kind}, INDEX({name}) " if chars.indexed and in_table else f"{name} {kind}"

    def rows(self) -> list[str]:
        """The INSERTs that fill the table."""
        number = min(self._generated.different_rows, self._generated.rows)
        different = [self._insert() for _ in range(number)]
        return [different[row % number] for row in range(self._generated.rows)]

    def queries(self) -> list[Statement]:
        """The queries, different ones as far as their kind allows."""
        return [self._query(number) for number in range(self._generated.different_queries)]

    def sample_key(self) -> str:
        """A key such as the table may have, to show what a query looks like."""
        if self._generated.autoincrement:
            return str(self._random.randint(1, max(self._generated.rows, 1)))
        digits = f"{self._random.getrandbits(128):032x}"
        return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))

    def _query(self, number: int) -> Statement:
        match self._generated.load_type:
            case "read":
                return Statement(self._select())
            case "key":
                return self._by_key(self._select())
            case "write":
                return Statement(self._insert())
            case "update":
                return self._by_key(self._update())
            case _:  # mixed: in turn
                return self._by_key(self._select()) if number % 2 else Statement(self._insert())

    def _by_key(self, text: str) -> Statement:
        """The statement for one row by its key, for all rows if the table has none."""
        return Statement(f"{text} WHERE id =  '", "'") if self._generated.has_key else Statement(text)

    def _insert(self) -> str:
        guids = self._generated.secondary_indexes + self._generated.guid
        values = [self._dialect.next_key] * self._generated.autoincrement + [self._dialect.guid] * guids
        values += [self._int() for _ in self._ints] + [self._char() for _ in self._chars]
        return f"INSERT INTO {TABLE} VALUES ({','.join(values)})"

    def _select(self) -> str:
        return f"SELECT {','.join([*self._ints, *self._chars])} FROM {TABLE}"

    def _update(self) -> str:
        ints = [f"{name} = {self._int()}" for name in self._ints]
        chars = [f"{name} = {self._char()}" for name in self._chars]
        return f"UPDATE {TABLE} SET {','.join([*ints, *chars])}"

    def _int(self) -> str:
        return str(self._random.randrange(2**31))

    def _char(self) -> str:
        return f"'{''.join(self._random.choices(_LETTERS, k=CHAR_LENGTH))}'"
