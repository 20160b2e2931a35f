"""The options that belong to no driver and no test, in the order in which the help shows them."""

from __future__ import annotations

from sysbench_py.options import Kind, Option
from sysbench_py.rates import parse_rate

GENERAL_OPTIONS = (
    Option("threads", Kind.INT, "1", "number of threads to use"),
    Option("events", Kind.INT, "0", "limit for total number of events"),
    Option("time", Kind.INT, "10", "limit for total execution time in seconds"),
    Option(
        "warmup-time",
        Kind.INT,
        "0",
        "execute events for this many seconds with statistics disabled before the actual benchmark run "
        "with statistics enabled",
    ),
    Option(
        "forced-shutdown",
        Kind.STRING,
        "off",
        "number of seconds to wait after the --time limit before forcing shutdown, or 'off' to disable",
    ),
    Option("thread-stack-size", Kind.SIZE, "64K", "size of stack per thread"),
    Option("thread-init-timeout", Kind.INT, "30", "wait time in seconds for worker threads to initialize"),
    Option("rate", Kind.INT, "0", "average transactions rate. 0 for unlimited rate", parse=parse_rate),
    Option(
        "rate-overload",
        Kind.STRING,
        "fail",
        "what a full queue of --rate does: end the run, or drop events and report them {fail, report}",
        choices=("fail", "report"),
        exported=False,
    ),
    Option(
        "rate-detail",
        Kind.BOOL,
        "off",
        "report service time, rate reached and backlog of --rate",
        exported=False,
    ),
    Option(
        "arrival",
        Kind.STRING,
        "poisson",
        "how the events of --rate arrive: at random, or at equal distances {poisson, uniform}",
        choices=("poisson", "uniform"),
        exported=False,
    ),
    Option(
        "report-interval",
        Kind.INT,
        "0",
        "periodically report intermediate statistics with a specified interval in seconds. "
        "0 disables intermediate reports",
    ),
    Option(
        "report-checkpoints",
        Kind.LIST,
        "",
        "dump full statistics and reset all counters at specified points in time. "
        "The argument is a list of comma-separated values representing the amount of time in seconds "
        "elapsed from start of test when report checkpoint(s) must be performed. "
        "Report checkpoints are off by default.",
    ),
    Option("debug", Kind.BOOL, "off", "print more debugging info"),
    Option("validate", Kind.BOOL, "off", "perform validation checks where possible"),
    Option("help", Kind.BOOL, "off", "print help and exit"),
    Option("version", Kind.BOOL, "off", "print version and exit"),
    Option("config-file", Kind.FILE, None, "File containing command line options"),
    Option(
        "luajit-cmd",
        Kind.STRING,
        None,
        "perform LuaJIT control command. This option is equivalent to 'luajit -j'. "
        "See LuaJIT documentation for more information",
    ),
    Option(
        "multiplex",
        Kind.INT,
        "0",
        "number of OS threads that run the worker threads of a Lua script in turn. 0 gives each one of its own",
    ),
    Option("tx-rate", Kind.INT, "0", "deprecated alias for --rate"),
    Option("max-requests", Kind.INT, "0", "deprecated alias for --events"),
    Option("max-time", Kind.INT, "0", "deprecated alias for --time"),
    Option("num-threads", Kind.INT, "1", "deprecated alias for --threads"),
    Option(
        "workers",
        Kind.STRING,
        "thread",
        "what the threads of a run belong to: this process, or processes of their own, for drivers and scripts that "
        "need the lock of the Python interpreter {thread, process}",
        choices=("thread", "process"),
    ),
    Option(
        "processes",
        Kind.INT,
        "0",
        "number of processes for --workers=process, at most one a thread; 0 for one a processor",
    ),
)

RAND_OPTIONS = (
    Option(
        "rand-type",
        Kind.STRING,
        "special",
        "random numbers distribution {uniform,gaussian,special,pareto}",
    ),
    Option("rand-spec-iter", Kind.INT, "12", "number of iterations used for numbers generation"),
    Option(
        "rand-spec-pct",
        Kind.INT,
        "1",
        "percentage of values to be treated as 'special' (for special distribution)",
    ),
    Option(
        "rand-spec-res",
        Kind.INT,
        "75",
        "percentage of 'special' values to use (for special distribution)",
    ),
    Option(
        "rand-seed",
        Kind.INT,
        "0",
        "seed for random number generator. When 0, the current time is used as a RNG seed.",
    ),
    Option("rand-pareto-h", Kind.DOUBLE, "0.2", "parameter h for pareto distribution"),
    Option(
        "rand-zipfian-exp",
        Kind.DOUBLE,
        "0.8",
        "shape parameter (exponent, theta) for the Zipfian distribution",
    ),
)

LOG_OPTIONS = (Option("verbosity", Kind.INT, "3", "verbosity level {5 - debug, 0 - only critical messages}"),)

LATENCY_OPTIONS = (
    Option(
        "percentile",
        Kind.LIST,
        "95",
        "percentile to calculate in latency statistics (1-100). "
        "Use the special value of 0 to disable percentile calculations",
        suffix="=N",
    ),
    Option("histogram", Kind.BOOL, "off", "print latency histogram in report"),
    Option("report-style", Kind.STRING, "1.0", "layout of the reports, that of sysbench {1.0, 0.4}", exported=False),
    Option("statements", Kind.BOOL, "off", "report calls, rows and latency of each SQL statement", exported=False),
    Option("errors", Kind.BOOL, "off", "report SQL errors by code", exported=False),
    Option(
        "output",
        Kind.LIST,
        "",
        "write the results of a run also as json, jsonl, csv, hdr, prometheus or html; may be repeated. "
        "FILE may be - for standard output, and for prometheus a port",
        suffix="=FORMAT[:FILE]",
        repeatable=True,
        exported=False,
    ),
    Option(
        "progress",
        Kind.BOOL,
        "on",
        "show on standard error, if that is a terminal, how far a command is",
        exported=False,
    ),
    Option(
        "live",
        Kind.BOOL,
        "off",
        "show a table of throughput, latencies and errors while a run lasts, if standard output is a terminal",
        exported=False,
    ),
)

DB_OPTIONS = (
    Option(
        "db-driver",
        Kind.STRING,
        "mysql",
        "specifies database driver to use ('help' to get list of available drivers)",
    ),
    Option("db-ps-mode", Kind.STRING, "auto", "prepared statements usage mode {auto, disable}"),
    Option("db-debug", Kind.BOOL, "off", "print database-specific debug information"),
    Option(
        "db-reconnect-timeout",
        Kind.INT,
        "30",
        "seconds to keep trying to reconnect after a lost connection",
    ),
    Option(
        "preflight",
        Kind.STRING,
        "auto",
        "ask the server before a run whether it can work: its limits, tables and rows; "
        "auto asks after a run that has failed",
        choices=("auto", "on", "off"),
        suffix="=auto|on|off",
        bare="on",
        exported=False,
    ),
    Option(
        "bulk",
        Kind.STRING,
        "insert",
        "how bulk inserts send their rows: by INSERT statements, or where that can be by COPY on PostgreSQL and "
        "LOAD DATA LOCAL on MySQL",
        choices=("insert", "copy"),
        suffix="=insert|copy",
        exported=False,
    ),
)
