"""The commands of a script: its own ones, prepare, run, cleanup, help."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from sysbench_py import core
from sysbench_py.command_line import CommandLine, apply_test_options
from sysbench_py.drivers import DRIVERS, find_driver
from sysbench_py.errors import ExitStatus, UsageError
from sysbench_py.interrupts import Interrupts
from sysbench_py.log import NOTICE, log
from sysbench_py.lua_workload import LuaWorkload, load_worker_state
from sysbench_py.options import OptionSet, format_option_list
from sysbench_py.plan import Plan
from sysbench_py.runner import Runner
from sysbench_py.script import Script, State
from sysbench_py.worker import Crew


class ScriptCommands:
    """A script and the commands that the command line asks it for."""

    def __init__(self, script: Script, cmdline: CommandLine, plan: Plan, interrupts: Interrupts) -> None:
        self._script = script
        self._cmdline = cmdline
        self._plan = plan
        self._interrupts = interrupts

    def execute(self, commands: tuple[str, ...]) -> ExitStatus:
        """Do the commands in their order, up to the first that fails; without any, run the script's body."""
        if not commands:
            self._start(None)
        for command in commands:
            status = self._execute(command)
            if status is not ExitStatus.OK:
                return status
        return ExitStatus.OK

    def _start(self, command: str | None) -> State:
        """The main state for a command, as if the process had just begun."""
        self._interrupts.doing(f"`{command}'" if command else "the script")
        set_up_rand(self._plan)
        libc = core.rand_start_command()
        core.rng_enter(-1)
        # Statements of the main state count as the first worker's.
        core.run_setup([libc.state() for _ in range(self._plan.threads)], 0, False, True)
        state = State(replace(self._script, command=command), 0)
        set_up_drivers(self._cmdline.options, self._plan)
        state.load()
        return state

    def _execute(self, command: str) -> ExitStatus:
        main = self._start(command)
        rows = main.option_rows()
        apply_test_options(self._cmdline, rows or (), accept_unknown=rows is None)
        options = self._cmdline.options.exported()
        main.set_options(options)
        title = self._script.title
        if main.command_defined(command):
            return self._own_command(main, command, options)
        if command == "run":
            workload = LuaWorkload(main, options, self._plan.threads)
            return Runner(self._plan, workload, self._interrupts).run()
        if command not in ("prepare", "cleanup", "help"):
            raise UsageError(f"Unknown command: {command}")
        if main.call("defined", command):
            ok = main.call("call", command)
            main.close()
            return ExitStatus.OK if ok or command == "help" else ExitStatus.ERROR
        if command == "help" and rows is not None:
            core.log_raw(f"{title} options:\n{format_option_list(rows)}".encode(errors="surrogateescape"))
            return ExitStatus.OK
        raise UsageError(f"'{title}' test does not implement the '{command}' command.")

    def _own_command(self, main: State, command: str, options: Mapping[str, Any]) -> ExitStatus:
        threads = self._plan.threads
        if threads == 1 or not main.command_parallel(command):
            ok = bool(main.call("call_command", command))
            main.close()
            return ExitStatus.OK if ok else ExitStatus.ERROR

        def work(thread_id: int) -> bool:
            state = load_worker_state(main.script, thread_id, options)
            if state is None:
                return False
            ok = bool(state.call("call_command", command))
            state.close()
            return ok

        log(NOTICE, "Initializing worker threads...\n")
        crew = Crew(work, threads, self._plan.thread_stack_size_bytes)
        crew.start()
        crew.join()
        return ExitStatus.ERROR if crew.failed else ExitStatus.OK


def set_up_rand(plan: Plan) -> None:
    """Hand the --rand-* options to the core."""
    rand = plan.rand
    core.rand_setup(
        rand.distribution, rand.spec_iter, rand.spec_pct, rand.spec_res, rand.pareto_h, rand.zipfian_exp
    )


def set_up_drivers(options: OptionSet, plan: Plan) -> None:
    """Hand every driver its options; --db-driver names the one of scripts that do not name theirs."""
    for driver in DRIVERS:
        if hasattr(driver.load(), "setup"): driver.load().setup(options)  # TEMP
    core.db_setup(find_driver(plan.db_driver).name, plan.db_reconnect_timeout_s)
