"""The cost of the driver dbapi against the native drivers, and of two processes against one, as a Markdown table.

python -m benchmarks.dbapi [--pairs N] [--time S] [--quick] [--list] [WORD...]
"""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.command import main
from benchmarks.measure import CPU_PER_QUERY, QUERIES
from benchmarks.row import Row

# Server, its native driver, and modules with the names of their options in Site.
SERVERS = (
    ("PostgreSQL", "pgsql", "{postgres}", (("psycopg2", "{dbapi_psycopg2}"), ("pg8000.dbapi", "{dbapi_pg8000}"))),
    ("MariaDB", "mysql", "{mariadb}", (("pymysql", "{dbapi_pymysql}"),)),
)
TWO_PROCESSES = "--workers=process --processes=2"


def _rows() -> Iterator[Row]:
    figures = {QUERIES: None, CPU_PER_QUERY: None}
    template = "{{ours}} oltp_point_select {} {{tables}} --threads=4 --time={{time}} run"
    for server, driver, native, modules in SERVERS:
        for module, options in modules:
            one, two = template.format(options), template.format(f"{options} {TWO_PROCESSES}")
            yield Row(
                f"{server}: {module} to a native driver", figures, template.format(native), one, f"ours, {driver}"
            )
            yield Row(f"{server}: {module}, two processes to one", figures, one, two, "ours, one process")


ROWS = tuple(_rows())

if __name__ == "__main__":
    main(ROWS, (__doc__ or "").split("\n")[0])
