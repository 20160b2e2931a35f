"""The grammar and the validation, both compared with the reference."""

from __future__ import annotations

import pickle
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from sysbench_py.command_line import COMMANDS, apply_test_options, check_commands, parse
from sysbench_py.errors import ExitStatus, UsageError
from sysbench_py.options import Kind, Option, format_option_list
from sysbench_py.plan import Plan
from sysbench_py.validate import make_plan
from sysbench_py.version import REFERENCE, VERSION, __version__
from tests.support.compat import compat
from tests.support.reference import ours

CPU_ROWS = (Option("cpu-max-prime", Kind.INT, "10000", "upper limit for primes generator"),)

Outcome = tuple[int, str, str]


def cpu_help(arguments: Sequence[str]) -> Outcome:
    """What `sysbench ... cpu help` ends with and prints, the banner aside, from the parts tested here."""
    out: list[str] = []
    err: list[str] = []
    try:
        cmdline = parse(["sysbench", *arguments])
        err += cmdline.warnings
        make_plan(cmdline.options, out.append)
        assert (cmdline.testname, cmdline.commands) == ("cpu", ("help",))
        apply_test_options(cmdline, CPU_ROWS, accept_unknown=False)
        out.append("cpu options:\n" + format_option_list(CPU_ROWS)[:-1])
        status = ExitStatus.OK
    except UsageError as error:
        error.advice = ""
        (out if error.stream == "stdout" else err).append(error.line)
        status = ExitStatus.ERROR
    return int(status), "".join(f"{line}\n" for line in out), "".join(f"{line}\n" for line in err)


def reference(arguments: Sequence[str]) -> Outcome:
    done = subprocess.run(
        ["/usr/bin/sysbench", *arguments],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    lines = done.stdout.splitlines(keepends=True)
    for number, line in enumerate(lines):
        if line.startswith("sysbench 1.0.20 (using "):
            del lines[number : number + 2]
            break
    return done.returncode, "".join(lines), done.stderr


@pytest.mark.parametrize(
    "options",
    [
        "",
        "--threads=4 --events=3 --time=2 --rate=1 --report-interval=1",
        "--threads=0",
        "--threads=abc",
        "--threads=abc --threads=2",
        "--thread-stack-size=0",
        "--thread_stack_size=64KB",
        "--thread-stack-size=1K",
        "--forced-shutdown=x",
        "--forced-shutdown=1x",
        "--forced-shutdown=OFF",
        "--forced-shutdown=",
        "--forced-shutdown=5%",
        "--report-checkpoints=1,x",
        "--report-checkpoints=-1",
        "--report-checkpoints=2147483648",
        "--report-checkpoints=1.5",
        "--report-checkpoints=,3,1",
        "--report-checkpoints=" + ",".join(map(str, range(256))),
        "--report-checkpoints=" + ",".join(map(str, range(257))),
        "--events=-1",
        "--time=-1 --events=1",
        "--events=x",
        "--rate=x",
        "--rand-type=foo",
        "--rand-type=pareto",
        "--rand-seed=x",
        "--rand-seed=4294967296",
        "--rand-seed=-1",
        "--verbosity=6 --verbosity=5",
        "--verbosity=6",
        "--verbosity=x",
        "--verbosity=0",
        "--percentile=101",
        "--percentile=-1",
        "--percentile=0",
        "--percentile=0 --histogram",
        "--histogram",
        "--debug=yes",
        "--debug=",
        "--help=off",
        "--help=foo",
        "--version=foo",
        "--events=0 --time=0",
        "--num-threads=2 --max-requests=3 --max-time=2 --tx-rate=10",
        "--num_threads=1 --max_requests=0 --max_time=0 --tx_rate=0",
        "--num-threads=2 --threads=0 --percentile=101",
        "--max-requests=x",
        "--max-time=3 --time=0 --rand-type=x --tx-rate=5",
        "--max-time=3 --tx-rate=5 --percentile=101",
        "--test=cpu",
        "--test",
        "--test=memory --test=cpu",
        "--foo",
        "--foo=1 --bar=2",
        "--",
        "--=1",
        "--cpu_max_prime=7",
        "--Threads=2",
        "--mysql-dry-run=maybe",
        "--mysql-host=a,b --pgsql-port=1 --db-driver=pgsql --db-ps-mode=disable",
    ],
)
@pytest.mark.parametrize("before", [True, False], ids=["options-first", "options-last"])
def test_outcome_is_that_of_the_reference(options: str, before: bool) -> None:
    words = ["help"] if options.startswith("--test=") and before else ["cpu", "help"]
    arguments = [*options.split(), *words] if before else [*words, *options.split()]
    assert cpu_help(arguments) == reference(arguments)


@compat("version")
@pytest.mark.parametrize(
    ("pattern", "found"),
    [
        (r"\d\.\d", ["1.0"]),
        (r"\d+\.\d+\.\d+", ["1.0.20"]),
        (r"[\d.]+\.[\d.]+", ["1.0.20"]),
        (r"(?<=sysbench )[\d]+\.[\d]+\.[\w-]+(?=[ \n])", [VERSION]),
    ],
)
def test_published_patterns_find_the_version(pattern: str, found: list[str]) -> None:
    """Scripts choose the syntax by it: `$(sysbench --version | grep -oe '[0-9]\\.[0-9]')` is to be 1.0."""
    told = ours("--version").stdout
    assert told == f"sysbench {VERSION}\n"
    assert f"{REFERENCE}-py{'-'.join(__version__.split('.'))}" == VERSION
    assert re.findall(pattern, told) == found


PAIRED = [
    "--threads=0",
    "--thread-stack-size=0",
    "--rand-type=x",
    "--rand-seed=x",
    "--percentile=101",
    "--verbosity=6",
    "--report-checkpoints=x",
    "--forced-shutdown=x",
    "--rate=x",
    "--report-interval=x",
    "--events=x",
    "--time=x",
    "--num-threads=x",
    "--max-requests=x",
    "--tx-rate=x",
]


@pytest.mark.parametrize("first", PAIRED)
def test_the_same_one_of_two_mistakes_is_reported(first: str) -> None:
    for second in PAIRED:
        arguments = [first, second, "cpu", "help"]
        assert cpu_help(arguments) == reference(arguments), arguments


@pytest.mark.parametrize(
    ("arguments", "testname", "commands"),
    [
        ("", None, ()),
        ("-", "-", ()),
        ("cpu", "cpu", ()),
        ("-v", "-v", ()),
        ("cpu run", "cpu", ("run",)),
        ("--threads=2 cpu --time=1 run", "cpu", ("run",)),
        ("--threads 2 cpu run", "2", ("cpu", "run")),
        ("x.lua prepare run cleanup", "x.lua", ("prepare", "run", "cleanup")),
        ("--test=cpu run", "cpu", ("run",)),
        ("--test=x.lua prepare run", "x.lua", ("prepare", "run")),
        ("cpu run --test=memory", "memory", ("run",)),
        ("run --test=cpu", "cpu", ()),
        ("--test= cpu run", "cpu", ("run",)),
    ],
)
def test_words(arguments: str, testname: str | None, commands: tuple[str, ...]) -> None:
    cmdline = parse(["sysbench", *arguments.split()])
    assert (cmdline.testname, cmdline.commands) == (testname, commands)
    assert cmdline.argv == ("sysbench", *arguments.split())


def test_unknown_options_wait_for_the_test_as_typed() -> None:
    cmdline = parse(["sysbench", "--table-size=5", "--threads=2", "--skip_trx", "--debug=yes", "x", "run"])
    assert [setting.typed for setting in cmdline.leftovers] == ["--table-size=5", "--skip_trx", "--debug=yes"]
    assert cmdline.options["threads"] == 2


def test_option_of_the_test_resets_a_general_one() -> None:
    cmdline = parse(["sysbench", "--threads=2", "--debug=yes", "x.lua", "run"])
    plan = make_plan(cmdline.options, pytest.fail)
    rows = [Option("threads", Kind.INT, "9", ""), Option("debug", Kind.STRING, "no", "")]
    apply_test_options(cmdline, rows, accept_unknown=False)
    assert plan.threads == 2
    assert cmdline.options["threads"] == 9
    assert cmdline.options["debug"] == "yes"


def test_script_without_options_accepts_any(tmp_path: Path) -> None:
    script = tmp_path / "show.lua"
    script.write_text("""
        function prepare()
          for _, name in ipairs{"foo_bar", "x_y", "twice"} do print(name .. "=" .. sysbench.opt[name]) end
        end""")
    arguments = ["--foo-bar=1", "--x_y", "--twice=1", "--twice", str(script), "prepare"]
    cmdline = parse(["sysbench", *arguments])
    apply_test_options(cmdline, [], accept_unknown=True)
    values = cmdline.options.exported()
    printed = "".join(f"{name}={values[name]}\n" for name in ("foo_bar", "x_y", "twice"))
    assert reference(arguments) == (0, printed, "")


def test_script_without_options_does_not_accept_everything() -> None:
    cmdline = parse(["sysbench", "--debug=yes", "x.lua", "run"])
    with pytest.raises(UsageError, match=r"^invalid option: --debug=yes$"):
        apply_test_options(cmdline, [], accept_unknown=True)


@pytest.mark.parametrize("typed", ["--", "--=1"])
def test_option_without_a_name_is_dropped_where_any_is_accepted(typed: str) -> None:
    cmdline = parse(["sysbench", typed, "x.lua", "run"])
    before = cmdline.options.names()
    apply_test_options(cmdline, [], accept_unknown=True)
    assert cmdline.options.names() == before


def plan_of(*arguments: str) -> Plan:
    return make_plan(parse(["sysbench", *arguments]).options, pytest.fail)


def test_plan_of_no_options() -> None:
    plan = plan_of()
    assert (plan.threads, plan.events_limit, plan.time_limit_s, plan.rate_steps) == (1, 0, 10, ())
    assert (plan.percentiles, plan.histogram, plan.verbosity, plan.seed) == ((95,), False, 3, 0)
    assert (plan.thread_stack_size_bytes, plan.thread_init_timeout_s) == (65536, 30)
    assert (plan.rand.distribution, plan.rand.pareto_h, plan.rand.zipfian_exp) == ("special", 0.2, 0.8)
    assert (plan.db_driver, plan.db_ps_mode, plan.luajit_cmd) == ("mysql", "auto", "")
    assert (plan.forced_shutdown_s, plan.checkpoints_s, plan.warmup_s) == (None, (), 0)


def test_plan_takes_what_was_given() -> None:
    plan = plan_of(
        "--warmup-time=3",
        "--report-checkpoints=30,4,10",
        "--debug",
        "--rand-type=zipfian",
        "--rand-zipfian-exp=1.5",
        "--rand-seed=-7",
        "--luajit-cmd=off",
        "--time=-1",
        "--events=5",
    )
    assert (plan.warmup_s, plan.checkpoints_s, plan.verbosity) == (3, (4, 10, 30), 5)
    assert (plan.rand.distribution, plan.rand.zipfian_exp, plan.seed) == ("zipfian", 1.5, -7)
    assert (plan.luajit_cmd, plan.time_limit_s, plan.events_limit) == ("off", 0, 5)


def test_plan_can_be_sent_to_another_process() -> None:
    plan = plan_of("--report-checkpoints=1,2", "--rand-type=gaussian")
    assert pickle.loads(pickle.dumps(plan)) == plan


def test_deprecated_spellings_set_the_present_ones() -> None:
    options = parse(["sysbench", "--num-threads=4", "--max-time=7", "--threads=2"]).options
    warnings: list[str] = []
    plan = make_plan(options, warnings.append)
    assert (plan.threads, plan.time_limit_s) == (4, 7)
    assert (options["threads"], options["time"]) == (4, 7)
    assert len(warnings) == 2


@pytest.mark.parametrize("arguments", ["--max-time=-1 --time=0 --events=3", "--max-requests=-1 --events=7 --time=1"])
def test_negative_values_of_deprecated_spellings(arguments: str) -> None:
    """No time is negative; a negative number of events is none, as with the present spelling."""
    run = [*arguments.split(), "cpu", "run", "--cpu-max-prime=10"]
    mine, theirs = ours(*run), reference(run)
    assert theirs[0] == mine.status == 0
    assert ("deprecated" in mine.stdout) is ("deprecated" in theirs[1])
    events = [re.search("total number of events: +([0-9]+)", text) for text in (mine.stdout, theirs[1])]
    assert all(found is not None and (int(found[1]) > 7) is ("requests" in arguments) for found in events)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("off", None), ("3", 3), ("+3", 3), ("25%", 25), ("7%", 7), ("", 5), ("0", 0)],
)
def test_forced_shutdown(text: str, seconds: int | None) -> None:
    assert plan_of("--time=100", f"--forced-shutdown={text}").forced_shutdown_s == seconds
    run = ["--time=100", "--events=1", f"--forced-shutdown={text}", "cpu", "run"]
    announced = None if seconds is None else f"Forcing shutdown in {100 + seconds} seconds"
    lines = reference(run)[1].splitlines()
    assert announced is None or announced in lines
    assert any(line.startswith("Forcing") for line in lines) is (seconds is not None)


def test_forced_shutdown_needs_a_time_limit() -> None:
    assert plan_of("--time=0", "--events=1", "--forced-shutdown=3").forced_shutdown_s is None


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ("threads=-1", "FATAL: Invalid value for --threads: -1."),
        ("num-threads=-2", "FATAL: Invalid value for --threads: -2."),
        ("warmup-time=-1", "FATAL: Invalid value for --warmup-time: -1."),
        ("thread-init-timeout=0", "FATAL: Invalid value for --thread-init-timeout: 0."),
        ("rate=-1", "FATAL: Invalid value for --rate: -1."),
        ("report-interval=-1", "FATAL: Invalid value for --report-interval: -1."),
        ("db-reconnect-timeout=-1", "FATAL: Invalid value for --db-reconnect-timeout: -1."),
        ("forced-shutdown=-1", "FATAL: Invalid value for --forced-shutdown: '-1'"),
        ("forced-shutdown=5%%", "FATAL: Invalid value for --forced-shutdown: '5%%'"),
        ("forced-shutdown=1000000000000", "FATAL: Invalid value for --forced-shutdown: '1000000000000'"),
        ("verbosity=-1", "Invalid value for verbosity: -1"),
        ("verbosity=256", "Invalid value for verbosity: 256"),
        ("rand-type=", "FATAL: Invalid random numbers distribution: ."),
        ("rand-spec-iter=0", "FATAL: Invalid value for --rand-spec-iter: 0 (must be > 0)"),
        ("rand-spec-pct=101", "FATAL: Invalid value for --rand-spec-pct: 101 (must be from 0 to 100)"),
        ("rand-spec-res=-1", "FATAL: Invalid value for --rand-spec-res: -1 (must be from 0 to 100)"),
        ("rand-pareto-h=0", "FATAL: Invalid value for --rand-pareto-h: 0 (must be > 0 and < 1)"),
        ("rand-pareto-h=nan", "FATAL: Invalid value for --rand-pareto-h: nan (must be > 0 and < 1)"),
        ("rand-zipfian-exp=-0.1", "FATAL: --rand-zipfian-exp must be >= 0"),
    ],
)
@compat("nonsense-values")
def test_values_that_make_no_sense(option: str, message: str) -> None:
    options = parse(["sysbench", f"--{option}"]).options
    with pytest.raises(UsageError) as raised:
        make_plan(options, lambda _: None)
    assert raised.value.line.startswith(message)
    # One of these is told so by the message of sysbench itself.
    assert re.search(r" \((use|must be) |must be >= 0$", raised.value.line)
    assert raised.value.stream == "stdout"


@pytest.mark.parametrize(
    ("option", "message", "stream"),
    [
        ("pgsql-sslmode=x", "FATAL: Invalid value for --pgsql-sslmode: 'x' (use ", "stdout"),
        ("mysql-ssl=maybe", "FATAL: Invalid value for --mysql-ssl: 'maybe' (use ", "stdout"),
        ("sqlite-journal=x", "FATAL: Invalid value for --sqlite-journal: 'x' (use ", "stdout"),
        ("pgsql-port=x", "Invalid value for the 'pgsql_port' option: 'x'", "stderr"),
    ],
)
def test_bad_values_of_drivers_are_errors_when_they_are_read(option: str, message: str, stream: str) -> None:
    options = parse(["sysbench", f"--{option}"]).options
    make_plan(options, pytest.fail)
    with pytest.raises(UsageError) as raised:
        options.exported()
    assert raised.value.line.startswith(message)
    assert raised.value.stream == stream


@pytest.mark.parametrize(
    "line",
    [
        "cpu --rand-type=zipf run zipfian",
        "oltp_insert --db-driver=postgresql prepare pgsql",
        "oltp_insert --db-ps-mode=disabled prepare disable",
        "oltp_insert --db-driver=sqlite --sqlite-journal=wall prepare wal",
        "oltp_insert --db-driver=pgsql --pgsql-sslmode=required prepare require",
        "memory --memory-oper=red run read",
        "fileio --file-test-mode=rndrx run rndwr",
        "fileio --file-io-mode=asynch --file-test-mode=rndrd run async",
    ],
)
def test_likely_value_of_a_list_is_named(line: str, tmp_path: Path) -> None:
    *words, meant = line.split()
    result = ours(*words, cwd=tmp_path)
    assert f"(did you mean '{meant}'?)\n" in result.stdout
    assert (result.stderr, result.status) == ("", 1)


def test_drivers_are_listed_for_any_test() -> None:
    for words in (("cpu", "run"), ("nowhere", "run"), ("--threads=0",)):
        result = ours("--db-driver=help", *words)
        assert result.stdout.count("\n  ") == 5
        assert (result.stderr, result.status) == ("", 0)


@pytest.mark.parametrize(
    ("line", "about", "advice"),
    [
        ("--threads 4 cpu run", "threads", "write --threads=4"),
        ("--threads 4 cpu run", "4", "write --threads=4"),
        ("x.lua --table-size 100 run", "100", "write --table-size=100"),
        ("x.lua --skip-trx run", "run", ""),
        ("x.lua --debug run", "run", ""),
        ("x.lua --threads=4 run", "threads", ""),
        ("-h", "-h", "write --help"),
        ("-v run", "-v", "write --version"),
        ("x.lua -t run", "-t", "write options as --name or --name=value"),
        ("cpu -threads=4 run", "-threads=4", "write --threads=4"),
        ("cpu run -threads 4", "-threads", "write --threads=4"),
        ("\u2013threads=4 cpu run", "\u2013threads=4", "write --threads=4"),
        ("cpu run \u2014threads 4", "\u2014threads", "write --threads=4"),
        ("cpu \u2014db-driver pgsql run", "\u2014db-driver", "write --db-driver=pgsql"),
        ("cpu \u2014histogram run", "\u2014histogram", "write --histogram"),
        ("cpu \u2212-threads=4 run", "\u2212-threads=4", "write --threads=4"),
        ("cpu \u2013nonsense=4 run", "\u2013nonsense=4", "write options as --name or --name=value"),
    ],
)
def test_advice(line: str, about: str, advice: str) -> None:
    assert parse(["sysbench", *line.split()]).advice(about) == advice


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("host", "--mysql-host or --pgsql-host"),
        ("port", "--mysql-port or --pgsql-port"),
        ("user", "--mysql-user or --pgsql-user"),
        ("password", "--mysql-password or --pgsql-password or --dbapi-password"),
        ("password_file", "--mysql-password-file or --pgsql-password-file or --dbapi-password-file"),
        ("db", "--mysql-db or --pgsql-db or --sqlite-db"),
        ("socket", "--mysql-socket"),
        ("seed", "--rand-seed"),
    ],
)
def test_options_that_drivers_have_of_their_own(typed: str, meant: str) -> None:
    result = ours("oltp_read_only", f"--{typed}=x", "run")
    assert (result.status, result.stderr) == (1, f"invalid option: --{typed}=x (did you mean {meant}?)\n")


@pytest.mark.parametrize(
    ("line", "advice"),
    [
        ("oltp_read_write --oltp-read-only run", "use the test oltp_read_only"),
        ("oltp_read_write --oltp_write_only=on run", "use the test oltp_write_only"),
        ("oltp_read_write --seed-rng=5 run", "use --rand-seed"),
        ("cpu --init-rng=on run", "leave it out: random numbers are seeded from the current time"),
        ("oltp_read_write --oltp-dist-type=uniform run", "use --rand-type"),
        ("oltp_read_write --oltp-tables-count=4 run", "did you mean --tables?"),
        ("oltp_read_write --oltp-table-size=4 run", "did you mean --table_size?"),
        (
            "--test=oltp --oltp-tables-count=4 run",
            "the test oltp of sysbench 0.4 has one table; --test=oltp.lua is that of 0.5",
        ),
        ("--test=oltp --oltp-table-nam=x run", "did you mean --oltp-table-name?"),
        ("cpu --\u2013threads=4 run", "did you mean --threads?"),
        ("cpu --cpu\u2011max\u2011prime=4 run", "did you mean --cpu-max-prime?"),
    ],
)
def test_advice_for_options_of_old_generations_and_of_editors(line: str, advice: str) -> None:
    result = ours(*line.split(), "--db-driver=null")
    assert result.status == 1
    assert result.stderr.splitlines()[-1].endswith(f" ({advice})")


def test_dashes_of_editors() -> None:
    for line, message in (
        ("\u2013threads=4 cpu run", "Cannot find benchmark '\u2013threads=4': no such built-in test, file or module"),
        ("cpu \u2013threads=4 run", "Unknown command: \u2013threads=4"),
        ("oltp_read_only run \u2014table-size 4", "Unrecognized command line argument: \u2014table-size"),
    ):
        result = ours(*line.split())
        option = "--table-size=4" if "size" in line else "--threads=4"
        assert (result.stdout + result.stderr).endswith(f"{message} (write {option})\n")
        assert result.status == 1


@pytest.mark.parametrize(
    ("commands", "message"),
    [
        ("run", None),
        ("prepare run help", None),
        ("rnu", "Unknown command: rnu (did you mean 'run'?)"),
        ("nonsense", "Unknown command: nonsense"),
        ("run again", "Unrecognized command line argument: again"),
        ("prepare cleanup", "'x.lua' test does not implement the 'cleanup' command."),
    ],
)
def test_all_commands_are_checked_before_the_first(commands: str, message: str | None) -> None:
    cmdline = parse(["sysbench", "x.lua", *commands.split()])
    if message is None:
        check_commands(cmdline, COMMANDS, COMMANDS, "x.lua")
        return
    with pytest.raises(UsageError) as raised:
        check_commands(cmdline, COMMANDS, ("prepare", "run", "help"), "x.lua")
    assert raised.value.line == message


def test_no_client_library_is_imported() -> None:
    code = (
        "import sys; from sysbench_py.command_line import parse; from sysbench_py.help import help_text;"
        "parse(['sysbench', '--db-driver=mysql', '--db-driver=pgsql']); help_text();"
        "print({'pymysql', 'psycopg2', 'sqlite3', 'lupa'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"
