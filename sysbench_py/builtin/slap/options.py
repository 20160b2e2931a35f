"""The options of the slap test, which have the names of mysqlslap's, and what they ask for."""

from __future__ import annotations

from dataclasses import dataclass

from sysbench_py.builtin.slap.texts import read_statements
from sysbench_py.errors import UsageError
from sysbench_py.options import Kind, Option, OptionSet, option_key

# Any database's limit; that of MySQL and MariaDB.
MOST_COLUMNS = 4096
# Generated statements are kept in memory.
MOST_GENERATED = 10_000_000
MOST_CLIENTS = 2**31 - 1
# Python turns no text of thousands of digits into a number.
MOST_DIGITS = 18
LOAD_TYPES = ("mixed", "update", "write", "key", "read")
# What general options say is said here by options of the test's own.
_NOT_FOR_SLAP = {
    "threads": "use --concurrency",
    "events": "use --number-of-queries",
    "time": "use --number-of-queries",
    "warmup-time": "use --pre-query, or more --iterations",
    "report-checkpoints": "every step of --concurrency has a report",
}

OPTIONS = (
    Option("concurrency", Kind.LIST, "1", "numbers of clients, one step of the test each"),
    Option("iterations", Kind.INT, "1", "how often a step is run"),
    Option(
        "engine",
        Kind.LIST,
        "",
        "storage engines for the tables, the test is run for each; options of an engine follow a colon "
        "(MySQL and MariaDB)",
    ),
    Option("number-of-queries", Kind.INT, "0", "queries of all clients together; 0 sends the list once in each client"),
    Option("query", Kind.STRING, None, "queries to run, or the file that has them"),
    Option("create", Kind.STRING, None, "statements that create the tables, or the file that has them"),
    Option("pre-query", Kind.STRING, None, "statements to run before the clients start, or the file that has them"),
    Option("post-query", Kind.STRING, None, "statements to run when the clients are done, or the file that has them"),
    Option("pre-system", Kind.STRING, None, "shell command to run before the clients start"),
    Option("post-system", Kind.STRING, None, "shell command to run when the clients are done"),
    Option("delimiter", Kind.STRING, None, "what stands between statements; a line end if none is given"),
    Option("init-command", Kind.STRING, None, "statement that a client runs first on every connection"),
    Option("auto-generate-sql", Kind.BOOL, "off", "generate the table, its rows and the queries"),
    Option(
        "auto-generate-sql-load-type",
        Kind.STRING,
        "mixed",
        f"kind of generated queries {{{', '.join(LOAD_TYPES)}}}",
        choices=LOAD_TYPES,
    ),
    Option("auto-generate-sql-add-autoincrement", Kind.BOOL, "off", "generate a table with an AUTO_INCREMENT column"),
    Option("auto-generate-sql-guid-primary", Kind.BOOL, "off", "generate a table with a GUID as its primary key"),
    Option("auto-generate-sql-secondary-indexes", Kind.INT, "0", "number of unique columns of GUIDs in the table"),
    Option("auto-generate-sql-write-number", Kind.INT, "100", "rows in the table at the start, plus one"),
    Option("auto-generate-sql-unique-write-number", Kind.INT, "10", "how many of these rows differ"),
    Option("auto-generate-sql-unique-query-number", Kind.INT, "10", "generated queries that differ, less one"),
    Option(
        "auto-generate-sql-execute-number",
        Kind.INT,
        "0",
        "queries of each client, in place of --number-of-queries; 0 for the list once",
    ),
    Option("number-int-cols", Kind.STRING, "1", "INT columns of the generated table; N:1 puts an index on each"),
    Option("number-char-cols", Kind.STRING, "1", "VARCHAR columns of the generated table; N:1 puts an index on each"),
    Option("create-schema", Kind.STRING, None, "schema to make for the test; without tables, the one to use"),
    Option("no-drop", Kind.BOOL, "off", "leave the schema where it is"),
    Option("commit", Kind.INT, "0", "statements in a transaction; 0 for autocommit"),
    Option("detach", Kind.INT, "0", "statements after which a client connects anew; 0 for never"),
    Option("only-print", Kind.BOOL, "off", "connect to no server, print the statements"),
    Option(
        "csv", Kind.STRING, None, "report as CSV, to standard output or added to a file", suffix="[=FILE]", bare="-"
    ),
    Option("silent", Kind.BOOL, "off", "no report"),
)


@dataclass(frozen=True)
class Columns:
    """So many columns of a type in the generated table, each with an index or none."""

    number: int
    indexed: bool


@dataclass(frozen=True)
class Generated:
    """What --auto-generate-sql is to generate. Numbers are those of rows and of different queries."""

    load_type: str
    autoincrement: bool
    guid: bool
    secondary_indexes: int
    ints: Columns
    chars: Columns
    rows: int
    different_rows: int
    different_queries: int

    @property
    def has_key(self) -> bool:
        return self.autoincrement or self.guid

    @property
    def columns(self) -> int:
        """Of the table, all of them."""
        return self.has_key + self.secondary_indexes + self.ints.number + self.chars.number

    @property
    def indexes(self) -> int:
        """Of the table, its primary key included."""
        indexed = sum(each.number for each in (self.ints, self.chars) if each.indexed)
        return self.has_key + self.secondary_indexes + indexed


@dataclass(frozen=True)
class Engine:
    """A storage engine and options for its tables."""

    name: str
    options: str = ""

    @property
    def clause(self) -> str:
        """What is added to a CREATE TABLE; empty for the server's default engine."""
        return f" Engine = {self.name} {self.options}".rstrip() if self.name else ""


@dataclass(frozen=True)
class Settings:
    """The options of a test, checked. Statements of users are texts; `generated` is None if none are generated."""

    concurrency: tuple[int, ...]
    iterations: int
    engines: tuple[Engine, ...]
    number_of_queries: int
    execute_number: int
    query: tuple[str, ...]
    create: tuple[str, ...]
    pre_query: tuple[str, ...]
    post_query: tuple[str, ...]
    pre_system: str
    post_system: str
    init_command: str
    generated: Generated | None
    create_schema: str
    no_drop: bool
    commit_every: int
    detach_every: int
    only_print: bool
    csv: str
    silent: bool

    @property
    def makes_schema(self) -> bool:
        return self.generated is not None or bool(self.create)

    @property
    def runs(self) -> int:
        """How many runs of clients there are."""
        return len(self.engines) * len(self.concurrency) * self.iterations


def read_settings(options: OptionSet) -> Settings:
    """Raises UsageError for a value, a file or a combination that makes no sense."""
    for name, advice in _NOT_FOR_SLAP.items():
        if options.typed(name):
            raise UsageError.fatal(f"--{name} is not for the slap test", about=option_key(name), advice=advice)
    delimiter = options.get("delimiter", str) or "\n"
    texts = {
        name: read_statements(f"--{name}", options.get(name, str), delimiter)
        for name in ("query", "create", "pre-query", "post-query")
    }
    generated = _generated(options) if options.get("auto-generate-sql", bool) else None
    if generated and (texts["query"] or texts["create"]):
        name = "query" if texts["query"] else "create"
        raise UsageError.fatal(f"--auto-generate-sql and --{name} exclude each other", about=option_key(name))
    if not generated and not texts["query"]:
        raise UsageError.fatal("there is no query to run (use --query or --auto-generate-sql)", about="query")
    settings = Settings(
        concurrency=_concurrency(options),
        iterations=_at_least(1, options, "iterations"),
        engines=_engines(options),
        number_of_queries=_at_least(0, options, "number-of-queries"),
        execute_number=_at_least(0, options, "auto-generate-sql-execute-number"),
        query=texts["query"],
        create=texts["create"],
        pre_query=texts["pre-query"],
        post_query=texts["post-query"],
        pre_system=options.get("pre-system", str),
        post_system=options.get("post-system", str),
        init_command=options.get("init-command", str),
        generated=generated,
        create_schema=options.get("create-schema", str),
        no_drop=options.get("no-drop", bool),
        commit_every=_at_least(0, options, "commit"),
        detach_every=_at_least(0, options, "detach"),
        only_print=options.get("only-print", bool),
        csv=options.get("csv", str),
        silent=options.get("silent", bool),
    )
    if settings.execute_number and settings.number_of_queries:
        raise UsageError.fatal("--auto-generate-sql-execute-number and --number-of-queries exclude each other")
    if settings.no_drop and settings.makes_schema and settings.runs > 1:
        raise UsageError.fatal(
            "--no-drop leaves the schema where it is, so there can be one run only",
            about="no_drop",
            advice="use one --concurrency, one --engine and --iterations=1",
        )
    return settings


def _invalid(name: str, value: object, advice: str) -> UsageError:
    return UsageError.fatal(f"Invalid value for --{name}: '{value}'", about=option_key(name), advice=advice)


def _at_least(minimum: int, options: OptionSet, name: str, most: int | None = None) -> int:
    value = options.get(name, int)
    if value < minimum or (most is not None and value > most):
        raise _invalid(name, value, f"use a number from {minimum}" + (f" to {most}" if most is not None else ""))
    return value


def _concurrency(options: OptionSet) -> tuple[int, ...]:
    items = tuple(item.strip() for item in options.get("concurrency", tuple))
    advice = f"use numbers from 1 to {MOST_CLIENTS}, with commas between them"
    for item in items:
        if not 0 < (_number(item) or 0) <= MOST_CLIENTS:
            raise _invalid("concurrency", item, advice)
    if not items:
        raise _invalid("concurrency", "", advice)
    return tuple(map(int, items))


def _number(text: str) -> int | None:
    """A whole number that is no longer than any that makes sense; None for anything else."""
    return int(text) if text.isdecimal() and len(text) <= MOST_DIGITS else None


def _engines(options: OptionSet) -> tuple[Engine, ...]:
    engines = []
    for item in options.get("engine", tuple):
        name, _, text = item.strip().partition(":")
        if not name:
            raise _invalid("engine", item, "use names such as innodb, or with options innodb:row_format=compressed")
        engines.append(Engine(name, text))
    return tuple(engines) or (Engine(""),)


def _columns(options: OptionSet, name: str) -> Columns:
    value = options.get(name, str)
    text, colon, with_index = value.partition(":")
    number, indexes = _number(text), _number(with_index) if colon else 0
    if number is None or indexes is None or number > MOST_COLUMNS:
        raise _invalid(name, value, f"use a number of columns from 0 to {MOST_COLUMNS}, N:1 if they have indexes")
    return Columns(number, indexes > 0)


def _generated(options: OptionSet) -> Generated:
    prefix = "auto-generate-sql"
    generated = Generated(
        load_type=options.get(f"{prefix}-load-type", str),
        autoincrement=options.get(f"{prefix}-add-autoincrement", bool),
        guid=options.get(f"{prefix}-guid-primary", bool),
        secondary_indexes=_at_least(0, options, f"{prefix}-secondary-indexes", MOST_COLUMNS),
        ints=_columns(options, "number-int-cols"),
        chars=_columns(options, "number-char-cols"),
        # As mysqlslap counts: one row less than the option says, and one query more.
        rows=_at_least(1, options, f"{prefix}-write-number", MOST_GENERATED) - 1,
        different_rows=_at_least(1, options, f"{prefix}-unique-write-number", MOST_GENERATED),
        different_queries=_at_least(0, options, f"{prefix}-unique-query-number", MOST_GENERATED) + 1,
    )
    if generated.autoincrement and generated.guid:
        raise UsageError.fatal(f"--{prefix}-add-autoincrement and --{prefix}-guid-primary exclude each other")
    if not generated.ints.number + generated.chars.number:
        raise UsageError.fatal("the generated table needs a column (--number-int-cols, --number-char-cols)")
    if generated.load_type == "key" and not generated.has_key:
        raise UsageError.fatal(
            f"--{prefix}-load-type=key needs a primary key",
            advice=f"--{prefix}-guid-primary or --{prefix}-add-autoincrement",
        )
    # Queries by key, and those of mixed and update in a table with a key, pick one of the rows that are there.
    if generated.has_key and generated.load_type in ("key", "mixed", "update") and not generated.rows:
        raise _invalid(f"{prefix}-write-number", 1, "use at least 2, as queries look for a row")
    return generated
