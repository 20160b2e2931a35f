"""The commands of a built-in test."""

from __future__ import annotations

from sysbench_py import core
from sysbench_py.builtin import BUILTIN_TESTS, BuiltinTest
from sysbench_py.command_line import CommandLine, apply_test_options
from sysbench_py.script_commands import set_up_rand
from sysbench_py.errors import ExitStatus, UsageError
from sysbench_py.interrupts import Interrupts
from sysbench_py.options import format_option_list
from sysbench_py.plan import Plan
from sysbench_py.runner import Runner


class BuiltinCommands:
    """A built-in test and the commands that the command line asks it for."""

    def __init__(self, name: str, cmdline: CommandLine, plan: Plan, interrupts: Interrupts) -> None:
        self._name = name
        self._cmdline = cmdline
        self._plan = plan
        self._interrupts = interrupts

    def execute(self, commands: tuple[str, ...]) -> ExitStatus:
        """Do the commands in their order, up to the first that fails."""
        if not commands:
            raise UsageError(f"The '{self._name}' test requires a command argument. See 'sysbench {self._name} help'")
        builtin = BUILTIN_TESTS[self._name]
        apply_test_options(self._cmdline, builtin.options, accept_unknown=False)
        set_up_rand(self._plan)
        for command in commands:
            status = self._execute(command)
            if status is not ExitStatus.OK:
                return status
        return ExitStatus.OK

    def _execute(self, command: str) -> ExitStatus:
        builtin = BUILTIN_TESTS[self._name]
        if command == "help":
            core.log_raw(f"{self._name} options:\n{format_option_list(builtin.options)}".encode())
            return ExitStatus.OK
        self._interrupts.doing(f"`{command}'")
        libc = core.rand_start_command()
        core.rng_enter(-1)
        core.run_setup([libc.state()], 0, False, True)
        test: BuiltinTest = builtin.load().create(self._cmdline.options, self._plan)
        if command == "run":
            return Runner(self._plan, test, self._interrupts).run()
        if command in test.commands:
            return test.commands[command]()
        if command in ("prepare", "cleanup"):
            raise UsageError(f"'{self._name}' test does not implement the '{command}' command.")
        raise UsageError(f"Unknown command: {command}")
