"""The text of `--help`."""

from __future__ import annotations

from collections.abc import Iterable

from sysbench_py.builtin import BUILTIN_TESTS
from sysbench_py.drivers import DRIVERS
from sysbench_py.option_rows import DB_OPTIONS, GENERAL_OPTIONS, LATENCY_OPTIONS, LOG_OPTIONS, RAND_OPTIONS
from sysbench_py.options import Option, format_option_list
from sysbench_py.resources import stock_workloads
from sysbench_py.tool_names import TOOLS


def help_text() -> str:
    """The whole help, ending with a newline."""
    sections = [
        "Usage:\n  sysbench [options]... [testname] [command]\n\n",
        "Commands implemented by most tests: prepare run cleanup help\n\n",
        "General options:\n" + format_option_list(GENERAL_OPTIONS),
        "Pseudo-Random Numbers Generator options:\n" + format_option_list(RAND_OPTIONS),
        "Log options:\n" + format_option_list(LOG_OPTIONS) + format_option_list(LATENCY_OPTIONS),
        "General database options:\n\n" + format_option_list(DB_OPTIONS) + "\n",
        driver_list(),
        *(f"{driver.name} options:\n" + format_option_list(driver.options) for driver in DRIVERS if driver.options),
        _list("Compiled-in tests", [(test.name, test.description) for test in BUILTIN_TESTS.values()]),
        "See 'sysbench <testname> help' for a list of options for each test.\n\n",
        _own_block(),
    ]
    return "".join(sections)


def options_text(name: str, rows: Iterable[Option]) -> str:
    """The options of a test, as its `help` shows them."""
    return f"{name} options:\n{format_option_list(rows)}"


def _own_block() -> str:
    """What the help of sysbench 1.0.20 does not have."""
    import textwrap  # late: the help of a test does without

    lines = textwrap.wrap(" ".join(stock_workloads()), 76)
    workloads = "Workloads that are installed:\n" + "".join(f"  {line}\n" for line in lines) + "\n"
    tools = "".join(f"  sysbench tools {name} - {description}\n" for name, description in TOOLS.items())
    return (
        f"{workloads}Tools:\n{tools}\n{_more_values()}"
        "Several commands are done in their order: sysbench oltp_read_write prepare run cleanup\n\n"
    )


def _more_values() -> str:
    """What options of sysbench 1.0.20 take besides what their lines say, which are as they were.

    Only lines of options begin with a `--`, for whoever reads the help with a program.
    """
    values = [
        ("several percentiles, and decimals", "--percentile=50,95,99.9"),
        ("a rate below 1, an event every 2 seconds", "--rate=0.5"),
        ("rates from 1000 to 5000 by 1000, 10 seconds each", "--rate=1000:5000:1000@10s"),
    ]
    lines = "".join(f"  {meaning}: {value}\n" for meaning, value in values)
    return f"Values that general options take, too:\n{lines}\n"


def driver_list() -> str:
    """What there is for --db-driver."""
    return _list("Compiled-in database drivers", [(driver.name, driver.description) for driver in DRIVERS])


def _list(title: str, entries: Iterable[tuple[str, str]]) -> str:
    lines = "".join(f"  {name} - {description}\n" for name, description in entries)
    return f"{title}:\n{lines}\n"
