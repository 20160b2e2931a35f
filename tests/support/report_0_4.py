"""A reader of the reports of sysbench 0.4.12, as scripts have it that were written for them."""

import re
from typing import Any

# Of sysbench 0.4.12 itself, as published: OLTP on MySQL with 10000 requests and one thread.
PUBLISHED = """\
OLTP test statistics:
    queries performed:
        read:                            140000
        write:                           50000
        other:                           20000
        total:                           210000
    transactions:                        10000  (344.27 per sec.)
    deadlocks:                           0      (0.00 per sec.)
    read/write requests:                 190000 (6541.05 per sec.)
    other operations:                    20000  (688.53 per sec.)

Test execution summary:
    total time:                          29.0473s
    total number of events:              10000
    total time taken by event execution: 28.9912
    per-request statistics:
         min:                                  2.24ms
         avg:                                  2.90ms
         max:                                 69.17ms
         approx.  95 percentile:               3.98ms

Threads fairness:
    events (avg/stddev):           10000.0000/0.00
    execution time (avg/stddev):   28.9912/0.00

"""

# Names and the lines that they are read from, spaces left open.
_SQL = {
    "read": r" +read: +(\d+)",
    "write": r" +write: +(\d+)",
    "other": r" +other: +(\d+)",
    "total": r" +total: +(\d+)",
    "transactions": r" +transactions: +(\d+) +\(([\d.]+) per sec\.\)",
    "deadlocks": r" +deadlocks: +(\d+) +\(([\d.]+) per sec\.\)",
    "requests": r" +read/write requests: +(\d+) +\(([\d.]+) per sec\.\)",
    "others": r" +other operations: +(\d+) +\(([\d.]+) per sec\.\)",
}
_SUMMARY = {
    "total_time_s": r" +total time: +([\d.]+)s",
    "events": r" +total number of events: +(\d+)",
    "execution_s": r" +total time taken by event execution: +([\d.]+)",
    "min_ms": r" +min: +([\d.]+)ms",
    "avg_ms": r" +avg: +([\d.]+)ms",
    "max_ms": r" +max: +([\d.]+)ms",
    "percentile": r" +approx\. +(\d+) percentile: +([\d.]+)ms",
    "fair_events": r" +events \(avg/stddev\): +([\d.]+)/([\d.]+)",
    "fair_time": r" +execution time \(avg/stddev\): +([\d.]+)/([\d.]+)",
}


def read_report(stdout: str) -> dict[str, Any]:
    """The values by name, pairs where a line has two; those of SQL only where there is such a block.

    Raises ValueError for a line that is missing or stands twice.
    """
    values = _read(_part(stdout, "Test execution summary:\n"), _SUMMARY)
    if "OLTP test statistics:\n" in stdout:
        values |= _read(_part(stdout, "OLTP test statistics:\n").partition("\n\n")[0] + "\n", _SQL)
    return values


def _part(stdout: str, heading: str) -> str:
    _, found, after = stdout.partition(heading)
    if not found or heading in after:
        raise ValueError(f"{heading!r} does not stand there once:\n{stdout}")
    return after


def _read(text: str, lines: dict[str, str]) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for name, pattern in lines.items():
        found = re.findall(rf"^{pattern}$", text, re.MULTILINE)
        if len(found) != 1:
            raise ValueError(f"{name} stands {len(found)} times in:\n{text}")
        numbers = found[0] if isinstance(found[0], tuple) else (found[0],)
        values[name] = tuple(map(float, numbers)) if len(numbers) > 1 else float(numbers[0])
    return values
