"""Work for which databases are measured: transactions, and loading tables."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.measure import CPU_PER_TRANSACTION, TRANSACTIONS, WALL
from benchmarks.row import Row, against_reference

SERVERS = {"MariaDB": "mariadb", "PostgreSQL": "postgres"}
LOADED = "--tables=4 --table-size=250000"


def _transactions() -> Iterator[Row]:
    for name, server in SERVERS.items():
        for script in ("oltp_read_only", "oltp_read_write", "oltp_insert"):
            arguments = f"{script} {{{server}}} {{tables}} --threads=16"
            figures = {TRANSACTIONS: 1.0, CPU_PER_TRANSACTION: 0.85}
            yield against_reference(f"{script}, {name}, 16 thr.", arguments, figures)


def _prepare() -> Iterator[Row]:
    for name, server in SERVERS.items():
        script = f"oltp_read_write {{{server}_empty}} {LOADED}"
        yield Row(
            f"prepare 4 x 250000 rows, {name}",
            {WALL: 0.95},
            f"{{reference}} {script} prepare",
            f"{{ours}} {script} prepare",
            before=f"{{reference}} {script} cleanup",
        )


ROWS = (*_transactions(), *_prepare())
