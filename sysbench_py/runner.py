"""One run: the banner, the workers, reports while they work, the final report."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from enum import Enum
from typing import TYPE_CHECKING

from sysbench_py import core, progress
from sysbench_py.client_meter import SAMPLE_S, ClientMeter
from sysbench_py.errors import ExitStatus, UsageError
from sysbench_py.interrupts import Interrupts, leave_now
from sysbench_py.late import late_statements, late_threads
from sysbench_py.live import open_live
from sysbench_py.log import DEBUG, FATAL, INFO, NOTICE, log, log_at, say
from sysbench_py.plan import Plan
from sysbench_py.rates import describe
from sysbench_py.sinks import text, text_0_4, text_detail
from sysbench_py.sinks.text_client import limit_message
from sysbench_py.stats.client import Client
from sysbench_py.stats.collect import interval_stats, total_stats
from sysbench_py.stats.model import NS_PER_S, IntervalStats, TotalStats
from sysbench_py.stats.open_loop import OpenLoopMeter
from sysbench_py.worker import Crew, crew_groups
from sysbench_py.workload import Workload

if TYPE_CHECKING:
    from sysbench_py.recording import Recording

# How often the main loop looks at the queue of a rate-limited run, so that its overflow is seen.
QUEUE_CHECK_S = 0.1
LONGEST_WAIT_S = 3600.0
# How long an interval is if only the outputs need some.
RECORDED_INTERVAL_S = 1
PROGRESS_S = 1
# How long an interrupted run waits for events to end.
INTERRUPT_GRACE_S = 2.0
# How long after the time limit a user is told what the run is waiting for.
LATE_S = 5


class Action(Enum):
    """What becomes due during a run."""

    INTERVAL = 0
    CHECKPOINT = 1
    SHUTDOWN = 2
    LATE = 3
    PROGRESS = 4
    RATE_STEP = 5
    CLIENT_SAMPLE = 6


# What is of no use when the workers have ended before the main loop woke.
_WHILE_RUNNING = (Action.SHUTDOWN, Action.LATE, Action.PROGRESS, Action.CLIENT_SAMPLE)


class Runner:
    """One run of a workload. Without a `banner` it begins in silence, as one of several."""

    def __init__(
        self,
        plan: Plan,
        workload: Workload,
        interrupts: Interrupts,
        recording: Recording | None = None,
        *,
        banner: bool = True,
    ) -> None:
        self._plan = plan
        self._workload = workload
        self._interrupts = interrupts
        self._recording = recording
        self._banner = banner
        self._interval_s = plan.report_interval_s or (RECORDED_INTERVAL_S if recording else 0)
        self._crew = _make_crew(plan, workload)
        carriers = min(plan.multiplex, plan.threads)
        self._client = ClientMeter(carriers or plan.threads, carriers)
        self._live = open_live(plan.live)
        self._start_ns = 0
        self._cut_short: list[str] = []
        self._last_interval: core.Snapshot | None = None
        self._last_checkpoint: core.Snapshot | None = None
        self._last_progress: core.Snapshot | None = None
        self._warmed_up: core.Snapshot | None = None
        self._open_loop: OpenLoopMeter[core.Snapshot] | None = None
        if plan.rate_steps:
            steps = tuple((step.rate_per_s, step.length_s) for step in plan.rate_steps)
            self._open_loop = OpenLoopMeter(steps, plan.arrival, lambda: core.pacer_tick(True))

    def run(self) -> ExitStatus:
        """Do everything; the status says whether it went well."""
        plan = self._plan
        if not self._workload.begin():
            return ExitStatus.ERROR
        if self._banner:
            self._announce()
        self._seed()
        for priority, message in self._workload.mode_messages():
            log(priority, message)
        if not self._workload.open():
            return ExitStatus.ERROR
        self._announce_helpers()
        if self._banner:
            log(NOTICE, "Initializing worker threads...\n")
        self._crew.start()
        if not self._all_ready():
            return ExitStatus.ERROR
        self._begin_recording()
        self._interrupts.run_started(self._crew.wake)
        # Before the barrier opens, as the workers may print at once.
        if self._banner:
            log(NOTICE, "Threads started!\n")
        limit_s = plan.time_limit_s + plan.warmup_s if plan.time_limit_s else 0
        self._start_ns = self._crew.open(limit_s * NS_PER_S, True, plan.warmup_s * NS_PER_S)
        self._warm_up()
        self._client.begin()
        if self._open_loop:
            self._open_loop.begin(self._start_ns, self._last_checkpoint)
        self._wait_and_report()
        return self._finish()

    # -- before the workers run

    def _announce(self) -> None:
        plan = self._plan
        log(NOTICE, "Running the test with following options:")
        log(NOTICE, f"Number of threads: {plan.threads}")
        if plan.warmup_s:
            log(NOTICE, f"Warmup time: {plan.warmup_s}s")
        if plan.rate_steps:
            log(NOTICE, f"Target transaction rate: {describe(plan.rate_steps)}")
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

    def _announce_helpers(self) -> None:
        """What the original does in threads of their own is done here by the workers and the main loop."""
        if self._plan.rate_steps:
            log(DEBUG, "Event generating thread started")
        if self._plan.report_interval_s:
            log(DEBUG, "Reporting thread started")
        if self._plan.checkpoints_s:
            log(DEBUG, "Checkpoints report thread started")

    def _seed(self) -> None:
        """Worker t gets draws 4t+1 to 4t+4 of libc's generator: its stream depends on seed and id alone."""
        plan = self._plan
        libc = core.LibcRandom((plan.seed or int(time.time())) & 0xFFFFFFFF)
        states = [libc.state() for _ in range(plan.threads)]
        core.run_setup(states, self._workload.events_limit(plan), not plan.warmup_s, bool(plan.percentiles))
        core.pacer_setup(
            tuple((step.rate_per_s, step.length_s) for step in plan.rate_steps),
            libc.state(),
            uniform=plan.arrival == "uniform",
            carries_on=plan.rate_overload == "report",
        )
        if plan.statements:
            core.statements_setup()

    def _all_ready(self) -> bool:
        """Wait until every worker is set up. If one fails, all are called off."""
        timeout_s = self._plan.thread_init_timeout_s
        until_ns = core.now_ns() + timeout_s * NS_PER_S
        while core.barrier_wait(until_ns) < self._plan.threads:
            if core.now_ns() >= until_ns:
                log(FATAL, f"Worker threads failed to initialize within {timeout_s} seconds!")
                self._workload.tell_of_waits()
                leave_now(ExitStatus.FORCED)
        if not core.run_failed():
            return True
        self._crew.open(0, False)
        self._crew.join()
        log(FATAL, "Thread initialization failed!")
        return False

    def _begin_recording(self) -> None:
        """The connections are there, so that the versions of servers are known. Raises UsageError."""
        if self._recording is None:
            return
        try:
            self._recording.begin()
        except UsageError:
            core.barrier_open(0, False)
            self._crew.join()
            raise
        core.run_keeps_result(True)

    def _warm_up(self) -> None:
        warmup_s = self._plan.warmup_s
        if not warmup_s:
            return
        log(NOTICE, f"Warming up for {warmup_s} seconds...\n")
        if progress.wanted(self._plan.progress):
            progress.draw(f"warm-up: {warmup_s} s")
        self._crew.wake.wait(warmup_s)
        self._warmed_up = self._last_interval = self._last_checkpoint = self._last_progress = core.run_warmed_up()
        self._start_ns = self._warmed_up.time_ns

    # -- while they run

    def _wait_and_report(self) -> None:
        """Sleep until the workers have ended, waking for what is due."""
        due = list(self._deadlines())
        while self._crew.running > 0 and self._interrupts.signal_number is None:
            wait_s = min((at_s for at_s, _ in due), default=LONGEST_WAIT_S) - self._elapsed_s()
            self._crew.wake.wait(min(max(wait_s, 0), QUEUE_CHECK_S if self._open_loop else LONGEST_WAIT_S))
            self._do_what_is_due(due)
        if self._interrupts.signal_number is not None:
            self._interrupted()

    def _do_what_is_due(self, due: list[tuple[float, Action]]) -> None:
        """Do it, and put into `due` when it comes next.

        What is due at the time limit is reported even if the workers have ended before this one woke.
        """
        queue_length, concurrency = self._queue()
        elapsed_s = self._elapsed_s()
        for at_s, action in sorted(due, key=lambda item: item[0]):
            if at_s > elapsed_s or (action in _WHILE_RUNNING and self._crew.running == 0):
                continue
            due.remove((at_s, action))
            if action is Action.INTERVAL:
                self._report_interval(queue_length, concurrency)
                # A multiple of the interval; those that have passed meanwhile are left out.
                due.append((self._interval_s * (self._elapsed_s() // self._interval_s + 1), action))
            elif action is Action.CHECKPOINT:
                self._report_checkpoint()
            elif action is Action.RATE_STEP:
                if self._open_loop:
                    self._open_loop.end_step(core.snapshot())
            elif action is Action.LATE:
                self._tell_of_late_events()
            elif action is Action.CLIENT_SAMPLE:
                self._client.sample()
                due.append((self._elapsed_s() + SAMPLE_S, action))
            elif action is Action.PROGRESS:
                self._draw_progress(queue_length)
                due.append((self._elapsed_s() + PROGRESS_S, action))
            else:
                self._cut_off("The --max-time limit has expired, forcing shutdown...", ExitStatus.FORCED)

    def _queue(self) -> tuple[int, int]:
        """(length of the queue, concurrency)"""
        return self._open_loop.look()[:2] if self._open_loop else (0, 0)

    def _elapsed_s(self) -> float:
        return (core.now_ns() - self._start_ns) / NS_PER_S

    def _deadlines(self) -> Iterator[tuple[float, Action]]:
        """(seconds since the start, what to do then)."""
        plan = self._plan
        yield SAMPLE_S, Action.CLIENT_SAMPLE
        if self._interval_s:
            yield self._interval_s, Action.INTERVAL
        for checkpoint_s in plan.checkpoints_s:
            if checkpoint_s > 0:
                yield checkpoint_s, Action.CHECKPOINT
        if self._open_loop:
            for end_s in self._open_loop.step_ends_s:
                yield end_s, Action.RATE_STEP
        if plan.forced_shutdown_s is not None:
            yield plan.time_limit_s + plan.forced_shutdown_s, Action.SHUTDOWN
        if plan.time_limit_s:
            yield plan.time_limit_s + LATE_S, Action.LATE
        if self._live or progress.wanted(plan.progress):
            yield PROGRESS_S, Action.PROGRESS

    @property
    def _threads_running(self) -> int:
        """How many workers run; in the last report, how many did."""
        return self._crew.running or self._plan.threads

    def _report_interval(self, queue_length: int, concurrency: int) -> None:
        snapshot = core.snapshot()
        stats = self._interval(snapshot, self._last_interval, queue_length=queue_length, concurrency=concurrency)
        self._last_interval = snapshot
        if self._plan.report_interval_s:
            messages = self._workload.interval_messages(stats)
            if messages:
                stats = replace(stats, own_lines=tuple(messages))
            # Without any, a hook has printed its own.
            if messages is None or messages:
                self._print_interval(stats)
        if self._recording is not None:
            self._recording.interval(stats)

    def _print_interval(self, stats: IntervalStats) -> None:
        if self._plan.old_report:
            for message in text_0_4.intermediate_messages(stats):
                log(NOTICE, message)
        else:
            for message in text.intermediate_messages(stats):
                log_at(NOTICE, stats.time_total_s, message)

    def _interval(
        self,
        snapshot: core.Snapshot,
        previous: core.Snapshot | None,
        *,
        queue_length: int = 0,
        concurrency: int = 0,
        partial: bool = False,
    ) -> IntervalStats:
        return interval_stats(
            snapshot,
            previous,
            start_ns=self._start_ns,
            threads_running=self._threads_running,
            percentiles=self._plan.percentiles,
            sql=self._workload.sql,
            rate_mode=self._open_loop is not None,
            queue_length=queue_length,
            concurrency=concurrency,
            partial=partial,
        )

    def _draw_progress(self, queue_length: int) -> None:
        snapshot = core.snapshot()
        now = self._interval(snapshot, self._last_progress, queue_length=queue_length)
        self._last_progress = snapshot
        done = sum(snapshot.worker_events)
        events_limit, time_limit_s = self._workload.events_limit(self._plan), self._plan.time_limit_s
        if self._live:
            run = self._interval(snapshot, self._warmed_up)
            self._live.draw(now, run, done=done, events_limit=events_limit, time_limit_s=time_limit_s)
        else:
            progress.draw_run(now, done=done, events_limit=events_limit, time_limit_s=time_limit_s)

    def _report_checkpoint(self) -> None:
        snapshot = core.snapshot(sql_detail=True)
        stats = self._total(snapshot)
        self._last_checkpoint = snapshot
        if self._open_loop:
            self._open_loop.checkpoint(snapshot)
        log_at(NOTICE, stats.time_total_s, text.CHECKPOINT_HEADING)
        self._report_total(stats, final=False)
        if self._recording is not None:
            self._recording.checkpoint(stats)

    def _total(self, snapshot: core.Snapshot, unfinished_ns: Mapping[int, int] | None = None) -> TotalStats:
        stats = total_stats(
            snapshot,
            self._last_checkpoint,
            start_ns=self._start_ns,
            threads_running=self._threads_running,
            percentiles=self._plan.percentiles,
            sql=self._workload.sql,
            unfinished_ns=unfinished_ns,
            open_loop=self._open_loop.result(snapshot) if self._open_loop else None,
        )
        old_block = tuple(self._workload.old_report_block(stats))
        return replace(stats, own_lines=tuple(self._workload.report_block(stats)), own_lines_0_4=old_block)

    def _report_total(self, stats: TotalStats, *, final: bool) -> None:
        if self._plan.histogram and final:
            for message in text.histogram_messages(stats.latency.histogram):
                log(NOTICE, message)
        messages = self._workload.total_messages(stats, final)
        if messages is None and self._plan.old_report:
            messages = text_0_4.cumulative_messages(stats)
        elif messages is None:
            messages = text.cumulative_messages(stats)
        for message in messages:
            log(NOTICE, message)
        detail = text_detail.detail_messages(
            stats, statements=self._plan.statements, errors=self._plan.errors, open_loop=self._plan.rate_detail
        )
        for message in detail:
            log(NOTICE, message)
        if self._plan.debug:
            for message in text.debug_messages(stats):
                log(DEBUG, message)
            log(NOTICE, "")

    # -- the end

    def _interrupted(self) -> None:
        """A signal has told the workers to stop: wait for them for a while."""
        if not self._crew.join(INTERRUPT_GRACE_S):
            status = self._interrupts.status(ExitStatus.ERROR)
            self._cut_off(f"interrupted by {self._interrupts.name}, and events go on", status)
        self._tell_end(f"interrupted by {self._interrupts.name} after {self._elapsed_s():.1f} s")

    def _tell_end(self, why: str) -> None:
        self._cut_short.append(why)
        log(FATAL, why)

    def _tell_of_late_events(self) -> None:
        """The time limit does not end events that run: say which ones the run is waiting for."""
        unfinished_ns = core.run_unfinished()
        if unfinished_ns:
            late = late_threads(unfinished_ns)
            say(f"The time limit was {LATE_S} s ago. {late} (--forced-shutdown would end them)")
            for line in self._late_statements(unfinished_ns):
                say(line)

    def _late_statements(self, unfinished_ns: Mapping[int, int]) -> Iterable[str]:
        return late_statements(unfinished_ns) if self._workload.sql else ()

    def _tell_of_lag(self) -> None:
        """A worker that shares its OS thread and does not wait where that can be seen keeps the others waiting."""
        thread_id, lag_ns = core.carrier_lag()
        if lag_ns:
            say(
                f"Worker #{thread_id} kept others from running for {lag_ns / NS_PER_S:.1f} s: with --multiplex, events "
                "should wait in the mysql and pgsql drivers only (not in usleep, os.execute, sqlite)"
            )

    def _cut_off(self, why: str, status: ExitStatus) -> None:
        """Report without the workers that are still inside of events, name them, and end the process."""
        core.run_stop()
        core.progress_clear()
        unfinished_ns = core.run_unfinished()
        statements = list(self._late_statements(unfinished_ns))
        snapshot = core.snapshot(ended=not unfinished_ns, sql_detail=True)
        self._tell_end(why)
        if unfinished_ns:
            log(NOTICE, f"\nNumber of unfinished transactions on forced shutdown: {len(unfinished_ns)}")
            log(NOTICE, late_threads(unfinished_ns))
            for line in statements:
                log(NOTICE, line)
        stats = self._total(snapshot, unfinished_ns)
        self._report_total(stats, final=True)
        self._end_recording(snapshot, stats, self._measured_client(snapshot), status)
        leave_now(status)

    def _finish(self) -> ExitStatus:
        self._crew.join()
        core.progress_clear()
        snapshot = core.snapshot(ended=True, sql_detail=True)
        log(INFO, "Done.\n")
        self._tell_of_lag()
        client = self._measured_client(snapshot)
        failed = core.run_failed() or self._crew.failed
        stats = self._total(snapshot)
        self._interrupts.run_ended(
            lambda: self._end_recording(snapshot, stats, client, self._interrupts.status(ExitStatus.ERROR), failed)
        )
        # A run that failed at once has nothing to report, and with a full queue it has outrun itself. Events of bulk
        # inserts have left their rows to a later statement.
        rows_lost = core.db_bulk_rows_lost()
        reported = not failed or (stats.counters.events > rows_lost and not core.pacer_failed())
        if reported:
            self._report_total(stats, final=True)
        if message := limit_message(client):
            say(message)
        ok = self._workload.end() and not failed
        self._interrupts.hooks_ended()
        if failed and reported:
            log(NOTICE, text.FAILED)
        if rows_lost and reported:
            say(f"Rows of events that bulk inserts have failed to store: {rows_lost}")
        # os.exit(0) does not make a part of a run a whole one.
        status = self._interrupts.status(ExitStatus(core.run_exit_status() or (0 if ok else 1)))
        self._end_recording(snapshot, stats, client, status, failed)
        return status

    def _measured_client(self, snapshot: core.Snapshot) -> Client:
        measured = snapshot.minus(self._warmed_up) if self._warmed_up else snapshot
        return self._client.end(
            sum(measured.worker_events), sum(measured.worker_latency_sum_ns), self._workload.waits_for_server
        )

    def _end_recording(
        self, snapshot: core.Snapshot, total: TotalStats, client: Client, status: ExitStatus, failed: bool = False
    ) -> None:
        if self._recording is None:
            return
        rest = self._interval(snapshot, self._last_interval, partial=True)
        self._recording.end(rest, total, client, status, cut_short=self._cut_short, failed=failed)
        core.run_keeps_result(False)


def _make_crew(plan: Plan, workload: Workload) -> Crew:
    """The workers, in this process or in as many as they are to have."""
    groups = crew_groups(plan.threads, plan.multiplex)
    if not plan.processes:
        return Crew(workload.run_workers, groups, plan.thread_stack_size_bytes)
    from sysbench_py.processes import ProcessCrew

    return ProcessCrew(workload.run_workers, groups, plan.thread_stack_size_bytes, plan.processes)
