"""A reader of the blocks that follow the usual report."""

import re


def table(stdout: str, title: str) -> list[dict[str, str]]:
    """The rows of the one block of that title, by the words of its heading; a first column without one is "name".

    Raises ValueError if there is not just one such block.
    """
    blocks = stdout.split(f"\n{title}\n")[1:]
    if len(blocks) != 1:
        raise ValueError(f"{len(blocks)} blocks {title!r} in:\n{stdout}")
    heading, *rows = (re.split(r" {2,}", line.strip()) for line in blocks[0].split("\n\n")[0].splitlines())
    if rows and len(rows[0]) == len(heading) + 1:
        heading.insert(0, "name")
    return [dict(zip(heading, row, strict=True)) for row in rows]


STATEMENTS = "SQL statements (latency in ms):"
ERRORS = "SQL errors:"
TIMES = "Times of events (ms):"
STEPS = "Steps of the rate (latency in ms):"
