"""mysqlslap-py against mariadb-slap, with the same arguments on the same server.

    python -m benchmarks.slap [--ours COMMAND] [--reference PROGRAM] [--pairs N] [WORD...] -- LOGIN...

LOGIN are arguments of both that reach a server as a user who may make schemas, such as -S /run/mysqld/mysqld.sock
-uroot. Each row runs both in turn (A B A B ...). The table shows the least seconds that each reports, as what else the
machine does only adds to them; the median of the pairs' ratios, with the middle half of them; and the least seconds
that the whole programs take. Ratios are below 1 where ours is faster. mariadb-slap's reported seconds include the
connections of its clients, ours do not; both whole programs make them. WORDs select the rows whose names contain one
of them.
"""

from __future__ import annotations

import argparse
import os
import platform
import shlex
import subprocess
import sys
import time
from collections.abc import Sequence
from statistics import quantiles

from benchmarks.ending import ends_with_its_reader

ROWS = {
    **{
        f"{load_type}, {clients} clients": f"-a --auto-generate-sql-load-type={load_type} {key} -c {clients}"
        f" --number-of-queries={queries}"
        for load_type, key, queries in (
            ("read", "", 4000),
            ("key", "--auto-generate-sql-guid-primary", 12000),
            ("write", "--auto-generate-sql-add-autoincrement", 6000),
            ("update", "--auto-generate-sql-guid-primary", 6000),
            ("mixed", "--auto-generate-sql-add-autoincrement", 4000),
        )
        for clients in (1, 8, 100)
    },
    "mixed, 50 columns, 100 clients": "-a --auto-generate-sql-add-autoincrement -y 20 -x 30 -c 100"
    " --number-of-queries=4000",
    "key, detach 10, 8 clients": "-a --auto-generate-sql-load-type=key --auto-generate-sql-guid-primary -c 8"
    " --number-of-queries=8000 --detach=10",
}


def measure(command: Sequence[str]) -> tuple[float, float]:
    """(seconds reported, seconds of the whole program)"""
    started_s = time.monotonic()
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    took_s = time.monotonic() - started_s
    fields = done.stdout.split(",")
    if done.returncode or len(fields) != 7:
        sys.exit(f"{shlex.join(command)}\n{done.stdout}{done.stderr}")
    return float(fields[2]), took_s


@ends_with_its_reader()
def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--ours", default="mysqlslap-py")
    parser.add_argument("--reference", default="mariadb-slap")
    parser.add_argument("--pairs", type=int, default=21)
    parser.add_argument("words", nargs="*")
    separator = sys.argv.index("--") if "--" in sys.argv else len(sys.argv)
    options = parser.parse_args(sys.argv[1:separator])
    login = sys.argv[separator + 1 :]
    print(f"{platform.machine()}, {os.cpu_count()} cores, Linux {platform.release()}, {options.pairs} pairs")
    print()
    print("| test | mariadb-slap, s | ours, s | ratio | mariadb-slap, whole, s | ours, whole, s |")
    print("| --- | ---: | ---: | ---: | ---: | ---: |")
    for name, arguments in ROWS.items():
        if options.words and not any(word in name for word in options.words):
            continue
        rest = ["--no-defaults", *login, *arguments.split(), "--csv"]
        pairs = [
            (*measure([options.reference, *rest]), *measure([*shlex.split(options.ours), *rest]))
            for _ in range(options.pairs)
        ]
        theirs_s, theirs_whole_s, ours_s, ours_whole_s = (min(values) for values in zip(*pairs, strict=True))
        low, middle, high = quantiles([ours / theirs for theirs, _, ours, _ in pairs], method="inclusive")
        print(
            f"| {name} | {theirs_s:.3f} | {ours_s:.3f} | {middle:.2f} ({low:.2f}..{high:.2f})"
            f" | {theirs_whole_s:.3f} | {ours_whole_s:.3f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
