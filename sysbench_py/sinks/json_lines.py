"""Every interval as a line of JSON, an `IntervalStats` of docs/result.schema.json."""

from __future__ import annotations

import json

from sysbench_py.stats.model import IntervalStats
from sysbench_py.stats.result import Setup
from sysbench_py.stats.serialise import to_data


def head(_setup: Setup) -> str:
    """Nothing: all lines are alike."""
    return ""


def row(_setup: Setup, stats: IntervalStats) -> str:
    """The line of an interval."""
    return json.dumps(to_data(stats), allow_nan=False) + "\n"
