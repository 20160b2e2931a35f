"""What --statements=on costs on point selects, on a private MariaDB server, on SQLite and on no server, off and on in
turn. The last one shows the cost alone: what a statement costs the engine without a database.

    python -m benchmarks.statements [--pairs N] [--time S] [--threads N]

The table shows medians over the pairs, and the median of the pairs' ratios with its spread. "literal" is a
text that is built, and normalised, at every call.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import tempfile
from contextlib import ExitStack, closing
from pathlib import Path

from benchmarks.engine import measure, spread
from tests.support.mariadb import MariaDB

OURS = [sys.executable, "-m", "sysbench_py"]
LITERAL = """\
function thread_init() con = sysbench.sql.driver():connect() end
function event()
   con:query("SELECT c FROM sbtest1 WHERE id=" .. sysbench.rand.default(1, 10000))
end
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--pairs", type=int, default=15, help="pairs of runs for each row [%(default)s]")
    parser.add_argument("--time", type=int, default=2, help="seconds of each run [%(default)s]")
    parser.add_argument("--threads", type=int, default=2, help="threads of each run [%(default)s]")
    options = parser.parse_args()
    print("| point selects | off /s | on /s | on to off | off CPU us | on CPU us | on to off |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: |")
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        literal = folder / "literal.lua"
        literal.write_text(LITERAL)
        mariadb = stack.enter_context(closing(MariaDB()))
        mariadb.start()
        sqlite = ["--db-driver=sqlite", f"--sqlite-db={folder / 'test.db'}"]
        for name, database in (("MariaDB", mariadb.args), ("SQLite", sqlite), ("no server", ["--db-driver=null"])):
            prepare = [*OURS, "oltp_point_select", *database, "--table-size=10000", "prepare"]
            subprocess.run(prepare, check=True, stdout=subprocess.DEVNULL)
            for kind, script in (("prepared", "oltp_point_select"), ("literal", str(literal))):
                arguments = [script, *database, f"--threads={options.threads}", f"--time={options.time}"]
                if kind == "prepared":
                    arguments.append("--table-size=10000")
                pairs = [
                    [measure([*OURS, f"--statements={value}"], arguments) for value in ("off", "on")]
                    for _ in range(options.pairs)
                ]
                off, on = zip(*pairs, strict=True)
                print(
                    f"| {name}, {kind} "
                    f"| {statistics.median(m.rate_per_s for m in off):,.0f} "
                    f"| {statistics.median(m.rate_per_s for m in on):,.0f} "
                    f"| {spread([b.rate_per_s / a.rate_per_s for a, b in pairs])} "
                    f"| {statistics.median(m.cpu_us for m in off):.3f} "
                    f"| {statistics.median(m.cpu_us for m in on):.3f} "
                    f"| {spread([b.cpu_us / a.cpu_us for a, b in pairs])} |",
                    flush=True,
                )


if __name__ == "__main__":
    main()
