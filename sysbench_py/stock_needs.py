"""What the stock workloads need of a database, by the name of the script and its options."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple


class Needs(NamedTuple):
    """Tables sbtest1 to sbtest`tables`, with `rows` rows each; 0 if that does not matter.

    A worker prepares `statements`, BEGIN among them with `transactions`. `work` is how many statements an event has
    besides BEGIN and COMMIT, None if that is no matter of options.
    """

    tables: int
    rows: int = 0
    statements: int = 0
    transactions: bool = False
    work: int | None = None


# How many statements a worker prepares for each table, by the option that says how often an event executes them.
_POINTS = {"point_selects": 1}
_RANGES = {"simple_ranges": 1, "sum_ranges": 1, "order_ranges": 1, "distinct_ranges": 1}
_WRITES = {"index_updates": 1, "non_index_updates": 1, "delete_inserts": 2}
_MIXED = {
    "oltp_read_only": _POINTS | _RANGES,
    "oltp_read_write": _POINTS | _RANGES | _WRITES,
    "oltp_write_only": _WRITES,
}
_ONE_A_TABLE = ("oltp_point_select", "oltp_update_index", "oltp_update_non_index", "oltp_delete")
_ONE_TABLE = ("select_random_points", "select_random_ranges")


def stock_needs(title: str, options: Mapping[str, Any]) -> Needs | None:
    """The needs of the script called `title`; None if it is none of the stock workloads."""
    name = title.removesuffix(".lua")
    if name == "bulk_insert":
        return Needs(options["threads"])
    if not {"tables", "table_size", "skip_trx", "range_selects"} <= options.keys():
        return None
    tables, rows = _count(options["tables"]), _count(options["table_size"])
    prepares = options["db_ps_mode"] != "disable"
    if name in _MIXED:
        used = [each for each in _MIXED[name] if options["range_selects"] or each not in _RANGES]
        transactions = not options["skip_trx"]
        statements = tables * sum(_MIXED[name][each] for each in used) + 2 * transactions
        work = sum(_count(options[each]) for each in used)
        return Needs(tables, rows, statements * prepares, transactions and prepares, work)
    if name in _ONE_A_TABLE:
        return Needs(tables, rows, tables * prepares)
    if name in _ONE_TABLE:
        return Needs(1, rows, 1 * prepares)
    return Needs(tables) if name == "oltp_insert" else None


def _count(value: float) -> int:
    """Numbers of scripts may be of any kind."""
    return max(int(value), 0) if math.isfinite(value) else 0
