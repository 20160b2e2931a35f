"""One run: the banner, the workers, reports while they work, the final report."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from enum import Enum

from sysbench_py import core
from sysbench_py.errors import ExitStatus
from sysbench_py.interrupts import Interrupts
from sysbench_py.log import DEBUG, FATAL, INFO, NOTICE, log, log_at
from sysbench_py.plan import Plan
from sysbench_py.sinks import text
from sysbench_py.stats.collect import interval_stats, total_stats
from sysbench_py.stats.model import NS_PER_S, TotalStats
from sysbench_py.worker import Crew
from sysbench_py.workload import Workload

# How often the main loop looks at the queue of a rate-limited run, so that its overflow is seen.
QUEUE_CHECK_S = 0.1


class Action(Enum):
    """What becomes due during a run."""

    INTERVAL = 0
    CHECKPOINT = 1
    SHUTDOWN = 2


class Runner:
    """One run of a workload."""

    def __init__(self, plan: Plan, workload: Workload, interrupts: Interrupts) -> None:
        self._plan = plan
        self._workload = workload
        self._interrupts = interrupts
        self._crew = Crew(workload.run_worker, plan.threads, plan.thread_stack_size_bytes)
        self._start_ns = 0
        self._last_interval: core.Snapshot | None = None
        self._last_checkpoint: core.Snapshot | None = None

    def run(self) -> ExitStatus:
        """Do everything; the status says whether it went well."""
        plan = self._plan
        if not self._workload.begin():
            return ExitStatus.ERROR
        self._announce()
        self._seed()
        for priority, message in self._workload.mode_messages():
            log(priority, message)
        if not self._workload.open():
            return ExitStatus.ERROR
        log(NOTICE, "Initializing worker threads...\n")
        self._crew.start()
        if not self._all_ready():
            return ExitStatus.ERROR
        self._interrupts.run_started(self._crew.wake)
        limit_s = plan.time_limit_s + plan.warmup_s if plan.time_limit_s else 0
        self._start_ns = core.barrier_open(limit_s * NS_PER_S, True)
        log(NOTICE, "Threads started!\n")
        self._warm_up()
        self._wait_and_report()
        return self._finish()

    # -- before the workers run

    def _announce(self) -> None:
        plan = self._plan
        log(NOTICE, "Running the test with following options:")
        log(NOTICE, f"Number of threads: {plan.threads}")
        if plan.warmup_s:
            log(NOTICE, f"Warmup time: {plan.warmup_s}s")
        if plan.rate_per_s:
            log(NOTICE, f"Target transaction rate: {plan.rate_per_s}/sec")
        if plan.report_interval_s:
            log(NOTICE, f"Report intermediate results every {plan.report_interval_s} second(s)")
        if plan.checkpoints_s:
            log(NOTICE, f"Report checkpoint(s) at {', '.join(map(str, plan.checkpoints_s))} seconds")
        if plan.debug:
            log(NOTICE, "Debug mode enabled.\n")
        if plan.validate:
            log(NOTICE, "Validation checks: on.\n")
        if plan.seed:
            log(NOTICE, f"Initializing random number generator from seed ({plan.seed}).\n")
        else:
            log(NOTICE, "Initializing random number generator from current time\n")
        if plan.forced_shutdown_s is not None:
            log(NOTICE, f"Forcing shutdown in {plan.time_limit_s + plan.forced_shutdown_s} seconds")
        log(NOTICE, "")

    def _seed(self) -> None:
        """Worker t gets draws 4t+1 to 4t+4 of libc's generator: its stream depends on seed and id alone."""
        plan = self._plan
        libc = core.LibcRandom((plan.seed or int(time.time())) & 0xFFFFFFFF)
        states = [libc.state() for _ in range(plan.threads)]
        core.run_setup(states, self._workload.events_limit(plan), not plan.warmup_s, plan.percentile > 0)
        core.pacer_setup(plan.rate_per_s, libc.state())

    def _all_ready(self) -> bool:
        """Wait until every worker is set up. If one fails, all are called off."""
        timeout_s = self._plan.thread_init_timeout_s
        until_ns = core.now_ns() + timeout_s * NS_PER_S
        while core.barrier_wait(until_ns) < self._plan.threads:
            if core.now_ns() >= until_ns:
                log(FATAL, f"Worker threads failed to initialize within {timeout_s} seconds!")
                leave_now(ExitStatus.FORCED)
        if not core.run_failed():
            return True
        core.barrier_open(0, False)
        self._crew.join()
        log(FATAL, "Thread initialization failed!")
        return False

    def _warm_up(self) -> None:
        warmup_s = self._plan.warmup_s
        if not warmup_s:
            return
        log(NOTICE, f"Warming up for {warmup_s} seconds...\n")
        self._crew.wake.wait(warmup_s)
        self._last_interval = self._last_checkpoint = core.snapshot()
        core.run_limit_events()
        self._start_ns += warmup_s * NS_PER_S

    # -- while they run

    def _wait_and_report(self) -> None:
        """Sleep until the workers have ended, waking for what is due."""
        due = list(self._deadlines())
        while self._crew.running > 0:
            wait_s = min((at_s for at_s, _ in due), default=3600.0) - self._elapsed_s()
            if self._plan.rate_per_s:
                wait_s = min(wait_s, QUEUE_CHECK_S)
            self._crew.wake.wait(max(wait_s, 0))
            if self._interrupts.signal_number is not None:
                self._crew.join()
            queue_length, concurrency = core.pacer_tick() if self._plan.rate_per_s else (0, 0)
            elapsed_s = self._elapsed_s()
            for index, (at_s, action) in enumerate(due):
                if at_s > elapsed_s or self._crew.running == 0:
                    continue
                if action is Action.INTERVAL:
                    self._report_interval(queue_length, concurrency)
                    missed = int((elapsed_s - at_s) / self._plan.report_interval_s)
                    due[index] = (at_s + self._plan.report_interval_s * (1 + missed), action)
                elif action is Action.CHECKPOINT:
                    self._report_checkpoint()
                    due[index] = (float("inf"), action)
                else:
                    self._force_shutdown()

    def _elapsed_s(self) -> float:
        return (core.now_ns() - self._start_ns) / NS_PER_S

    def _deadlines(self) -> Iterator[tuple[float, Action]]:
        """(seconds since the start, what to do then)."""
        plan = self._plan
        if plan.report_interval_s:
            yield plan.report_interval_s, Action.INTERVAL
        for checkpoint_s in plan.checkpoints_s:
            yield checkpoint_s, Action.CHECKPOINT
        if plan.forced_shutdown_s is not None:
            yield plan.time_limit_s + plan.forced_shutdown_s, Action.SHUTDOWN

    def _report_interval(self, queue_length: int, concurrency: int) -> None:
        snapshot = core.snapshot()
        stats = interval_stats(
            snapshot,
            self._last_interval,
            start_ns=self._start_ns,
            threads_running=self._crew.running,
            percentile=self._plan.percentile,
            sql=self._workload.sql,
            rate_mode=self._plan.rate_per_s > 0,
            queue_length=queue_length,
            concurrency=concurrency,
        )
        self._last_interval = snapshot
        messages = self._workload.interval_messages(stats)
        for message in text.intermediate_messages(stats) if messages is None else messages:
            log_at(NOTICE, stats.time_total_s, message)

    def _report_checkpoint(self) -> None:
        snapshot = core.snapshot()
        stats = self._total(snapshot)
        self._last_checkpoint = snapshot
        log_at(NOTICE, stats.time_total_s, text.CHECKPOINT_HEADING)
        self._report_total(stats, final=False)

    def _total(self, snapshot: core.Snapshot) -> TotalStats:
        return total_stats(
            snapshot,
            self._last_checkpoint,
            start_ns=self._start_ns,
            threads_running=self._crew.running,
            percentile=self._plan.percentile,
            sql=self._workload.sql,
        )

    def _report_total(self, stats: TotalStats, *, final: bool) -> None:
        if self._plan.histogram:
            for message in text.histogram_messages(stats.histogram):
                log(NOTICE, message)
        messages = self._workload.total_messages(stats, final)
        if messages is None:
            messages = text.cumulative_messages(stats, self._workload.report_block(stats))
        for message in messages:
            log(NOTICE, message)
        if self._plan.debug:
            for message in text.debug_messages(stats):
                log(DEBUG, message)
            log(NOTICE, "")

    # -- the end

    def _force_shutdown(self) -> None:
        core.run_stop()
        unfinished = core.run_unfinished()
        log(FATAL, "The --max-time limit has expired, forcing shutdown...")
        if unfinished:
            log(NOTICE, f"\nNumber of unfinished transactions on forced shutdown: {unfinished}")
        self._report_total(self._total(core.snapshot()), final=True)
        leave_now(ExitStatus.FORCED)

    def _finish(self) -> ExitStatus:
        snapshot = core.snapshot()
        self._crew.join()
        log(INFO, "Done.\n")
        self._report_total(self._total(snapshot), final=True)
        ok = self._workload.end() and not core.run_failed()
        return self._interrupts.status(ExitStatus.OK if ok else ExitStatus.ERROR)


def leave_now(status: ExitStatus) -> None:
    """End the process although workers are still inside of events."""
    core.output_failed()
    os._exit(status)
