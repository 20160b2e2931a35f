"""Events that do not end in time: whose they are, and in which statements they are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from sysbench_py import core
from sysbench_py.stats.model import NS_PER_S

MAX_THREADS_NAMED = 10
MAX_STATEMENTS_NAMED = 10


def late_threads(unfinished_ns: Mapping[int, int]) -> str:
    """Names the threads that are inside of an event for so many ns, by thread id; the longest first."""
    late = sorted(unfinished_ns.items(), key=lambda item: -item[1])
    named = ", ".join(f"#{thread_id} for {ns / NS_PER_S:.1f} s" for thread_id, ns in late[:MAX_THREADS_NAMED])
    return f"Threads inside of an event: {named}{_more(len(late) - MAX_THREADS_NAMED)}"


def late_statements(thread_ids: Mapping[int, int]) -> Iterator[str]:
    """What those threads are waiting for at this moment, a line for each statement; the commonest first."""
    threads: dict[str, list[int]] = {}
    for thread_id in sorted(thread_ids):
        threads.setdefault(_statement(thread_id), []).append(thread_id)
    lines = sorted(threads.items(), key=lambda item: -len(item[1]))
    for statement, ids in lines[:MAX_STATEMENTS_NAMED]:
        named = ", ".join(f"#{thread_id}" for thread_id in ids[:MAX_THREADS_NAMED])
        yield f"  {named}{_more(len(ids) - MAX_THREADS_NAMED)}: {statement}"
    if len(lines) > MAX_STATEMENTS_NAMED:
        yield f"  ({len(lines) - MAX_STATEMENTS_NAMED} more statements)"


def _statement(thread_id: int) -> str:
    """The thread's statement on one line, as far as the core keeps it."""
    start, length = core.worker_statement(thread_id)
    if not length:
        return "in the script, in no statement"
    # The core cuts bytes, so that the last character may be half of one.
    text = start.decode(errors="ignore" if length > len(start) else "replace")
    text = "".join(letter if letter.isprintable() else " " for letter in text)
    return " ".join(text.split()) + ("..." if length > len(start) else "")


def _more(number: int) -> str:
    return f" and {number} more" if number > 0 else ""
