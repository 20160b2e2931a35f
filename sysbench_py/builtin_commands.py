"""The commands of a built-in test."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from sysbench_py import core
from sysbench_py.builtin import BUILTIN_TESTS, BuiltinTest
from sysbench_py.capacity import check_threads
from sysbench_py.command_line import COMMANDS, CommandLine, apply_test_options, check_commands
from sysbench_py.errors import ExitStatus, UsageError
from sysbench_py.help import options_text
from sysbench_py.interrupts import Interrupts
from sysbench_py.log import FATAL, log
from sysbench_py.options import Option
from sysbench_py.plan import Plan
from sysbench_py.script_commands import set_up_rand

if TYPE_CHECKING:
    from sysbench_py.recording import Recording
    from sysbench_py.runner import Runner
    from sysbench_py.workload import Workload

# What a worker's thread and numbers take at least.
WORKER_BYTES = 16 * 1024


class _Runs:
    def __init__(self, plan: Plan, interrupts: Interrupts, recording: Recording | None) -> None:
        self._plan = plan
        self._interrupts = interrupts
        self._recording = recording

    @property
    def recorded(self) -> bool:
        return self._recording is not None

    def whole(self, workload: Workload) -> ExitStatus:
        check_threads(self._plan, WORKER_BYTES)
        return self._runner(workload, self._plan, banner=True).run()

    def part(self, workload: Workload, plan: Plan) -> ExitStatus:
        check_threads(plan, WORKER_BYTES)
        return self._runner(workload, plan, banner=False).run()

    def _runner(self, workload: Workload, plan: Plan, *, banner: bool) -> Runner:
        from sysbench_py.runner import Runner  # late: help does without

        return Runner(plan, workload, self._interrupts, self._recording, banner=banner)

    def between(self) -> ExitStatus:
        if self._interrupts.signal_number is None:
            self._interrupts.begin("run")
            self._interrupts.run_started(threading.Event())
            return ExitStatus.OK
        log(FATAL, f"interrupted by {self._interrupts.name}")
        return self._interrupts.status(ExitStatus.ERROR)


class BuiltinCommands:
    """A built-in test and the commands that the command line asks it for."""

    def __init__(
        self,
        name: str,
        cmdline: CommandLine,
        plan: Plan,
        interrupts: Interrupts,
        recording: Recording | None = None,
    ) -> None:
        self._name = name
        self._builtin = BUILTIN_TESTS[name]
        self._cmdline = cmdline
        self._plan = plan
        self._interrupts = interrupts
        self._recording = recording

    def describe(self) -> tuple[list[Option], list[str]]:
        """The test's options and commands."""
        apply_test_options(self._cmdline, self._builtin.options, accept_unknown=True)
        return list(self._builtin.options), self._commands()

    def _commands(self) -> list[str]:
        own = self._create().commands
        return [name for name in COMMANDS if name in ("run", "help") or name in own]

    def execute(self) -> ExitStatus:
        """Do the commands in their order, up to the first that fails."""
        if not self._cmdline.commands:
            raise UsageError(f"The '{self._name}' test requires a command argument. See 'sysbench {self._name} help'")
        apply_test_options(self._cmdline, self._builtin.options, accept_unknown=False)
        check_commands(self._cmdline, COMMANDS, COMMANDS, self._name)
        if self._plan.multiplex:
            value = self._plan.multiplex
            raise UsageError.fatal(f"Invalid value for --multiplex: {value} (it is for Lua scripts; here it must be 0)")
        set_up_rand(self._plan)
        if any(command not in ("run", "help") for command in self._cmdline.commands):
            check_commands(self._cmdline, COMMANDS, self._commands(), self._name)
        if self._plan.processes and "run" in self._cmdline.commands:
            raise UsageError.fatal(f"--workers=process is for scripts: the '{self._name}' test needs no Python lock")
        for command in self._cmdline.commands:
            status = self._execute(command)
            if status is not ExitStatus.OK:
                return status
        return ExitStatus.OK

    def _execute(self, command: str) -> ExitStatus:
        if command == "help":
            core.log_raw(options_text(self._name, self._builtin.options).encode())
            return ExitStatus.OK
        self._interrupts.begin(command)
        test = self._create()
        if command == "run":
            return test.conduct(_Runs(self._plan, self._interrupts, self._recording))
        return test.commands[command]()

    def _create(self) -> BuiltinTest:
        """The test for a command, as if the process had just begun."""
        libc = core.rand_start_command()
        core.rng_enter(-1)
        core.run_setup([libc.state()], 0, False, True)
        test: BuiltinTest = self._builtin.load().create(self._cmdline.options, self._plan)
        return test
