"""What the load machine spent on a run, and whether it rather than the server was the limit."""

from __future__ import annotations

from dataclasses import dataclass

# So much of what there is counts as all of it: the kernel needs some, and the figures are means.
ALL_OF_IT = 0.85
MACHINE_BUSY = 0.95
# This process is the reason only if it takes the larger part of what the machine spends.
LARGER_PART = 0.6
# The share of the quota's periods in which it was used up.
THROTTLED = 0.05
# The share of their time that workers wait for a CPU, and how many of them a CPU has then.
WAITING = 0.2
THREADS_PER_CPU = 4
# A clock read by a system call takes longer than this; read from memory, a tenth to a fifth of it.
SLOW_CLOCK_NS = 150
CLOCK_SHARE = 0.1
# A shorter run says nothing.
SHORTEST_S = 2.5


@dataclass(frozen=True, kw_only=True, slots=True)
class Client:
    """The load machine during the statistics of a run: `duration_s`, without the warm-up.

    `cpus` is how many CPUs the process may use, a container's quota included; `os_threads` those that the workers
    ran on. `cpu_user_s` and `cpu_system_s` are the CPU time of this process and of its worker processes, `cpus_busy`
    how many of its CPUs were busy on average with anything at all, time stolen by a hypervisor included.
    `switches_waiting` are context switches because a thread had nothing to do, `switches_preempted` those because
    another one wanted the CPU. `runnable_avg` and `runnable_max` are how many threads of the whole machine ran or
    wanted to. `waiting_share` is the share of their time that workers waited for a CPU, `throttled_share` the share
    of the periods of a container's CPU quota in which it was used up. `clock_read_ns` is what a reading of the clock
    takes. Where the kernel does not tell, a figure is null. `limits` names what bounded the result on this side.
    """

    duration_s: float
    events: int
    latency_sum_ns: int
    cpus: float
    os_threads: int
    carriers: int
    cpu_user_s: float
    cpu_system_s: float
    cpus_busy: float | None
    switches_waiting: int
    switches_preempted: int
    runnable_avg: float | None
    runnable_max: int | None
    waiting_share: float | None
    throttled_share: float | None
    clock_source: str | None
    clock_read_ns: float
    waits_for_server: bool

    @property
    def cpus_used(self) -> float:
        """How many CPUs this process kept busy on average."""
        return (self.cpu_user_s + self.cpu_system_s) / self.duration_s if self.duration_s > 0 else 0.0

    @property
    def cpu_per_event_ns(self) -> int | None:
        """CPU time of this process per event: what an event costs outside of the server. None without events."""
        return round((self.cpu_user_s + self.cpu_system_s) * 1e9 / self.events) if self.events else None

    @property
    def limits(self) -> tuple[str, ...]:
        """Names of what bounded the result on the load machine, the most telling first; none for most runs.

        `cpu-quota`: a container's quota was used up. `carriers`: the OS threads of --multiplex were busy.
        `cpu`: all CPUs were busy, most of it with this process. `threads`: workers waited for a CPU, being too many.
        `clock`: reading the clock took a large part of an event.
        """
        if self.duration_s < SHORTEST_S or not self.events:
            return ()
        found = self._limits_of_load() if self.waits_for_server else []
        if self.clock_read_ns > SLOW_CLOCK_NS and self.clock_read_ns > CLOCK_SHARE * self.latency_sum_ns / self.events:
            found.append("clock")
        return tuple(found)

    def _limits_of_load(self) -> list[str]:
        used, busy = self.cpus_used, self.cpus_busy or 0.0
        mostly_ours = used >= LARGER_PART * busy
        found = []
        if (self.throttled_share or 0) >= THROTTLED and used >= LARGER_PART * self.cpus:
            found.append("cpu-quota")
        if 0 < self.carriers < self.cpus and used >= ALL_OF_IT * self.carriers:
            found.append("carriers")
        all_busy = used >= ALL_OF_IT * self.cpus or busy >= MACHINE_BUSY * self.cpus
        if all_busy and mostly_ours and not found:
            found.append("cpu")
        crowded = self.os_threads >= THREADS_PER_CPU * self.cpus
        if crowded and (self.waiting_share or 0) >= WAITING and mostly_ours:
            found.append("threads")
        return found
