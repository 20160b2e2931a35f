"""A whole result as one JSON document; docs/result.schema.json describes it."""

from __future__ import annotations

import json
from pathlib import Path

from sysbench_py.errors import UsageError
from sysbench_py.stats.result import SCHEMA_VERSION, RunResult
from sysbench_py.stats.serialise import from_data, to_data

_HEAD_BYTES = 4096


def render(result: RunResult) -> str:
    """The text of the document."""
    return json.dumps(to_data(result), indent=1, allow_nan=False) + "\n"


def read(text: str | bytes, *, intervals: bool = True) -> RunResult:
    """The result that `render` made a text of. Raises ValueError, with what is wrong, for any other text.

    Without `intervals` it has none, and is read much faster.
    """
    try:
        data = json.loads(text)
    except ValueError as error:
        raise ValueError(f"no JSON: {error}") from None
    version = data.get("schema_version") if isinstance(data, dict) else None
    if type(version) is not int:
        raise ValueError("no result of a run: schema_version is missing")
    if version != SCHEMA_VERSION:
        raise ValueError(f"schema_version is {version}, and this program knows {SCHEMA_VERSION}")
    return from_data(RunResult, data if intervals else {**data, "intervals": []})


def read_file(file: Path, *, intervals: bool = True) -> RunResult:
    """The result in a file. Raises UsageError if it cannot be read or is none."""
    try:
        with file.open("rb") as stream:
            text = stream.read(_HEAD_BYTES)
            # What does not begin as a document does may never end: /dev/zero.
            if text.lstrip().startswith(b"{"):
                text += stream.read()
        return read(text, intervals=intervals)
    except OSError as error:
        raise UsageError.fatal(f"Cannot read '{file}': {error.strerror}") from None
    except ValueError as error:
        raise UsageError.fatal(f"'{file}' is no result that --output=json has written: {error}") from None
