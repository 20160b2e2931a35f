"""A saved result as text, in the layout of its run or in the other one."""

from __future__ import annotations

from sysbench_py.sinks import text, text_0_4
from sysbench_py.sinks.text_detail import detail_messages
from sysbench_py.stats.model import IntervalStats, TotalStats
from sysbench_py.stats.result import RunResult, Setup

OLD_STYLE = "0.4"


def result_text(result: RunResult, style: str | None = None) -> str:
    """A saved result as its run has printed it, behind lines that say which run that was.

    `style` is a value of --report-style; None for that of the run.
    """
    setup = result.setup
    old = (style or setup.options.get("report_style")) == OLD_STYLE
    cumulative_messages = (text_0_4 if old else text).cumulative_messages
    printed = result.intervals if setup.report_interval_s else ()
    timed: list[IntervalStats | TotalStats] = [*printed, *result.checkpoints]
    log = _Log()
    for stats in sorted(timed, key=lambda stats: stats.time_total_s):
        time_s = stats.time_total_s
        if isinstance(stats, TotalStats):
            log.add_timed(time_s, text.CHECKPOINT_HEADING)
            log.add(cumulative_messages(stats) + _detail_messages(stats, setup))
        elif not stats.partial and old:
            log.add(text_0_4.intermediate_messages(stats))
        elif not stats.partial:
            for message in text.intermediate_messages(stats):
                log.add_timed(time_s, message)
    log.add([f"FATAL: {line}" for line in result.cut_short])
    if setup.options.get("histogram"):
        log.add(text.histogram_messages(result.total.latency.histogram))
    log.add(cumulative_messages(result.total) + _detail_messages(result.total, setup))
    log.add(list(_failure(result)))
    head = f"{setup.engine} (using bundled {setup.luajit})\n\n{' '.join(setup.command_line)}\n{setup.started_at}\n\n"
    return head + "".join(f"{line}\n" for line in log.lines)


def _failure(result: RunResult) -> tuple[str, ...]:
    """The line of a run that has not ended well, unless what cut it short has been told."""
    if result.failed:
        return (text.FAILED,)
    if result.exit_status and not result.cut_short:
        return (f"The run did not end well: its exit status is {result.exit_status}.",)
    return ()


def _detail_messages(stats: TotalStats, setup: Setup) -> list[str]:
    return detail_messages(
        stats,
        statements=bool(setup.options.get("statements")),
        errors=bool(setup.options.get("errors")),
        open_loop=bool(setup.options.get("rate_detail")),
    )


class _Log:
    """Lines as the core's log prints them: of consecutive equal messages the first, then how many followed."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self._last: str | None = None
        self._repeats = 0

    def add(self, messages: list[str]) -> None:
        for message in messages:
            if message == self._last:
                self._repeats += 1
                continue
            if self._repeats:
                self.lines.append(f"(last message repeated {self._repeats} times)")
            self._last, self._repeats = message, 0
            self.lines.append(message)

    def add_timed(self, time_s: float, message: str) -> None:
        self.lines.append(f"[ {time_s:.0f}s ] {message}")
