"""Work for which databases are measured: transactions, and loading tables."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.measure import CPU_PER_TRANSACTION, TRANSACTIONS, WALL
from benchmarks.row import Row, against_reference

SERVERS = {"MariaDB": "mariadb", "PostgreSQL": "postgres"}
LOADED = "--tables=4 --table-size=250000"
ONE_TABLE = "--tables=1 --table-size=1000000"


def _transactions() -> Iterator[Row]:
    for name, server in SERVERS.items():
        for script in ("oltp_read_only", "oltp_read_write", "oltp_insert"):
            arguments = f"{script} {{{server}}} {{tables}} --threads=16"
            figures = {TRANSACTIONS: 1.0, CPU_PER_TRANSACTION: 0.85}
            yield against_reference(f"{script}, {name}, 16 thr.", arguments, figures)


def _prepare() -> Iterator[Row]:
    for name, server in SERVERS.items():
        script = f"oltp_read_write {{{server}_empty}} {LOADED}"
        for title, option, goal in ("", "", 0.95), (", --bulk=copy", " --bulk=copy", 0.5):
            yield Row(
                f"prepare 4 x 250000 rows, {name}{title}",
                {WALL: goal},
                f"{{reference}} {script} prepare",
                f"{{ours}} {script}{option} prepare",
                before=f"{{reference}} {script} cleanup",
            )


def _prepare_split() -> Iterator[Row]:
    for name, server in SERVERS.items():
        script = f"oltp_read_write {{{server}_empty}} {ONE_TABLE} --threads=2"
        for option in "", " --bulk=copy":
            yield Row(
                f"prepare 1000000 rows, 2 thr.,{option} --prepare-split, {name}",
                {WALL: 0.75 if not option else None},
                f"{{reference}} {script} prepare",
                f"{{ours}} {script}{option} --prepare-split=on prepare",
                before=f"{{reference}} {script} cleanup",
            )


ROWS = (*_transactions(), *_prepare(), *_prepare_split())
