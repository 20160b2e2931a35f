"""The slap test: the job of mysqlslap, on every driver."""

from __future__ import annotations

from sysbench_py.builtin.slap.options import OPTIONS
from sysbench_py.builtin.slap.slap import SlapTest
from sysbench_py.options import OptionSet
from sysbench_py.plan import Plan

__all__ = ["OPTIONS", "create"]


def create(options: OptionSet, plan: Plan) -> SlapTest:
    """The test as the options ask for it; they are read when it runs."""
    return SlapTest(options, plan)
