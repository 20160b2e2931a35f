"""The text of `--help`."""

from __future__ import annotations

from collections.abc import Iterable

from sysbench_py.builtin import BUILTIN_TESTS
from sysbench_py.drivers import DRIVERS
from sysbench_py.option_rows import DB_OPTIONS, GENERAL_OPTIONS, LATENCY_OPTIONS, LOG_OPTIONS, RAND_OPTIONS
from sysbench_py.options import format_option_list


def help_text() -> str:
    """The whole help, ending with a newline."""
    sections = [
        "Usage:\n  sysbench [options]... [testname] [command]\n\n",
        "Commands implemented by most tests: prepare run cleanup help\n\n",
        "General options:\n" + format_option_list(GENERAL_OPTIONS),
        "Pseudo-Random Numbers Generator options:\n" + format_option_list(RAND_OPTIONS),
        "Log options:\n" + format_option_list(LOG_OPTIONS) + format_option_list(LATENCY_OPTIONS),
        "General database options:\n\n" + format_option_list(DB_OPTIONS) + "\n",
        _list("Compiled-in database drivers", [(driver.name, driver.description) for driver in DRIVERS]),
        *(f"{driver.name} options:\n" + format_option_list(driver.options) for driver in DRIVERS if driver.options),
        _list("Compiled-in tests", [(test.name, test.description) for test in BUILTIN_TESTS.values()]),
        "See 'sysbench <testname> help' for a list of options for each test.\n\n",
    ]
    return "".join(sections)


def _list(title: str, entries: Iterable[tuple[str, str]]) -> str:
    lines = "".join(f"  {name} - {description}\n" for name, description in entries)
    return f"{title}:\n{lines}\n"
