"""Workers in several processes of one run: --workers=process.

The processes are forked once everything but the workers is set up, and the core keeps its counts, limits and the
queue of --rate in memory that all of them share. So the process that reports counts, stops and paces them as if they
were threads of its own. A socket to each process says in lines what memory does not: to it, that the run begins; from
it, what it has connected to, and that a worker is ready or has ended; and to either side, by its end, that the other
process is gone.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import threading
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import NoReturn

from sysbench_py import core
from sysbench_py.drivers.seen import note, seen
from sysbench_py.log import FATAL, log
from sysbench_py.system import END_SIGNALS, end_with_parent
from sysbench_py.worker import Crew

READY, ENDED, FAILED, SEEN = "ready", "ended", "failed", "seen"
GO, CALLED_OFF = "go", "off"
# How long a process has to end after its workers have ended, or after a signal: longer than an interrupted run
# waits for events, whose report names those that are left.
END_GRACE_S = 3.0

Work = Callable[[Sequence[int]], bool]


class ProcessCrew(Crew):
    """Workers in `processes` processes, each with a share of the groups."""

    def __init__(self, work: Work, groups: Sequence[Sequence[int]], stack_size_bytes: int, processes: int) -> None:
        super().__init__(work, groups, stack_size_bytes)
        self._shares = [groups[number::processes] for number in range(processes)]
        self._sockets: list[socket.socket] = []
        self._listeners: dict[int, threading.Thread] = {}

    def start(self) -> None:
        """Fork the processes; their workers start."""
        children = []
        for share in self._shares:
            ours, theirs = socket.socketpair()
            self._sockets.append(ours)
            with warnings.catch_warnings():
                # Only this thread goes on in the child, where it needs no lock that another one may hold.
                warnings.simplefilter("ignore", DeprecationWarning)
                pid = os.fork()
            if pid == 0:
                for inherited in self._sockets:
                    inherited.close()
                self._be_child(share, theirs)
            theirs.close()
            children.append((pid, _workers(share), ours))
        # Threads only now: a fork copies none, but what they may have locked.
        for child in children:
            listener = threading.Thread(target=self._listen, args=child, name=f"process {child[0]}", daemon=True)
            listener.start()
            self._listeners[child[0]] = listener
        threading.Thread(target=self._end_the_late, name="end the late", daemon=True).start()

    def open(self, time_limit_ns: int, go: bool, warmup_ns: int = 0) -> int:
        start_ns = super().open(time_limit_ns, go, warmup_ns)
        for each in self._sockets:
            _send(each, GO if go else CALLED_OFF)
        return start_ns

    def join(self, timeout_s: float | None = None) -> bool:
        """As that of threads; the processes have ended then too, and their CPU time counts as this one's."""
        if not super().join(timeout_s):
            return False
        for listener in self._listeners.values():
            listener.join()
        return True

    def _end_the_late(self) -> None:
        """Kill what does not end when it should: it may be stopped, and hold a lock that the others wait for."""
        self.wake.wait()
        until_s = time.monotonic() + END_GRACE_S
        for pid, listener in self._listeners.items():
            listener.join(max(until_s - time.monotonic(), 0))
            if listener.is_alive():
                os.kill(pid, signal.SIGKILL)

    def _listen(self, pid: int, workers: int, messages: socket.socket) -> None:
        """Hear of a child's workers until it ends."""
        waited_for = unfinished = workers
        for word, rest in _lines(messages):
            if word == SEEN:
                note(*json.loads(rest))
            elif word == READY:
                waited_for -= 1
                core.worker_ready_elsewhere()
            else:
                unfinished -= 1
                self._finish((0,), word == ENDED)
        _, status = os.waitpid(pid, 0)
        if not unfinished:
            return
        code = os.waitstatus_to_exitcode(status)
        how = f"by {signal.Signals(-code).name}" if code < 0 else f"with status {code}"
        log(FATAL, f"a process of workers (pid {pid}) has ended {how}, with {unfinished} of {workers} at work")
        core.run_stop()
        for _ in range(waited_for):
            core.worker_missing()
        self._finish(range(unfinished), False)

    def _be_child(self, share: Sequence[Sequence[int]], messages: socket.socket) -> NoReturn:
        """The whole life of a child: it never returns into what its parent was doing."""
        status = 1
        try:
            end_with_parent()
            # The parent hears of signals, and stops all workers.
            for number in END_SIGNALS:
                signal.signal(number, signal.SIG_IGN)
            expected = _workers(share)
            core.barrier_expect(expected)
            crew = _Share(self._work, share, self._stack_size_bytes, messages)
            crew.start()
            threading.Thread(target=_obey, args=(messages,), name="parent", daemon=True).start()
            ready = 0
            while ready < expected:
                now_ready = core.barrier_wait(core.now_ns() + 1_000_000_000)
                if now_ready == expected:
                    _send(messages, *(f"{SEEN} {json.dumps(each)}" for each in seen()))
                _send(messages, *[READY] * (now_ready - ready))
                ready = now_ready
            crew.join()
            core.log_end()
            status = 0
        finally:
            os._exit(status)


class _Share(Crew):
    """The workers of a child, whose ends are told to the parent."""

    def __init__(
        self, work: Work, groups: Sequence[Sequence[int]], stack_size_bytes: int, messages: socket.socket
    ) -> None:
        super().__init__(work, groups, stack_size_bytes)
        self._messages = messages

    def _finish(self, group: Sequence[int], ok: bool) -> None:
        _send(self._messages, *[ENDED if ok else FAILED] * len(group))
        super()._finish(group, ok)


def _workers(groups: Sequence[Sequence[int]]) -> int:
    return sum(map(len, groups))


def _obey(messages: socket.socket) -> NoReturn:
    """In a child: do what the parent says, and do not outlive it."""
    for word, _ in _lines(messages):
        core.barrier_follow(word == GO)
    os._exit(1)


def _send(to: socket.socket, *lines: str) -> None:
    try:
        to.sendall("".join(f"{line}\n" for line in lines).encode())
    except OSError:
        return  # the other process is gone, of which its end of the socket tells whoever listens


def _lines(messages: socket.socket) -> Iterator[tuple[str, str]]:
    """The first word and the rest of every line, until the other process is gone."""
    with messages.makefile("r", encoding="utf-8") as lines:
        try:
            for line in lines:
                word, _, rest = line.rstrip("\n").partition(" ")
                yield word, rest
        except OSError:
            return  # reset, which is as good as its end
