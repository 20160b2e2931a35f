"""How often a comparison of a set-up with itself finds a difference: `python -m benchmarks.false_alarms --help`.

Both sides are the same point selects on SQLite. `single` compares one run with the next, over their intervals;
`folders` several runs with several others; `pairs` does what `sysbench ab` does.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.ending import ends_with_its_reader
from sysbench_py.api import Plan, prepare

TEST = "oltp_point_select"


@ends_with_its_reader()
def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("way", choices=("single", "folders", "pairs"))
    parser.add_argument("--comparisons", type=int, default=20)
    parser.add_argument("--runs", type=int, default=4, help="of each side, for folders and pairs")
    parser.add_argument("--time", type=int, default=2, help="seconds of a run; single needs 10 or more")
    arguments = parser.parse_args()
    alarms = 0
    with tempfile.TemporaryDirectory(prefix="sysbench-") as name:
        folder = Path(name)
        options = {"db_driver": "sqlite", "sqlite_db": str(folder / "test.db"), "threads": 1}
        prepare(Plan(test=TEST, options=options))
        plan = Plan(test=TEST, options={**options, "time": arguments.time})
        for number in range(arguments.comparisons):
            verdict = _verdict(arguments.way, plan, arguments.runs, folder / str(number))
            alarms += not verdict.startswith("no difference shown")
            print(f"{number + 1}: {verdict}", flush=True)
    print(f"{arguments.way}: {alarms} false alarms in {arguments.comparisons} comparisons")


def _verdict(way: str, plan: Plan, runs: int, folder: Path) -> str:
    """The line that begins with the verdict."""
    if way == "pairs":
        # A comment is an option like any other; what differs is its value.
        sides = ("--a=--db-debug=off", "--b=--db-debug=false")
        text = _sysbench("ab", *plan.arguments, *sides, f"--pairs={runs}", f"--folder={folder}", "run")
    else:
        for side in ("a", "b"):
            (folder / side).mkdir(parents=True)
            for number in range(1 if way == "single" else runs):
                _sysbench(*plan.arguments, f"--output=json:{folder / side / str(number)}.json", "run")
        text = _sysbench("compare", str(folder / "a"), str(folder / "b"))
    return next(line for line in text.splitlines() if line.startswith(("no difference", "B is")))


def _sysbench(*words: str) -> str:
    return subprocess.run(
        [sys.executable, "-m", "sysbench_py", *words], check=True, stdout=subprocess.PIPE, encoding="utf-8"
    ).stdout


if __name__ == "__main__":
    main()
