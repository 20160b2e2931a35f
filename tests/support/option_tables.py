"""The tables of options in docs/command_line.md, made from the rows that the parser and the help use.

`python -m tests.support.option_tables` writes them anew.
"""

import re
from collections.abc import Iterable
from pathlib import Path

from sysbench_py.builtin import BUILTIN_TESTS
from sysbench_py.drivers import DRIVERS
from sysbench_py.option_rows import DB_OPTIONS, GENERAL_OPTIONS, LATENCY_OPTIONS, LOG_OPTIONS, RAND_OPTIONS
from sysbench_py.options import Option

PAGE = Path(__file__).parents[2] / "docs" / "command_line.md"
_TABLE = re.compile(r"(<!-- options: (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)


def groups() -> dict[str, tuple[Option, ...]]:
    """The options by the names that stand in the page."""
    return {
        "general": GENERAL_OPTIONS,
        "random": RAND_OPTIONS,
        "log": (*LOG_OPTIONS, *LATENCY_OPTIONS),
        "database": DB_OPTIONS,
        **{driver.name: driver.options for driver in DRIVERS if driver.options},
        **{test.name: test.options for test in BUILTIN_TESTS.values()},
    }


def table(rows: Iterable[Option]) -> str:
    """The options as a Markdown table."""
    lines = ["| option | default | meaning |", "| --- | --- | --- |"]
    for row in rows:
        default = f"`{row.default}`" if row.default else ""
        lines.append(f"| `{_cell(row.help_entry)}` | {_cell(default)} | {_cell(row.help)} |")
    return "".join(f"{line}\n" for line in lines)


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def filled(page: str) -> str:
    """The page with its tables made anew. Raises KeyError for a group that there is not."""
    known = groups()
    return _TABLE.sub(lambda match: f"{match[1]}{table(known[match[2]])}{match[3]}", page)


def named(page: str) -> list[str]:
    """The groups that the page shows."""
    return [match[2] for match in _TABLE.finditer(page)]


if __name__ == "__main__":
    PAGE.write_text(filled(PAGE.read_text()))
