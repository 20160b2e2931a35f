"""The commands of a script: its own ones, prepare, run, cleanup, help."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NoReturn

from sysbench_py import core
from sysbench_py.capacity import check_threads
from sysbench_py.catalogue import known_tests, scripts_beside
from sysbench_py.command_line import COMMANDS, CommandLine, apply_test_options, check_commands, check_switches
from sysbench_py.drivers import DRIVERS, find_driver, server_count
from sysbench_py.errors import ExitStatus, UsageError
from sysbench_py.help import options_text
from sysbench_py.interrupts import Interrupts
from sysbench_py.log import NOTICE, log, say
from sysbench_py.lua_team import LuaTeam, worker_bytes
from sysbench_py.options import Option, OptionSet
from sysbench_py.plan import Plan
from sysbench_py.progress import CommandProgress
from sysbench_py.script import Script, State
from sysbench_py.script_text import asks_driver, unused_options
from sysbench_py.suggest import closest, did_you_mean, one_of
from sysbench_py.tool_names import COMMANDS_OF_THEIR_OWN, TOOLS
from sysbench_py.worker import Crew, crew_groups

if TYPE_CHECKING:
    from sysbench_py.recording import Recording

PS_MODES = ("auto", "disable")
# What is meant by a name that older generations had.
OLD_NAMES = {"oltp": "today's is oltp_read_write; that of sysbench 0.4 is --test=oltp"}


class ScriptCommands:
    """A script and the commands that the command line asks it for."""

    def __init__(
        self,
        script: Script,
        cmdline: CommandLine,
        plan: Plan,
        interrupts: Interrupts,
        recording: Recording | None = None,
    ) -> None:
        self._script = script
        self._cmdline = cmdline
        self._plan = plan
        self._interrupts = interrupts
        self._recording = recording
        # Once for all commands: a file with a password may be a pipe.
        self._driver_problems = set_up_drivers(cmdline.options, plan)
        self._implemented: set[str] = set()
        # Of the last command.
        self._main: State | None = None

    def load_only(self) -> ExitStatus:
        """Run the script's body and nothing else; it can see a command, but that is not done."""
        check_switches(self._cmdline)
        return _closed(self._start(next(iter(self._cmdline.commands), None)))

    def describe(self) -> tuple[list[Option], list[str]]:
        """The options and commands that the script has, once its body has run."""
        # Some scripts do not load without a command.
        main = self._start("help")
        return main.option_rows() or [], _commands(main)

    def execute(self) -> ExitStatus:
        """Do the commands in their order, up to the first that fails; without any, run the script's body."""
        if not self._cmdline.commands:
            check_switches(self._cmdline)
            main = self._start(None)
            self._advise(main)
            return _closed(main)
        for number, command in enumerate(self._cmdline.commands):
            status = self._execute(command, first=number == 0)
            _explain_bulk_insert()
            if status is not ExitStatus.OK:
                self._name_way_out(command)
                return status
        return ExitStatus.OK

    def _start(self, command: str | None) -> State:
        """The main state for a command, as if the process had just begun."""
        self._interrupts.begin(command)
        check_threads(self._plan, worker_bytes(self._plan))
        set_up_rand(self._plan)
        libc = core.rand_start_command()
        core.rng_enter(-1)
        # Statements of the main state count as the first worker's.
        core.run_setup([libc.state() for _ in range(self._plan.threads)], 0, False, True)
        self._main = state = State(self._script._replace(command=command), 0)
        choose_driver(self._plan, self._driver_problems)
        try:
            state.load()
        except UsageError as error:
            name = self._script.name
            if name and error.about == name:
                error.advice = _meant(self._cmdline)
            raise
        return state

    def _execute(self, command: str, *, first: bool) -> ExitStatus:
        main = self._start(command)
        rows = main.option_rows()
        if first and rows is None:
            self._warn_of_unused_options()
        apply_test_options(self._cmdline, rows or (), accept_unknown=rows is None)
        if first:
            own = main.own_commands()
            implemented = [name for name in COMMANDS if self._implements(main, name, rows)]
            self._implemented = {*implemented, *own}
            check_commands(self._cmdline, [*COMMANDS, *own], self._implemented, self._script.title)
        if command == "help" and not main.command_defined("help") and not main.call("defined", "help"):
            return self._print_options(rows or ())
        options = self._cmdline.options.exported()
        if command != "help":
            self._check_driver()
        # Scripts know one percentile, a number.
        percent = next(iter(self._plan.percentiles), 0)
        options["percentile"] = int(percent) if percent == int(percent) else percent
        main.set_options(options)
        if command == "run" and not main.command_defined(command):
            return self._run(main, options)
        with CommandProgress(command, self._plan.progress):
            if main.command_defined(command):
                return self._own_command(main, command, options)
            ok = main.call("call", command)
            return _closed(main, ok or command == "help")

    def _check_driver(self) -> None:
        """Raises UsageError for what would keep every thread of a script that needs a driver from having it."""
        problem = driver_problem(self._plan, self._driver_problems)
        if problem is not None and asks_driver(self._script):
            raise problem

    def _run(self, main: State, options: Mapping[str, Any]) -> ExitStatus:
        # Late: help and prepare need none of what only a run does.
        from sysbench_py.lua_workload import LuaWorkload
        from sysbench_py.preflight import Preflight
        from sysbench_py.runner import Runner

        mode = self._plan.preflight
        preflight = Preflight(main, self._plan, options, server_count(self._cmdline.options, self._plan.db_driver))
        if mode != "off":
            preflight.warn_of_no_work()
        if mode == "on":
            if not preflight.passes():
                return ExitStatus.ERROR
            # As if nobody had connected: the workers go through the servers from the first one.
            choose_driver(self._plan, self._driver_problems)
        workload = LuaWorkload(main, options, self._plan)
        status = Runner(self._plan, workload, self._interrupts, self._recording).run()
        if mode == "auto":
            preflight.explain(status)
        return status

    def _implements(self, main: State, command: str, rows: list[Option] | None) -> bool:
        """Whether one of the usual commands can be done; `run` finds out for itself."""
        if command == "run" or (command == "help" and rows is not None):
            return True
        return bool(main.call("defined", command))

    def _print_options(self, rows: list[Option] | tuple[Option, ...]) -> ExitStatus:
        core.log_raw(os.fsencode(options_text(self._script.title, rows)))
        return ExitStatus.OK

    def _warn_of_unused_options(self) -> None:
        """A script without declared options takes any; say so of those that nothing in it can be reading."""
        options = self._cmdline.options
        typed = [setting.name for setting in self._cmdline.leftovers if setting.name not in options]
        for name in unused_options(self._script, typed):
            say(f"WARNING: the option --{name} is unknown, and {self._script.title} does not read it either")

    def _advise(self, main: State) -> None:
        """A script that has commands was given none: name them."""
        known = _commands(main)
        if known:
            example = "run" if "run" in known else known[0]
            say(
                f"{self._script.title} was loaded and no more; its commands are {', '.join(known)}: "
                f"type for example 'sysbench {self._typed} {example}'"
            )

    @property
    def _typed(self) -> str:
        """The test as the user has named it, which may not be the name of the script."""
        return f"--test={self._cmdline.testname}" if self._cmdline.test_option else self._cmdline.testname or ""

    def _name_way_out(self, command: str) -> None:
        """A command has failed: if its tables are there already, or not at all, another one helps."""
        trouble = core.db_table_trouble()
        if trouble == "exists" and command == "prepare":
            situation, remedy = "Tables of an earlier 'prepare' are there: remove them with", "cleanup"
        elif trouble == "missing" and command not in ("prepare", "cleanup"):
            situation, remedy = "A table is missing: make the tables with", "prepare"
            if "cleanup" in self._implemented and self._some_tables_there():
                situation, remedy = (
                    "A table is missing, and others are there: make all of them anew with",
                    "cleanup prepare",
                )
        else:
            return
        if remedy.split()[-1] in self._implemented:
            say(f"{situation} 'sysbench {self._typed} {remedy}' and the same options")

    def _some_tables_there(self) -> bool:
        """Whether `prepare` would fail, too: asked of the server, if that is allowed."""
        if self._main is None or self._plan.preflight == "off":
            return False
        from sysbench_py.preflight import Preflight

        return Preflight(self._main, self._plan, self._cmdline.options.exported(), 1).some_tables_there()

    def _own_command(self, main: State, command: str, options: Mapping[str, Any]) -> ExitStatus:
        threads = self._plan.threads if main.command_parallel(command) else 1
        core.team_setup(threads)
        if threads == 1:
            return _closed(main, main.call("call_command", command))

        team = LuaTeam(main.script, options, self._plan)
        log(NOTICE, "Initializing worker threads...\n")
        groups = crew_groups(threads, self._plan.multiplex)
        crew = Crew(lambda ids: team.run_command(ids, command), groups, self._plan.thread_stack_size_bytes)
        crew.start()
        crew.join()
        return _closed(main, not crew.failed)


def _closed(main: State, ok: bool = True) -> ExitStatus:
    """The status of a command that is done, `ok` or not."""
    return ExitStatus.OK if main.close() and ok else ExitStatus.ERROR


def _explain_bulk_insert() -> None:
    """If a bulk insert has failed with an error that is ignored, nobody has heard of it. A command may end well all
    the same: an error in thread_done does not change how."""
    driver, _, message = core.db_first_ignored_bulk()
    if driver:
        say(
            f"A bulk insert has met an error of --{driver}-ignore-errors, and is not tried again as events are: "
            f"{' '.join(message.split())}"
        )


def _commands(main: State) -> list[str]:
    """The commands that the script has: the usual ones in their order, then its own."""
    usual = [name for name in COMMANDS if main.call("defined", "event" if name == "run" else name)]
    if "help" not in usual and main.option_rows() is not None:
        usual.append("help")
    return [*usual, *(name for name in main.own_commands() if name not in usual)]


def set_up_rand(plan: Plan) -> None:
    """Hand the --rand-* options to the core."""
    rand = plan.rand
    core.rand_setup(rand.distribution, rand.spec_iter, rand.spec_pct, rand.spec_res, rand.pareto_h, rand.zipfian_exp)


def set_up_drivers(options: OptionSet, plan: Plan) -> dict[str, UsageError]:
    """Hand every driver its options; returns what is wrong with them, by the name of the driver.

    That is told for a script that asks for the driver: others need none.
    """
    problems: dict[str, UsageError] = {}
    for driver in DRIVERS:
        try:
            if plan.db_ps_mode not in PS_MODES:
                advice = one_of(plan.db_ps_mode, PS_MODES)
                raise UsageError.fatal(f"Invalid value for db-ps-mode: {plan.db_ps_mode}", advice=advice)
            driver.load().setup(options)
        except UsageError as error:
            problems[driver.name] = error
            core.driver_setup(driver.name, connect=_refuse(error.advised))
    return problems


def _refuse(problem: str) -> Callable[[int], NoReturn]:
    def connect(slot: int) -> NoReturn:
        # HY000 is the SQLSTATE of errors that have no other.
        raise core.ConnectError(0, "HY000", problem, (problem,))

    return connect


def driver_problem(plan: Plan, problems: Mapping[str, UsageError]) -> UsageError | None:
    """What is wrong with the driver of scripts that do not name one: its name, or its options."""
    try:
        return problems.get(find_driver(plan.db_driver).name)
    except UsageError as error:
        return error


def choose_driver(plan: Plan, problems: Mapping[str, UsageError]) -> None:
    """Tell the core the driver of scripts that do not name one, or what is wrong with it."""
    problem = driver_problem(plan, problems)
    if problem is not None:
        core.db_setup(None, plan.db_reconnect_timeout_s, os.fsencode(problem.advised))
    else:
        core.db_setup(plan.db_driver, plan.db_reconnect_timeout_s, copy=plan.bulk == "copy")


def _meant(cmdline: CommandLine) -> str:
    """What may have been meant by the name of a test that there is not: another test, or a tool."""
    from sysbench_py.old_tests import names_beside

    name = cmdline.testname or ""
    if name in TOOLS:
        return f"did you mean 'sysbench tools {name}'?"
    old = names_beside(cmdline)
    known = [*known_tests(), *scripts_beside(name), *COMMANDS_OF_THEIR_OWN, *old, *OLD_NAMES]
    meant = closest(name, known)
    return OLD_NAMES[meant] if meant in OLD_NAMES and meant not in old else did_you_mean(name, known)
