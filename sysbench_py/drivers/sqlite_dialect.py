"""What MySQL and PostgreSQL say in another way than SQLite, as far as published workloads say it.

Only DDL and a few rare statements are looked at, one whole statement at a time; docs/sqlite.md has the table.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

# Space and comments, MySQL's /*! code */ among them; then strings, quoted names, numbers, words and signs.
_TOKEN = re.compile(
    r"""(\s+ | --[^\n]* | /\*.*?\*/)
    | ([xX]?'(?:[^']|'')*' | "(?:[^"]|"")*" | `[^`]*`
    | \.?\d(?:[eE][+-]|[\w.])* | [?:@$]?\w[\w$]* | [<>=!|]+ | .)""",
    re.VERBOSE | re.DOTALL,
)
_INTEGERS = {"TINYINT", "SMALLINT", "MEDIUMINT", "INT", "INTEGER", "BIGINT"}
_SERIALS = {"SMALLSERIAL", "SERIAL", "BIGSERIAL"}

# Tokens in a row that SQLite does not know: `*` is any token, `(*)` any brackets, `(*)?` those or nothing.
_IN_COLUMNS = (
    "UNSIGNED",
    "SIGNED",
    "ZEROFILL",
    "AUTO_INCREMENT",
    "COMMENT *",
    "COLLATE *",
    "CHARSET *",
    "CHARACTER SET *",
    "ON UPDATE CURRENT_TIMESTAMP (*)?",
)
_IN_KEYS = ("USING *", "COMMENT *")
_IN_QUERIES = (
    *(f"{verb} {noun} (*)" for verb in ("USE", "FORCE", "IGNORE") for noun in ("INDEX", "KEY")),
    "FOR UPDATE",
    "LOCK IN SHARE MODE",
)


def translate(statement: str, dialect: str) -> str | None:
    """The statement, of the dialect mysql or pgsql, in SQLite's words; None if it can stay as it is.

    Several statements, with semicolons between them, if it takes more than one."""
    tokens = _tokens(statement)
    match _words(tokens[:2]):
        case ["ANALYZE", "TABLE"] if dialect == "mysql":
            return "; ".join(f"ANALYZE {_text(table)}" for table in _split(tokens[2:]))
        case ["TRUNCATE", "TABLE"]:
            return f"DELETE FROM {_text(tokens[2:])}"
        case ["TRUNCATE", _]:
            return f"DELETE FROM {_text(tokens[1:])}"
        case ["CREATE", _]:
            return _create_table(tokens, dialect)
    return None


def loosen(statement: str) -> str | None:
    """A query that SQLite does not understand, without index and locking hints, and with its own words for
    INSERT IGNORE; None if that changes nothing."""
    tokens = _tokens(statement)
    loose = _drop(tokens, _IN_QUERIES)
    if _words(loose[:2]) == ["INSERT", "IGNORE"]:
        loose[1:2] = ["OR", "IGNORE"]
    return None if loose == tokens else _text(loose)


# -- tokens


def _tokens(text: str) -> list[str]:
    tokens = [token for _, token in _TOKEN.findall(text) if token]
    while tokens and tokens[-1] == ";":
        tokens.pop()
    return tokens


def _text(tokens: list[str]) -> str:
    return " ".join(tokens)


def _words(tokens: list[str]) -> list[str]:
    return [token.upper() for token in tokens]


def _starts(tokens: list[str], *words: str) -> bool:
    return _words(tokens[: len(words)]) == list(words)


def _closing(tokens: list[str], opening: int) -> int:
    """Where the bracket at `opening` is closed; the end of the tokens if it is not."""
    depth = 0
    for index in range(opening, len(tokens)):
        depth += {"(": 1, ")": -1}.get(tokens[index], 0)
        if depth == 0:
            return index
    return len(tokens)


def _split(tokens: list[str]) -> list[list[str]]:
    """The parts between the commas that are in no brackets."""
    parts: list[list[str]] = [[]]
    depth = 0
    for token in tokens:
        depth += {"(": 1, ")": -1}.get(token, 0)
        if token == "," and depth == 0:
            parts.append([])
        else:
            parts[-1].append(token)
    return parts


def _matched(tokens: list[str], at: int, pattern: str) -> int:
    """How many tokens from `at` on the pattern covers; 0 if it does not match."""
    end = at
    for word in pattern.split():
        if word.startswith("(*)") and tokens[end : end + 1] == ["("]:
            end = _closing(tokens, end) + 1
        elif end < len(tokens) and word in ("*", tokens[end].upper()):
            end += 1
        elif word != "(*)?":
            return 0
    return end - at


def _drop(tokens: list[str], patterns: tuple[str, ...]) -> list[str]:
    kept = []
    at = 0
    while at < len(tokens):
        covered = max(_matched(tokens, at, pattern) for pattern in patterns)
        if not covered:
            kept.append(tokens[at])
        at += covered or 1
    return kept


def _bare(name: str) -> str:
    """A name without its quotes."""
    return name[1:-1] if name[:1] in ("`", '"') else name


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


# -- CREATE TABLE


@dataclass
class _Table:
    """A CREATE TABLE under translation."""

    dialect: str
    name: list[str]  # with its schema, if any
    if_not_exists: bool
    primary: str | None  # the column that is the whole primary key
    items: list[str] = field(default_factory=list)  # what stands in the brackets
    indexes: dict[str, str] = field(default_factory=dict)  # statements by name, each after the table
    triggers: list[str] = field(default_factory=list)

    def belonging(self, kind: str, name: str, rest: str) -> str:
        """`CREATE <kind> <name> <rest>` for something that belongs to the table."""
        condition = "IF NOT EXISTS " if self.if_not_exists else ""
        return f"CREATE {kind} {condition}{_text([*self.name[:-1], _quoted(name)])} {rest}"

    def add_index(self, kind: str, key: str, columns: list[str]) -> None:
        """An index on `columns`, in their brackets.

        The name of the table leads, as no two indexes of an SQLite database have the same name."""
        name = wanted = f"{_bare(self.name[-1])}_{_bare(key)}"
        while name in self.indexes:
            name = f"{wanted}_{len(self.indexes)}"
        self.indexes[name] = self.belonging(kind, name, f"ON {self.name[-1]} {_text(columns)}")

    def add_next_id(self, column: str) -> None:
        """Let `column` have its next value by MySQL's rule (for 0 and NULL) or PostgreSQL's (for NULL).

        SQLite itself does so for NULL in a column that is the whole primary key, and for nothing else."""
        column, table = _quoted(_bare(column)), self.name[-1]
        zero = f" OR NEW.{column} = 0" if self.dialect == "mysql" else ""
        self.triggers.append(
            self.belonging(
                "TRIGGER",
                f"{_bare(table)}_next_id",
                f"AFTER INSERT ON {table} WHEN NEW.{column} IS NULL{zero} BEGIN"
                f" UPDATE {table} SET {column} = (SELECT coalesce(max({column}), 0) + 1 FROM {table})"
                " WHERE rowid = NEW.rowid; END",
            )
        )


def _create_table(tokens: list[str], dialect: str) -> str | None:
    at = 2 if _words(tokens[1:2]) in (["TEMP"], ["TEMPORARY"]) else 1
    if not _starts(tokens[at:], "TABLE") or "(" not in tokens:
        return None
    opening = tokens.index("(")
    closing = _closing(tokens, opening)
    if_not_exists = _starts(tokens[at + 1 :], "IF", "NOT", "EXISTS")
    name = tokens[at + (4 if if_not_exists else 1) : opening]
    items = _split(tokens[opening + 1 : closing])
    # CREATE TABLE ... AS SELECT, or a mistake, of which SQLite shall tell.
    if len(name) not in (1, 3) or closing == len(tokens) or not all(items):
        return None
    if dialect != "mysql" and not any(_is_generated(item, dialect) for item in items):
        return None
    table = _Table(dialect, name, if_not_exists, _primary_key(items))
    for item in items:
        _add_item(table, item)
    tail = tokens[closing + 1 :]
    create = [*tokens[: opening + 1], ", ".join(table.items), ")"]
    create += _known_options(tail) if dialect == "mysql" else tail
    return "; ".join([_text(create), *table.indexes.values(), *table.triggers])


def _is_generated(item: list[str], dialect: str) -> bool:
    """Whether the server makes the column's values."""
    words = _words(item[1:])
    return "AUTO_INCREMENT" in words if dialect == "mysql" else words[:1] != [] and words[0] in _SERIALS


def _primary_key(items: list[list[str]]) -> str | None:
    """The column that is the whole primary key, if it is one column."""
    for item in items:
        words = _words(item)
        if "PRIMARY" not in words:
            continue
        if words[0] not in ("PRIMARY", "CONSTRAINT"):
            return _bare(item[0]).lower()
        columns = _split(_brackets(item)[1:-1])
        return _bare(columns[0][0]).lower() if len(columns) == 1 and columns[0] else None
    return None


def _brackets(item: list[str]) -> list[str]:
    """The first brackets of a key or a type, and what is in them."""
    opening = item.index("(") if "(" in item else len(item)
    return item[opening : _closing(item, opening) + 1]


def _add_item(table: _Table, item: list[str]) -> None:
    """One of the things between the commas of a CREATE TABLE: a column, a key or a constraint."""
    words = _words(item)
    if words[0] in ("CONSTRAINT", "FOREIGN", "CHECK"):
        table.items.append(_text(item))
    elif words[0] == "PRIMARY":
        table.items.append(_text(["PRIMARY KEY", *_key_columns(item)]))
    elif words[0] in ("UNIQUE", "KEY", "INDEX"):
        named_at = 2 if words[1:2] in (["KEY"], ["INDEX"]) else 1
        columns = _key_columns(item)
        unnamed = words[named_at : named_at + 1] in ([], ["("], ["USING"])
        key = "".join(columns[1:2]) if unnamed else item[named_at]
        table.add_index("UNIQUE INDEX" if words[0] == "UNIQUE" else "INDEX", key, columns)
    else:
        _add_column(table, item)


def _key_columns(item: list[str]) -> list[str]:
    """The columns of a key in their brackets, without MySQL's lengths of prefixes."""
    return ["(", *_drop(_brackets(item)[1:-1], ("( * )",)), ")"]


def _add_column(table: _Table, item: list[str]) -> None:
    name, kind, rest = item[0], _text(item[1:2]), item[2:]
    generated = _is_generated(item, table.dialect)
    is_primary = _bare(name).lower() == table.primary
    if table.dialect == "mysql":
        rest = _drop(rest, _IN_COLUMNS)
    if generated or (is_primary and kind.upper() in _INTEGERS):
        # SQLite keeps a table in the order of a primary key of just this type.
        kind = "INTEGER"
        rest = rest[len(_brackets(rest)) if rest[:1] == ["("] else 0 :]
    if generated and not is_primary:
        kind += " DEFAULT 0" if table.dialect == "mysql" else ""
        rest = _drop(rest, ("NOT NULL",))
        if table.dialect == "pgsql":
            table.add_index("INDEX", name, ["(", name, ")"])
    if generated and (table.dialect == "mysql" or not is_primary):
        table.add_next_id(name)
    table.items.append(_text([name, kind, *rest]))


def _known_options(tail: list[str]) -> list[str]:
    """What follows the brackets, as far as it is not MySQL's alone."""
    words = _words(tail)
    for index, word in enumerate(words):
        if word in ("AS", "SELECT"):
            return tail[index:]
        if words[index : index + 2] == ["WITHOUT", "ROWID"]:
            return tail[index : index + 2]
    return []
