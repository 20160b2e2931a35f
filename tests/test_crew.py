"""The threads of the workers."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from sysbench_py import core
from sysbench_py.worker import SWITCH_INTERVAL_S_PER_THREAD, Crew, crew_groups

THREADS = 200


def test_many_threads_ask_for_the_interpreter_seldom() -> None:
    """From the first to the last, and only then: each that waits for it asks after a switch interval."""
    core.run_setup([(1, 2)] * THREADS, 0, False, True)
    seen = []

    def work(_: Sequence[int]) -> bool:
        seen.append(sys.getswitchinterval())
        return True

    before_s = sys.getswitchinterval()
    for carriers in (0, 1):
        crew = Crew(work, crew_groups(THREADS, carriers), 0)
        crew.start()
        assert crew.join()
        assert sys.getswitchinterval() == before_s
    many_s = THREADS * SWITCH_INTERVAL_S_PER_THREAD
    assert many_s > before_s
    assert [round(each, 6) for each in seen] == [round(many_s, 6)] * THREADS + [before_s]
