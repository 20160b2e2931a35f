"""A Lua script as the test of a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sysbench_py import core
from sysbench_py.drivers.seen import server_seen, waits
from sysbench_py.log import FATAL, log, say
from sysbench_py.lua_team import LuaTeam
from sysbench_py.plan import Plan
from sysbench_py.script import State
from sysbench_py.stats.model import NO_PERCENTILE, NS_PER_S, IntervalStats, TotalStats
from sysbench_py.workload import Workload


class LuaWorkload(Workload):
    """`main` is the main state, loaded and with its options set."""

    def __init__(self, main: State, options: Mapping[str, Any], plan: Plan) -> None:
        self._main = main
        self._options = options
        self._threads = plan.threads
        self._driver = plan.db_driver
        self._team = LuaTeam(main.script, options, plan)
        self._hook_failed = False
        # Hooks count only if the script's body has set them in the main state.
        self._hooks = {name for name in ("report_intermediate", "report_cumulative") if main.call("hook_defined", name)}
        self._background: dict[str, State] = {}

    @property
    def sql(self) -> bool:
        return core.db_used()

    @property
    def waits_for_server(self) -> bool:
        return server_seen()

    def begin(self) -> bool:
        if self._main.call("defined", "init") and not self._main.call("call", "init"):
            return False
        if not self._main.call("defined", "event"):
            log(FATAL, f"cannot find the event() function in {self._main.script.title}")
            return False
        return True

    def run_workers(self, thread_ids: Sequence[int]) -> bool:
        return self._team.run_events(thread_ids)

    def tell_of_waits(self) -> None:
        for address, threads in waits().items():
            who = "A thread has" if threads == 1 else f"{threads} threads have"
            say(f"{who} no answer from {address}: is there a server of --db-driver={self._driver}?")

    def interval_messages(self, stats: IntervalStats) -> Sequence[str] | None:
        if "report_intermediate" not in self._hooks:
            return None
        return self._call_hook(
            self._background_state("report_intermediate"),
            "report_intermediate",
            {**_stat(stats), "queue_length": stats.queue_length, "concurrency": stats.concurrency},
        )

    def total_messages(self, stats: TotalStats, final: bool) -> Sequence[str] | None:
        messages = self._call_total_hook(stats, final) if "report_cumulative" in self._hooks else None
        if final:
            core.json_end()
        return messages

    def _call_total_hook(self, stats: TotalStats, final: bool) -> Sequence[str] | None:
        # Checkpoints are reported in a state of their own, the end in the main one.
        state = self._main if final else self._background_state("report_cumulative")
        return self._call_hook(
            state,
            "report_cumulative",
            {
                **_stat(stats),
                # At the end none is running any more; the report is of all of them.
                "threads_running": self._threads if final else stats.threads_running,
                "latency_min": stats.latency.min_ns / NS_PER_S,
                "latency_max": stats.latency.max_ns / NS_PER_S,
                "latency_avg": stats.latency.avg_ns / NS_PER_S,
                "latency_sum": stats.latency.sum_ns / NS_PER_S,
            },
        )

    def end(self) -> bool:
        for state in self._background.values():
            state.close()
        if self._main.call("defined", "done"):
            self._main.call("call", "done")
        return self._main.close() and not self._hook_failed

    def _background_state(self, hook: str) -> State:
        """The state in which a report hook runs, made at its first use."""
        if hook not in self._background:
            state = State(self._main.script, self._threads)
            state.load()
            state.set_options(self._options)
            self._background[hook] = state
        return self._background[hook]

    def _call_hook(self, state: State, name: str, stat: Mapping[str, Any]) -> Sequence[str] | None:
        """Let a hook print its report. If it fails, the usual one follows."""
        if state.call("call_hook", name, stat):
            return ()
        self._hook_failed = True
        return None


def _stat(stats: IntervalStats | TotalStats) -> dict[str, Any]:
    """What both report hooks get: counts of the period, times in seconds."""
    counters = stats.counters
    first, *_ = stats.latency.percentiles or (NO_PERCENTILE,)
    return {
        "threads_running": stats.threads_running,
        "time_interval": stats.interval_s,
        "time_total": stats.time_total_s,
        "latency_pct": first.latency_ns / NS_PER_S,
        "events": counters.events,
        "reads": counters.reads,
        "writes": counters.writes,
        "other": counters.other,
        "errors": counters.errors,
        "reconnects": counters.reconnects,
    }
