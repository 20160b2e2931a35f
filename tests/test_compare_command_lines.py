"""Command lines, valid and wrong: output and exit status of the reference, but for named differences."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from tests.support.command_line_scripts import FILES
from tests.support.proc import Result
from tests.support.reference import ours, reference, reports

# A difference is undone in our result, in the reference's, or in both, so that what is left must be equal.
Undo = Callable[[Result, Result], tuple[Result, Result]]


def _edited(result: Result, pattern: str, text: str = "") -> Result:
    """The result with `text` in place of what matches the pattern on standard output."""
    return replace(result, stdout=re.sub(pattern, text, result.stdout, flags=re.MULTILINE))


def in_ours(pattern: str, text: str = "") -> Undo:
    return lambda mine, theirs: (_edited(mine, pattern, text), theirs)


def in_theirs(pattern: str, text: str = "") -> Undo:
    return lambda mine, theirs: (mine, _edited(theirs, pattern, text))


def in_both(pattern: str, text: str = "") -> Undo:
    return lambda mine, theirs: (_edited(mine, pattern, text), _edited(theirs, pattern, text))


def in_our_errors(pattern: str) -> Undo:
    return lambda mine, theirs: (
        replace(mine, stderr=re.sub(pattern, "", mine.stderr, flags=re.MULTILINE)),
        theirs,
    )


def status(ours_is: int, theirs_is: int) -> Undo:
    def undo(mine: Result, theirs: Result) -> tuple[Result, Result]:
        assert (mine.status, theirs.status) == (ours_is, theirs_is)
        return replace(mine, status=theirs.status), theirs

    return undo


def instead(stdout: str, stderr: str = "", status: int = 1) -> Undo:
    """Our whole result is this one."""

    def undo(mine: Result, theirs: Result) -> tuple[Result, Result]:
        assert mine == Result(stdout, stderr, status)
        return theirs, theirs

    return undo


def no_number(mine: Result, theirs: Result) -> tuple[Result, Result]:
    """We refuse a value that is no number."""
    assert re.fullmatch(r"Invalid value for the '\w+' option: '.*' \((use|write) .*\)\n", mine.stderr)
    assert (mine.stdout in ("", BANNER), mine.status) == (True, 1)
    return theirs, theirs


def bad_switch(mine: Result, theirs: Result) -> tuple[Result, Result]:
    """We refuse a value that is neither on nor off."""
    assert re.fullmatch(r"invalid option: --\w+=\w+ \(use on or off\)\n", mine.stderr)
    assert (mine.stdout, mine.status, theirs.status) == (BANNER, 1, 0)
    return theirs, theirs


def told_first(mine: Result, theirs: Result) -> tuple[Result, Result]:
    """We tell what is wrong with the driver at once, and no more."""
    assert mine.stdout.startswith(f"{BANNER}FATAL: ")
    assert re.sub(r" \(use .*\)$", "", mine.stdout[len(BANNER) :].removesuffix("\n")) in theirs.stdout.splitlines()
    assert mine.status == 1
    return theirs, theirs


def several(*undos: Undo) -> Undo:
    def undo(mine: Result, theirs: Result) -> tuple[Result, Result]:
        for each in undos:
            mine, theirs = each(mine, theirs)
        return mine, theirs

    return undo


OWN_OPTIONS = (
    "warmup-time|thread-init-timeout|luajit-cmd|rand-zipfian-exp|db-reconnect-timeout|mysql-ssl-key|mysql-ssl-ca"
    "|mysql-ssl-cert|mysql-compression-algorithms|mysql-password-file|pgsql-password-file|pgsql-sslmode"
    "|pgsql-ignore-errors|create_table_options|reconnect|file-latency-detail|multiplex|output|progress|report-style"
    "|rate-overload|rate-detail|arrival|statements|errors"
    "|bulk|prepare_split|live|preflight|workers|processes|dbapi-[a-z-]+"
)
REPORT = r"^\nGeneral statistics:\n(.*\n)*?Threads fairness:\n.*\n.*\n\n"
FAILED = r"The run has failed: the figures above are of what was done before\."
BANNER = "BANNER\n\n"
DRIVER_LIST = """\
Compiled-in database drivers:
  mysql - MySQL driver
  pgsql - PostgreSQL driver
  sqlite - SQLite driver
  dbapi - Driver for any database with a Python DB-API N module
  null - Null driver: sends nothing

"""
ADVICE = r" \((did you mean|write|use) .*\)$"

# By the ids of docs/compat.md.
DIFFERENCES = {
    "own-options": several(
        in_ours(rf"^  --({OWN_OPTIONS})[=\[].*\n|^(sqlite|dbapi) options:\n(  --.*\n)+\n"),
        in_ours(r"^  (sqlite|dbapi|null|slap) - .*\n"),
        in_ours(r"\{sync,async,mmap,uring\}", "{sync,async,mmap}"),
        in_both(r"(?<=\S) +", " "),
    ),
    "advice": several(in_ours(ADVICE), in_our_errors(ADVICE)),
    "own-help": in_ours(r"^Workloads that are installed:\n(.*\n)+\Z"),
    "no-numbers": no_number,
    "drivers-first": told_first,
    "bad-switches": bad_switch,
    "driver-list": instead(DRIVER_LIST, status=0),
    "loaded-only": in_our_errors(r"^.* was loaded and no more; its commands are .*\n"),
    "unread-options": in_our_errors(r"^WARNING: the option --.* is unknown, and .*\n"),
    "several-commands": in_ours(f"^{BANNER}"),
    "malformed-commands": instead(BANNER, "Unknown command: number\n"),
    "bad-declarations": instead(
        f"{BANNER}FATAL: `sysbench.cmdline.read_cmdline_options' function failed: wrong type for option a: 77\n"
    ),
    "bad-defaults": in_our_errors(r"^Invalid value for the 'a' option: 'y'\n"),
    "internal-lines": in_both(r'\[string "sysbench\.\w+\.lua"\]:\d+: '),
    "module-paths": in_both(r"^\tno file '/.*\n"),
    "config-file-comments": in_theirs(r"^WARNING: Global option .*\n(\(last message repeated .*\n)?"),
    "parallel-status": status(1, 0),
    "repeats-told": in_ours(r"^\(last message repeated \d+ times\)\n\Z"),
    "partial-report": in_ours(rf"{REPORT}^{FAILED}\n"),
    "report-hook-fails": several(in_ours(REPORT), status(1, 0)),
    "late-threads": in_ours(r"^Threads inside of an event: #.*\n"),
    "threads-in-last-report": in_ours("^threads\t2$", "threads\t0"),
    "db-debug-zeros": in_theirs(r"^DEBUG: \nDEBUG: Query exec(.*\n){10}"),
}


@dataclass(frozen=True)
class Case:
    """A command line. `differs` are the ids of the differences that it shows; `unordered` ones have workers
    that print in any order."""

    line: str
    differs: tuple[str, ...] = ()
    stdin: str = ""
    unordered: bool = False


def case(line: str, *differs: str, stdin: str = "", unordered: bool = False) -> Case:
    return Case(line, differs, stdin, unordered)


STOCK = "/usr/share/sysbench"
DRY = "--mysql-dry-run"

CASES = [
    # general
    case("--help", "own-options", "own-help"),
    case("--help nonsense", "own-options", "own-help"),
    case("--help --version", "own-options", "own-help"),
    case("--help=on --threads=0", "own-options", "own-help"),
    case("--help cpu", "own-options", "own-help"),
    case("options.lua --help", "own-options", "own-help"),
    case("--version"),
    case("--version nonsense --threads=x"),
    case("--help=off --version=on"),
    case("--help=5", "bad-switches"),
    case("options.lua --debug=yes", "bad-switches"),
    case("--version=off cpu"),
    # words
    case("cpu"),
    case("fileio"),
    case("cpu nonsense"),
    case("cpu rnu", "advice"),
    case("cpu prepare"),
    case("cpu cleanup"),
    case("none.lua", "loaded-only"),
    case("none.lua run again", "several-commands"),
    case("cpu run again", "several-commands"),
    case("none.lua nonsense"),
    case("none.lua prepare"),
    case("none.lua cleanup"),
    case("none.lua help"),
    case("nowhere run"),
    case("nowhere.lua run"),
    case("sub/nowhere run"),
    case(". run"),
    case("'' run"),
    case("/ run"),
    case("-h", "advice"),
    case("-v run", "advice"),
    case("cup run", "advice"),
    case("run cpu", "advice"),
    case("run", "advice"),
    case("prepare oltp_insert", "advice"),
    case("optoins.lua run", "advice"),
    case("oltp_raed_write run", "advice"),
    case("sub prepare"),
    case("sub.init prepare"),
    case("./none.lua prepare"),
    case("--test=none.lua --events=3 run"),
    case("--test=cpu --events=3 run"),
    case("run --test=cpu"),
    case("memory run --test=cpu --events=2"),
    case("--test cpu run"),
    case("--test= cpu nonsense"),
    case("--test=nowhere run"),
    # options
    case("--threads=0 cpu run", "advice"),
    case("--threads=abc cpu run", "advice"),
    case("--threads=abc", "advice"),
    case("--threads=2 --threads=1 cpu --events=2 run"),
    case("--threads= cpu run", "no-numbers"),
    case("--threads=99999999999 cpu run", "advice"),
    case("--threads=' 2' cpu help"),
    case("--threads 4", "no-numbers"),
    case("--events=x cpu run", "advice"),
    case("--time=x --threads=0 cpu run", "advice"),
    case("--rate=x cpu run", "advice"),
    case("--thread-stack-size=0 cpu run", "advice"),
    case("--thread_stack_size=1K cpu --events=2 run"),
    case("--thread-stack-size=junk cpu run", "no-numbers"),
    case("--report-checkpoints=1,x cpu run", "advice"),
    case("--report-checkpoints=-1 cpu run", "advice"),
    case("--report-checkpoints=" + ",".join(map(str, range(257))) + " cpu run"),
    case("--forced-shutdown=x cpu run", "advice"),
    case("--verbosity=6 cpu run", "advice"),
    case("--verbosity=x cpu run", "advice"),
    case("--verbosity=0 cpu --events=2 run"),
    case("--percentile=101 cpu run", "advice"),
    case("--percentile=0 --histogram cpu run"),
    case("--rand-type=nonsense cpu run", "advice"),
    case("--rand-seed=x cpu run", "advice"),
    case("--debug=yes cpu run", "advice"),
    case("--debug= cpu run", "advice"),
    case("--debug=true --events=2 cpu help"),
    case("--nonsense cpu run"),
    case("--nonsense=1 cpu help"),
    case("--nonsense cpu"),
    case("-- cpu run"),
    case("--=1 cpu run"),
    case(
        "--Threads=2 cpu run",
    ),
    case("--cpu-max-prim=7 cpu run", "advice"),
    case("--cpu_max_prime=100 --events=2 cpu run"),
    case("--cpu-max-prime=x cpu run", "advice"),
    case("--cpu-max-prime=x cpu help"),
    case("--cpu-max-prime=0 cpu run", "advice"),
    case("--cpu-max-prime= cpu run", "no-numbers"),
    case("--mysql-dry-run=perhaps cpu run", "advice"),
    case("--pgsql-port=x cpu help"),
    case("--pgsql-port=x none.lua run", "advice"),
    case("--db-driver=help sql.lua prepare", "driver-list"),
    case("--db-driver=nonsense none.lua --events=1 run"),
    case("--db-driver=nonsense sql.lua --events=1 run", "drivers-first"),
    case("--db-ps-mode=nonsense none.lua --events=1 run"),
    case("--db-ps-mode=nonsense --mysql-dry-run sql.lua prepare", "drivers-first"),
    case("--mysql-host= sql.lua prepare", "drivers-first"),
    case("--mysql-port= sql.lua prepare", "drivers-first"),
    case("--mysql-host= --db-driver=pgsql none.lua --events=1 run"),
    case("--num-threads=2 cpu help"),
    case("--num-threads=2 --max-requests=3 --max-time=2 --tx-rate=10 --verbosity=0 none.lua run"),
    case("--num-threads=1 --max-requests=0 --max-time=0 --tx-rate=0 cpu help"),
    case("--max-requests=x cpu run", "advice"),
    case("--events=0 --time=0 none.lua nonsense"),
    case("--events=0 --time=0 --verbosity=0 cpu help"),
    # options of scripts
    case("options.lua help"),
    case("options.lua prepare"),
    case(
        "options.lua --tables=5 --table-size=7 --skip_trx --engine=x --names=x,,y --empty=1"
        " --unset=2 --count=3 --size=1G --ratio=7e-1 prepare"
    ),
    case("options.lua --skip_trx=off --engine= --names= --empty= --unset= prepare"),
    case("options.lua --engine --names --empty --unset prepare"),
    case("options.lua --ratio=1e3 --size=12KB --tables=0x10 --names=, prepare"),
    case("options.lua --size=2t --ratio=' 7 ' --count=+7 prepare"),
    *(
        case(f"options.lua {option} prepare", "no-numbers")
        for option in (
            "--tables=",
            "--tables",
            "--table-size=10k",
            "--count=",
            "--size=",
            "--size=12x",
            "--ratio=abc",
            "--ratio='7 apples'",
        )
    ),
    case("options.lua --table-size=10k help"),
    case("options.lua --count=abc prepare", "advice"),
    case("options.lua --count=abc help"),
    case("options.lua --count=abc nonsense"),
    case("options.lua --skip-trx=yes prepare", "advice"),
    case("options.lua --skip-trx=false --skip-trx=1 prepare"),
    case("options.lua --nonsense prepare"),
    case("options.lua --tabels=5 prepare", "advice"),
    case("options.lua --oltp-table-size=5 prepare", "advice"),
    case("options.lua -- prepare"),
    case("options.lua rnu", "advice"),
    case("options.lua", "loaded-only"),
    case("options.lua --nonsense", "loaded-only"),
    case("threads_option.lua --threads=2 --events=2 run"),
    case("rejects.lua --n=3 run"),
    case("rejects.lua --events=1 run"),
    case("no_options.lua --foo --events=1 run"),
    case("no_options.lua help"),
    case("no_options.lua help --foo"),
    case("globals.lua prepare"),
    case("globals.lua --foo-bar=7 prepare"),
    case("globals.lua --foo-bar prepare"),
    case("globals.lua --foo-bar=1 --foo_bar=2 --num-threads=3 prepare"),
    case("none.lua --foo --bar=2 --events=1 run", "unread-options"),
    case("none.lua --events=1 run --"),
    case("uses_library.lua --deep-option=3 --events=1 run"),
    case("bad_options_number.lua run", "internal-lines"),
    case("bad_options_entry.lua run", "internal-lines"),
    case("bad_options_description.lua run", "internal-lines"),
    case("bad_options_name.lua help", "internal-lines"),
    case("bad_options_type.lua run", "internal-lines", "bad-declarations"),
    case("bad_default_bool.lua run", "bad-defaults"),
    case("bad_default_int.lua run", "advice"),
    case("bad_default_int.lua help"),
    case("argv.lua --a --b=1 foo"),
    case("./argv.lua --a nonsense"),
    # config files
    case("--config-file=plain.cnf none.lua run", "config-file-comments"),
    case("--config-file=plain.cnf --threads=1 none.lua run", "config-file-comments"),
    case("--threads=1 --config-file=plain.cnf none.lua run", "config-file-comments"),
    case("--config-file=quotes.cnf none.lua run"),
    case("--config-file= cpu help"),
    case("--config-file cpu help"),
    # scripts from standard input
    case("", stdin="print('hi')"),
    case("-", stdin="print('hi')"),
    case("- run", stdin="print('hi', sysbench.cmdline.command)"),
    case("--nonsense", stdin="print('hi')"),
    case("- --threads=0", "advice", stdin="print('hi')"),
    case("-", stdin="error('x')"),
    case("-", stdin="error({})"),
    case("-", stdin="x y z"),
    case("-", stdin=""),
    case("- a", stdin="print(#sysbench.cmdline.argv, sysbench.cmdline.script_path)"),
    case("-", stdin="#!/usr/bin/env sysbench\nprint('after a comment')"),
    # scripts that fail
    case("syntax_error.lua run"),
    case("syntax_error.lua"),
    case("runtime_error.lua run"),
    case("odd_error.lua run"),
    case("nil_error.lua help"),
    case("needs_bad_module.lua run"),
    case("needs_module.lua run", "module-paths"),
    case("empty.lua"),
    case("empty.lua run"),
    case("no_event.lua run"),
    case("fails.lua prepare"),
    case("fails.lua cleanup"),
    case("fails.lua help"),
    case("init_fails.lua run"),
    case("init_fails_oddly.lua run"),
    case("thread_init_fails.lua run"),
    case("thread_init_fails.lua --threads=3 run"),
    case("event_fails.lua run"),
    case("event_fails_oddly.lua run"),
    case("event_fails_late.lua run", "partial-report"),
    case("thread_done_fails.lua --events=3 run"),
    case("thread_done_fails.lua --events=3 --threads=2 run"),
    case("done_fails.lua --events=3 run"),
    # hooks, commands, results of events
    case("order.lua --events=2 run"),
    case("no_events.lua --threads=3 run", unordered=True),
    case("order.lua prepare"),
    case("order.lua --threads=2 cleanup"),
    case("order.lua help"),
    case("order.lua", "loaded-only"),
    case("commands.lua tell"),
    case("commands.lua --threads=2 tell"),
    case("commands.lua all"),
    case("commands.lua --threads=3 all"),
    case("commands.lua no"),
    case("commands.lua zero"),
    case("commands.lua fails"),
    case("commands.lua fails_oddly"),
    case("commands.lua all_fail"),
    case("commands.lua --threads=2 all_fail", "repeats-told", "parallel-status"),
    case("commands.lua --threads=2 all_no", "parallel-status"),
    case("commands.lua run"),
    case("commands.lua help"),
    case("commands.lua prepare"),
    case("commands.lua cleanup"),
    case("commands.lua nothing"),
    case("commands.lua gap"),
    case("commands.lua number", "malformed-commands"),
    case("commands.lua uncallable", "internal-lines"),
    case("commands.lua --nonsense tell", "unread-options"),
    case("returns_zero.lua run"),
    case("returns_zero.lua --threads=2 run"),
    case("returns_table.lua run"),
    case("returns_false.lua --events=5 run"),
    case("own_loop.lua run"),
    case("own_loop.lua --threads=2 run", unordered=True),
    case("own_loop_events.lua --events=5 run"),
    case("restarts.lua --events=1 run"),
    # the run
    case("none.lua --events=10 run"),
    case("none.lua --events=10 --threads=3 run"),
    case("none.lua --events=10 --verbosity=2 run"),
    case("none.lua --events=10 --verbosity=4 run"),
    case("none.lua --events=10 --verbosity=5 run"),
    case("none.lua --events=10 --threads=2 --debug run", unordered=True),
    case("none.lua --events=10 --validate run"),
    case("none.lua --events=10 --percentile=0 run"),
    case("none.lua --events=10 --percentile=1 run"),
    case("none.lua --events=10 --percentile=100 run"),
    case("none.lua --events=10 --rand-seed=5 run"),
    case("none.lua --events=10 --rand-seed=-5 run"),
    case("none.lua --events=10 --rate=1000 run"),
    case("none.lua --events=10 --report-interval=1 run"),
    case("none.lua --events=10 --report-checkpoints=3,1,2 run"),
    case("none.lua --events=10 --report-checkpoints=, run"),
    case("none.lua --events=10 --forced-shutdown=5 run"),
    case("none.lua --events=10 --forced-shutdown run"),
    case("none.lua --events=10 --forced-shutdown=25% run"),
    case("none.lua --events=10 --forced-shutdown=OFF run"),
    case("none.lua --events=10 --time=0 --forced-shutdown=5 run"),
    case("none.lua --events=100 --histogram run"),
    case("none.lua --events=10 --rand-type=gaussian --rand-spec-iter=3 run"),
    case("none.lua --time=1 --rate=2000000000 run"),
    case("short_sleep.lua --time=1 --verbosity=4 run"),
    case("short_sleep.lua --time=1 --threads=2 --verbosity=4 run", unordered=True),
    case("short_sleep.lua --time=1 --report-interval=1 run"),
    case("long_sleep.lua --time=1 --forced-shutdown=0 run", "late-threads"),
    case("long_sleep.lua --time=1 --forced-shutdown=0 --verbosity=0 run"),
    case("long_sleep.lua --time=1 --report-interval=1 --report-checkpoints=2 --debug run", unordered=True),
    case("report.lua --events=5 run"),
    case("report_threads.lua --threads=2 --events=5 run", "threads-in-last-report"),
    case("report_fails.lua --events=5 run", "report-hook-fails"),
    # databases, dry
    case(f"sql.lua {DRY} --events=10 run"),
    case(f"sql.lua {DRY} --events=10 --threads=2 --db-debug run"),
    case(f"sql.lua {DRY} --events=10 --db-debug --verbosity=5 run", "db-debug-zeros"),
    case(f"sql.lua {DRY} prepare"),
    case(f"sql.lua {DRY} --db-driver= prepare", "drivers-first"),
    *(
        case(f"{name} help", "own-options")
        for name in (
            "oltp_read_write",
            "oltp_insert",
            "oltp_delete",
            "select_random_points",
            "select_random_ranges",
        )
    ),
    case("fileio help", "own-options"),
    *(case(f"{name} help") for name in ("bulk_insert", "cpu", "memory", "threads", "mutex")),
    case(f"oltp_read_write {DRY} --tables=2 --table-size=5 prepare"),
    case(f"oltp_read_write {DRY} --tables=2 cleanup"),
    case(f"oltp_read_write {DRY} --events=3 run"),
    case(f"oltp_read_write {DRY} --events=3 --report-interval=1 --threads=2 run"),
    case(f"{STOCK}/oltp_read_write.lua {DRY} --tables=3 --table_size=7 --threads=2 prepare", unordered=True),
    case(f"{STOCK}/oltp_read_write.lua {DRY} --events=3 run"),
    case(f"{STOCK}/oltp_read_write.lua {DRY} cleanup"),
    case(f"{STOCK}/oltp_read_write.lua"),
    case(f"{STOCK}/oltp_common.lua {DRY} --tables=2 --table_size=3 prepare"),
    case(f"{STOCK}/select_random_points.lua {DRY} --events=3 run"),
    case("oltp_point_select nonsense"),
    case("oltp_point_select"),
    # built-in tests
    case("cpu --events=3 run"),
    case("cpu --events=3 --threads=2 --verbosity=4 run"),
    case("threads --events=3 --thread-yields=10 run"),
    case("mutex --threads=2 --mutex-locks=10 run"),
    case("memory --memory-total-size=1M run"),
    case("memory --memory-total-size=1M --memory-oper=read --memory-access-mode=rnd run"),
    case("memory --memory-oper=nonsense run", "advice"),
]


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("command_lines")
    for name, text in FILES.items():
        (path / name).parent.mkdir(exist_ok=True)
        (path / name).write_text(text)
    return path


def masked(result: Result, line: str) -> Result:
    """The result without what differs from run to run: times, rates, the version, counts without a limit."""
    text = re.sub(r"sysbench 1\.0\.20\S*( \(using .*\))", "BANNER", result.stdout)
    text = re.sub(r"sysbench 1\.0\.20\S*", "VERSION", text)
    text = text.replace("/usr/bin/sysbench", "sysbench")
    text = re.sub(r"\S*/oltp_common\.lua:\d+", "oltp_common.lua", text)
    # A row of few events has no star.
    text = re.sub(r"^( +\d+\.\d{3} \|.*\n)+", "ROWS\n", text, flags=re.MULTILINE)
    text = re.sub(r" *\d+\.\d+", " N", text)
    if "--events" not in line and "--max-requests" not in line:
        text = re.sub(r"^( +total number of events: +)\d+", r"\1N", text, flags=re.MULTILINE)
    text = re.sub(r"(thread #.*events: )\d+", r"\1N", text)
    return replace(result, stdout=text)


def in_any_order(result: Result) -> Result:
    return replace(result, stdout="".join(sorted(result.stdout.splitlines(keepends=True))))


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.line} {case.stdin}"[:60])
def test_outcome_is_that_of_the_reference(case: Case, folder: Path) -> None:
    words = shlex.split(case.line)
    with (
        ours.start(*words, cwd=folder, stdin=case.stdin) as mine_run,
        reference.start(*words, cwd=folder, stdin=case.stdin) as theirs_run,
    ):
        mine, theirs = mine_run.result(), theirs_run.result()
    reports(mine.stdout)
    mine, theirs = masked(mine, case.line), masked(theirs, case.line)
    for identifier in case.differs:
        before = mine, theirs
        mine, theirs = DIFFERENCES[identifier](mine, theirs)
        assert (mine, theirs) != before, f"no {identifier}"
    if case.unordered:
        mine, theirs = in_any_order(mine), in_any_order(theirs)
    assert mine.stdout == theirs.stdout
    assert mine.stderr == theirs.stderr
    assert mine.status == theirs.status


def test_there_are_enough_command_lines() -> None:
    assert len({(case.line, case.stdin) for case in CASES}) == len(CASES) >= 150
