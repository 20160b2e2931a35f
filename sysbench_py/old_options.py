"""What command lines of sysbench 0.4 and 0.5 say in another way than those of 1.0."""

from __future__ import annotations

from collections.abc import Callable

from sysbench_py.options import Kind, Option, OptionSet

# General options that 1.0 has no more. They are known behind --test=, which is how those command lines begin.
OLD_OPTIONS = (
    Option("init-rng", Kind.BOOL, "off", "seed the random numbers from the current time", exported=False),
    Option("seed-rng", Kind.INT, "0", "seed of the random numbers; 0 for none", exported=False),
    Option("rand-init", Kind.BOOL, "off", "seed the random numbers from the current time", exported=False),
    Option("tx-jitter", Kind.INT, "0", "deviation of the intervals of --tx-rate, in microseconds", exported=False),
    Option("mysql-ignore-duplicates", Kind.BOOL, "off", "ignore errors of duplicate keys", exported=False),
)

# Those of the tests that are no scripts of the user, whose own options may have these names.
BATCH_OPTIONS = (
    Option("batch", Kind.BOOL, "off", "report every --batch-delay seconds", exported=False),
    Option("batch-delay", Kind.INT, "300", "seconds between the reports of --batch", exported=False),
)

# The error of MySQL for a duplicate key.
DUPLICATE_KEY = "1062"

# What is typed today for options of these generations that are called quite otherwise today.
_TODAY = {
    "init_rng": "leave it out: random numbers are seeded from the current time",
    "mysql_create_options": "use --create_table_options",
    "oltp_dist_iter": "use --rand-spec-iter",
    "oltp_dist_pct": "use --rand-spec-pct",
    "oltp_dist_res": "use --rand-spec-res",
    "oltp_dist_type": "use --rand-type",
    "oltp_nontrx_mode": "use the test oltp_insert, oltp_delete, oltp_update_index or oltp_update_non_index",
    "oltp_read_only": "use the test oltp_read_only",
    "oltp_table_name": "tables are called sbtest1, sbtest2 ...; --tables says how many there are",
    "oltp_test_mode": "use the test oltp_point_select for simple, oltp_read_write or oltp_read_only for complex",
    "oltp_write_only": "use the test oltp_write_only",
    "rand_init": "leave it out: random numbers are seeded from the current time",
    "seed_rng": "use --rand-seed",
    "tx_jitter": "leave it out: the intervals of --rate are random ones",
}
# The same for --test=oltp, which is that of 0.4: what resembles them there means something else.
_IN_0_4 = {"oltp_tables_count": "the test oltp of sysbench 0.4 has one table; --test=oltp.lua is that of 0.5"}


def option_of_today(key: str, testname: str) -> str:
    """What would be right for `testname` in place of an old option that it does not know; empty if nobody knows."""
    return (_IN_0_4 if testname == "oltp" else _TODAY).get(key, "")


# What ended a test of these generations where nothing was said.
OLD_EVENTS_LIMIT = "10000"
# The seed of libc's generator where nobody has set one: the numbers of 0.4 were the same in every run.
UNSEEDED = "1"


def take_old_options(options: OptionSet, warn: Callable[[str], None]) -> None:
    """Let the old options be what they are today, and tell `warn` of what has no effect here.

    Raises UsageError for a value that is no number.
    """
    if "seed-rng" not in options:
        return
    seed = options.get("seed-rng", int)
    if seed and not options.typed("rand-seed"):
        options.set("rand-seed", str(seed))
    if options.get("mysql-ignore-duplicates", bool):
        errors = options.get("mysql-ignore-errors", tuple)
        options.set("mysql-ignore-errors", None, (*errors, DUPLICATE_KEY))
    if options.get("tx-jitter", int):
        warn("WARNING: --tx-jitter has no effect: the intervals of --tx-rate are random ones")


def take_batch(options: OptionSet) -> None:
    """Let --batch be --report-interval, if that is not there itself."""
    if options.get("batch", bool) and not options.typed("report-interval"):
        options.set("report-interval", str(options.get("batch-delay", int)))


def take_old_defaults(options: OptionSet, generation: str) -> None:
    """Give --events, --time and, for generation 0.4, --rand-seed the defaults that they had then.

    A --max-requests or --max-time of 0 means no limit, whatever the default is.
    """
    if not options.typed("time"):
        options.set("time", "0")
    if not options.typed("events"):
        options.set("events", "0" if options.typed("max-requests") else OLD_EVENTS_LIMIT)
    if generation == "0.4" and not options.typed("rand-seed") and not options.get("init-rng", bool):
        options.set("rand-seed", UNSEEDED)
