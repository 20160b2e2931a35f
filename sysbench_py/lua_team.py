"""Workers in Lua: each with a state on an OS thread of its own, or many that a carrier runs in turn in one state."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from sysbench_py import core
from sysbench_py.errors import UsageError
from sysbench_py.log import FATAL, log
from sysbench_py.plan import Plan
from sysbench_py.script import Script, State
from sysbench_py.shared_state import SharedState, check_lupa
from sysbench_py.system import let_servers_work
from sysbench_py.worker import MIN_STACK_SIZE_BYTES


def worker_bytes(plan: Plan) -> int:
    """What a worker takes at least; a script's own tables come on top."""
    # A thread, its numbers and a Lua state; or a C stack, the numbers, and globals with copies of the libraries.
    return 32 * 1024 if plan.multiplex else 128 * 1024


class LuaTeam:
    """Makes a state for each worker, its body executed and `sysbench.opt` filled, and lets it work there.

    Raises UsageError if that cannot be with --multiplex."""

    def __init__(self, script: Script, options: Mapping[str, Any], plan: Plan) -> None:
        self._script = script
        self._options = options
        self._multiplexed = plan.multiplex > 0
        if self._multiplexed:
            check_lupa()
        self._stack_size_bytes = max(plan.thread_stack_size_bytes, MIN_STACK_SIZE_BYTES)

    def run_events(self, thread_ids: Sequence[int]) -> bool:
        """The whole lives of these workers in a run; whether nothing failed."""
        return self._run(thread_ids, "run_worker", lambda thread_id: thread_id)

    def run_command(self, thread_ids: Sequence[int], command: str) -> bool:
        """A command of the script's own, once for each of these workers; whether none failed."""
        return self._run(thread_ids, "call_command", lambda _: command)

    def _run(self, thread_ids: Sequence[int], function: str, argument: Callable[[int], int | str]) -> bool:
        if self._multiplexed:
            return self._run_in_turn(thread_ids, function, argument)
        (thread_id,) = thread_ids
        state = self._load(thread_id)
        if state is None:
            return False
        ok = bool(state.call(function, argument(thread_id)))
        return state.close() and ok

    def _run_in_turn(self, thread_ids: Sequence[int], function: str, argument: Callable[[int], int | str]) -> bool:
        workers = self._load_shared(thread_ids)
        if workers is None:
            return False
        let_servers_work()
        bodies = [(thread_id, workers.body(thread_id, function, argument(thread_id))) for thread_id in workers.loaded]
        try:
            core.carrier_run(bodies, self._stack_size_bytes)
        except MemoryError as error:
            log(FATAL, f"{error}: use fewer --threads")
            for _ in bodies:
                core.worker_missing()
            return False
        return workers.close() and len(bodies) == len(thread_ids) and all(map(workers.succeeded, workers.loaded))

    def _load(self, thread_id: int) -> State | None:
        """None, after a message, on failure."""
        try:
            state = State(self._script, thread_id)
            state.load()
            state.set_options(self._options)
        except (UsageError, MemoryError) as error:
            _not_loaded(error)
            return None
        return state

    def _load_shared(self, thread_ids: Sequence[int]) -> SharedState | None:
        """A state with all workers that can be set up, after a message for each of the others."""
        try:
            workers = SharedState(self._script, self._options)
        except (UsageError, MemoryError) as error:
            for _ in thread_ids:
                _not_loaded(error)
            return None
        for thread_id in thread_ids:
            core.rng_enter(thread_id)
            try:
                workers.load(thread_id)
            except (UsageError, MemoryError) as error:
                _not_loaded(error)
        return workers


def _not_loaded(error: UsageError | MemoryError) -> None:
    if isinstance(error, MemoryError):
        log(FATAL, "not enough memory for another Lua state: use fewer --threads")
    else:
        log(FATAL, f"`thread_init' function failed: {error}")
    core.worker_missing()
