"""What --statements=on costs on point selects, against off, as a Markdown table.

python -m benchmarks.statements [--pairs N] [--time S] [--quick] [--list] [WORD...]

Without a server the cost is seen alone: what a statement costs the engine. "literal" is a text that is built, and
normalised, at every call.
"""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.command import main
from benchmarks.measure import CPU_PER_QUERY, QUERIES
from benchmarks.row import Row

DATABASES = {"MariaDB": "{mariadb}", "SQLite": "{sqlite}", "no server": "--db-driver=null"}
SCRIPTS = {"prepared": "oltp_point_select {tables}", "literal": "{lua}/literal.lua"}


def _rows() -> Iterator[Row]:
    for name, database in DATABASES.items():
        for kind, script in SCRIPTS.items():
            off, on = (
                f"{{ours}} {script} {database} --statements={value} --time={{time}} run" for value in ("off", "on")
            )
            yield Row(f"point selects, {name}, {kind}", {QUERIES: None, CPU_PER_QUERY: None}, off, on, "ours, off")


ROWS = tuple(_rows())

if __name__ == "__main__":
    main(ROWS, (__doc__ or "").split("\n")[0])
