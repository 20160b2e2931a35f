"""How exact --rate is on an empty event, and what a server that stands still for 2 s looks like.

    python -m benchmarks.open_loop [pace] [stall]

"pace": the lag is the latency of an empty event, from its intended start to its end; it needs an idle machine.
"stall": point selects on a private PostgreSQL server that is stopped (SIGSTOP) for 2 of 10 s.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import closing
from pathlib import Path

from benchmarks.ending import ends_with_its_reader
from tests.support.postgres import PostgreSQL

OURS = [sys.executable, "-m", "sysbench_py"]


def block(output: str) -> str:
    """The report's part on the open loop."""
    return "Open loop (" + output.split("\nOpen loop (")[1]


def run(*arguments: str) -> str:
    done = subprocess.run([*OURS, *arguments, "run"], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(done.stdout + done.stderr)
    return done.stdout


def pace() -> None:
    print("| rate asked | rate reached | lag avg ms | p50 | p95 | p99 | max |")
    print("| ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / "empty.lua"
        script.write_text("function event() end\n")
        for rate, threads in ((100, 2), (1000, 2), (20000, 2)):
            output = run(str(script), f"--rate={rate}", f"--threads={threads}", "--time=10", "--rate-detail")
            lines = block(output).splitlines()
            reached = next(line for line in lines if "rate reached" in line).split(":")[1].split()[0]
            lags = next(line for line in lines if "intended start" in line).split("start")[1].split()
            print(f"| {rate} | {reached} | {' | '.join(lags)} |", flush=True)


def stall() -> None:
    with closing(PostgreSQL()) as server:
        server.start()
        test = ["oltp_point_select", *server.args, "--table-size=10000"]
        subprocess.run([*OURS, *test, "prepare"], check=True, stdout=subprocess.DEVNULL)

        def stop_for_2_s() -> None:
            time.sleep(4)
            server.stall(2)

        for title, options in (("with --rate=500", ("--rate=500", "--rate-detail")), ("without a rate", ())):
            thread = threading.Thread(target=stop_for_2_s)
            thread.start()
            output = run(*test, "--threads=2", "--time=10", "--percentile=99", *options)
            thread.join()
            print(f"{title}:\n")
            print(output[output.index("Latency (ms):") : output.index("Threads fairness:")])
            if options:
                print(block(output))


@ends_with_its_reader()
def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("parts", nargs="*", metavar="pace|stall", help="what to measure [both]")
    options = parser.parse_args()
    parts = {"pace": pace, "stall": stall}
    if not set(options.parts) <= set(parts):
        parser.error(f"unknown: {' '.join(options.parts)}")
    print(f"{os.cpu_count()} cores, load average {os.getloadavg()[0]:.1f}\n")
    for name in options.parts or parts:
        parts[name]()
        print()


if __name__ == "__main__":
    main()
