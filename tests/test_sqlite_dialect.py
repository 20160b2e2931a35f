"""What SQLite makes of statements in the words of MySQL and PostgreSQL."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing

import pytest

from sysbench_py.drivers.sqlite_dialect import loosen, translate


@pytest.fixture
def connection() -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as opened:
        yield opened


def run(connection: sqlite3.Connection, statement: str, dialect: str = "mysql") -> None:
    connection.executescript(translate(statement, dialect) or statement)


def column(connection: sqlite3.Connection, query: str) -> list[object]:
    return [row[0] for row in connection.execute(query)]


def plan(connection: sqlite3.Connection, query: str) -> str:
    return str(connection.execute(f"EXPLAIN QUERY PLAN {query}").fetchall()[0][3])


@pytest.mark.parametrize(
    "id_column",
    [
        "id INTEGER NOT NULL AUTO_INCREMENT, PRIMARY KEY (id)",
        "id INT(11) UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY",
        "`id` bigint(20) unsigned NOT NULL auto_increment COMMENT 'a, (b', PRIMARY KEY USING BTREE (`id`)",
        "id INT AUTO_INCREMENT, CONSTRAINT pk PRIMARY KEY (ID)",
    ],
)
def test_a_generated_primary_key_is_the_row_id(connection: sqlite3.Connection, id_column: str) -> None:
    run(connection, f"CREATE TABLE t (k INT DEFAULT '0' NOT NULL, {id_column}) /*! ENGINE = innodb */ ")
    assert plan(connection, "SELECT * FROM t WHERE id = 1").endswith("USING INTEGER PRIMARY KEY (rowid=?)")
    connection.execute("INSERT INTO t (k) VALUES (1), (2)")
    assert connection.execute("INSERT INTO t (id, k) VALUES (0, 3), (NULL, 4), (20, 5), (0, 6)").rowcount == 4
    assert column(connection, "SELECT id FROM t ORDER BY k") == [1, 2, 3, 4, 20, 21]


@pytest.mark.parametrize("key", ["KEY xid (id)", "UNIQUE KEY xid (id)", "INDEX (id)", "PRIMARY KEY (id, k)"])
def test_a_generated_column_with_another_key(connection: sqlite3.Connection, key: str) -> None:
    run(connection, f"CREATE TABLE t (id INTEGER NOT NULL AUTO_INCREMENT, k INTEGER NOT NULL, {key})")
    assert " USING INDEX " in plan(connection, "SELECT * FROM t WHERE id = 1").replace("COVERING ", "")
    connection.execute("INSERT INTO t (k) VALUES (1), (2)")
    assert connection.execute("INSERT INTO t (id, k) VALUES (0, 3), (NULL, 4), (20, 5), (0, 6)").rowcount == 4
    assert column(connection, "SELECT id FROM t ORDER BY k") == [1, 2, 3, 4, 20, 21]


def test_keys_become_indexes_named_after_the_table(connection: sqlite3.Connection) -> None:
    keys = "KEY k (a), KEY (a, b), UNIQUE KEY u (b(10)) USING HASH, UNIQUE (a DESC), INDEX `k` (b)"
    for name in ("t1", "`t2`"):
        run(
            connection,
            f"CREATE TABLE {name} (a INT, b VARCHAR(20), {keys}) ENGINE=InnoDB DEFAULT CHARSET=utf8",
        )
    names = "SELECT name FROM sqlite_schema WHERE type = 'index' AND tbl_name = '{}' ORDER BY name"
    assert column(connection, names.format("t1")) == ["t1_a", "t1_a_3", "t1_k", "t1_k_4", "t1_u"]
    assert column(connection, names.format("t2")) == ["t2_a", "t2_a_3", "t2_k", "t2_k_4", "t2_u"]
    with pytest.raises(sqlite3.IntegrityError):
        connection.execute("INSERT INTO t1 VALUES (1, 'x'), (2, 'x')")


def test_if_not_exists_is_for_all_that_belongs_to_the_table(connection: sqlite3.Connection) -> None:
    statement = "CREATE TABLE IF NOT EXISTS t (id INT AUTO_INCREMENT, KEY k (id)) COMMENT='(x'"
    run(connection, statement)
    run(connection, statement)
    assert column(connection, "SELECT name FROM sqlite_schema ORDER BY name") == ["t", "t_k", "t_next_id"]
    with pytest.raises(sqlite3.OperationalError, match="table t already exists"):
        run(connection, statement.replace("IF NOT EXISTS ", ""))


def test_temporary_tables(connection: sqlite3.Connection) -> None:
    run(
        connection,
        "CREATE TEMPORARY TABLE t (id INT AUTO_INCREMENT PRIMARY KEY, a INT, KEY k (a)) ENGINE=MEMORY",
    )
    connection.execute("INSERT INTO t VALUES (0, 7), (0, 8)")
    assert column(connection, "SELECT id FROM t") == [1, 2]


def test_columns_and_options_of_mysql(connection: sqlite3.Connection) -> None:
    run(
        connection,
        """CREATE TABLE t (
            w INT UNSIGNED NOT NULL, d TINYINT(4) SIGNED DEFAULT -1, e DECIMAL(6, 2) UNSIGNED DEFAULT 0.5,
            c CHAR(10) CHARACTER SET utf8 COLLATE utf8_bin DEFAULT 'a;b', -- a comment, (
            s TIMESTAMP DEFAULT CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP(3) COMMENT 'x',
            PRIMARY KEY (w, d), CHECK (e >= 0.1), CONSTRAINT f FOREIGN KEY (d) REFERENCES t (w)
        ) ENGINE=InnoDB AUTO_INCREMENT=5 ROW_FORMAT=COMPRESSED PARTITION BY HASH (w) PARTITIONS 4""",
    )
    connection.execute("INSERT INTO t (w) VALUES (1)")
    assert connection.execute("SELECT w, d, e, c FROM t").fetchall() == [(1, -1, 0.5, "a;b")]
    with pytest.raises(sqlite3.IntegrityError):
        connection.execute("INSERT INTO t (w, e) VALUES (2, 0)")


def test_what_sqlite_knows_itself_stays(connection: sqlite3.Connection) -> None:
    run(connection, "CREATE TABLE t (a INT NOT NULL, b INT, PRIMARY KEY (a, b)) WITHOUT ROWID")
    with pytest.raises(sqlite3.OperationalError, match="no such column: rowid"):
        connection.execute("SELECT rowid FROM t")
    for statement in (
        "CREATE TABLE u AS SELECT 1",
        "CREATE TABLE u (a",
        "CREATE INDEX i ON t (b)",
        "CREATE",
        "",
    ):
        assert translate(statement, "mysql") is None


@pytest.mark.parametrize("serial", ["SERIAL", "bigserial"])
def test_serials_of_postgresql(connection: sqlite3.Connection, serial: str) -> None:
    run(
        connection,
        f"CREATE TABLE p (id {serial}, k INTEGER DEFAULT '0' NOT NULL, PRIMARY KEY (id)) ",
        "pgsql",
    )
    run(connection, f"CREATE TABLE s (id {serial}, k INTEGER, UNIQUE (k))", "pgsql")
    assert plan(connection, "SELECT * FROM p WHERE id = 1").endswith("USING INTEGER PRIMARY KEY (rowid=?)")
    for table in ("p", "s"):
        connection.execute(f"INSERT INTO {table} (k) VALUES (1), (2)")
        # A zero is a value like any other.
        connection.execute(f"INSERT INTO {table} VALUES (0, 3), (7, 4)")
        connection.execute(f"INSERT INTO {table} (k) VALUES (5)")
        assert column(connection, f"SELECT id FROM {table} ORDER BY k") == [1, 2, 0, 7, 8]
    with pytest.raises(sqlite3.IntegrityError):
        connection.execute("INSERT INTO s (k) VALUES (5)")


@pytest.mark.parametrize(
    ("statement", "dialect", "expected"),
    [
        ("ANALYZE TABLE t1, t2;", "mysql", "ANALYZE t1; ANALYZE t2"),
        ("analyze t1", "mysql", None),
        ("TRUNCATE TABLE t", "mysql", "DELETE FROM t"),
        ("truncate t -- all", "pgsql", "DELETE FROM t"),
        ("CREATE TABLE t (id INTEGER NOT NULL, PRIMARY KEY (id))", "pgsql", None),
    ],
)
def test_other_statements(statement: str, dialect: str, expected: str | None) -> None:
    assert translate(statement, dialect) == expected


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("SELECT * FROM t FORCE KEY (PRIMARY) LIMIT 5", "SELECT * FROM t LIMIT 5"),
        ("SELECT a FROM t USE INDEX (x, y) WHERE a=1", "SELECT a FROM t WHERE a = 1"),
        ("SELECT a FROM t ignore index (x)", "SELECT a FROM t"),
        ("SELECT a FROM t WHERE b <> 'FOR UPDATE' FOR UPDATE", "SELECT a FROM t WHERE b <> 'FOR UPDATE'"),
        ("SELECT a FROM t LOCK IN SHARE MODE", "SELECT a FROM t"),
        (
            "INSERT IGNORE INTO t VALUES (1.5e-3, x'ab', ?1)",
            "INSERT OR IGNORE INTO t VALUES ( 1.5e-3 , x'ab' , ?1 )",
        ),
        ("SELECT a FROM t FORCE INDEX", None),
        ("SELECT missing", None),
    ],
)
def test_queries_that_sqlite_does_not_understand(query: str, expected: str | None) -> None:
    assert loosen(query) == expected
