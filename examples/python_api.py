"""Run a test from Python and look at its result: python examples/python_api.py"""

import tempfile
from pathlib import Path

import sysbench_py

with tempfile.TemporaryDirectory() as folder:
    plan = sysbench_py.Plan(
        test="oltp_point_select",
        options={
            "db_driver": "sqlite",
            "sqlite_db": str(Path(folder) / "example.db"),
            "tables": 1,
            "table_size": 1000,
            "threads": 2,
            "time": 2,
            "percentile": [50, 99, 99.9],
        },
    )
    sysbench_py.prepare(plan)
    result = sysbench_py.run(plan)

total = result.total
print(f"{result.setup.test} on SQLite {result.setup.databases[0].server_version}")
print(f"{total.counters.events} events, {total.events_per_s:.0f} a second")
for percentile in total.latency.percentiles:
    print(f"{percentile}% took at most {percentile.latency_ns / 1000:.0f} us")
for interval in result.intervals:
    print(f"at {interval.time_total_s:.1f} s: {interval.events_per_s:.0f} events/s")
