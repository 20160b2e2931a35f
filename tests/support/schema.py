"""docs/result.schema.json, made from the result types and their docstrings.

`python -m tests.support.schema` writes it anew.
"""

from __future__ import annotations

import inspect
import json
import types
from collections.abc import Mapping
from dataclasses import is_dataclass
from pathlib import Path
from typing import Any, Union, get_args, get_origin

from sysbench_py.stats.model import LatencyHistogram
from sysbench_py.stats.result import SCHEMA_VERSION, RunResult
from sysbench_py.stats.serialise import members, required

PAGE = Path(__file__).parents[2] / "docs" / "result.schema.json"
_PLAIN = {bool: "boolean", int: "integer", float: "number", str: "string", types.NoneType: "null"}
_HISTOGRAM = {
    "description": "Latencies in ns: how many, the exact largest, and base64 of HdrHistogram's V2 compressed encoding.",
    "type": "object",
    "properties": {
        "count": {"type": "integer", "minimum": 0},
        "max_ns": {"type": "integer", "minimum": 0},
        "hdr": {"type": "string", "contentEncoding": "base64", "pattern": "^HIST"},
    },
    "required": ["count", "max_ns", "hdr"],
}


def schema() -> dict[str, Any]:
    """The whole schema, JSON Schema draft 2020-12."""
    definitions: dict[str, Any] = {}
    root = _of(RunResult, definitions)
    definitions["RunResult"]["properties"]["schema_version"] = {"const": SCHEMA_VERSION}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:sysbench-py:result:{SCHEMA_VERSION}",
        "title": "Result of a run of sysbench-py",
        **root,
        "$defs": dict(sorted(definitions.items())),
    }


def text() -> str:
    """The file."""
    return json.dumps(schema(), indent=2) + "\n"


def _of(kind: Any, definitions: dict[str, Any]) -> dict[str, Any]:
    if kind in _PLAIN:
        return {"type": _PLAIN[kind]}
    if kind is LatencyHistogram:
        definitions["LatencyHistogram"] = _HISTOGRAM
        return {"$ref": "#/$defs/LatencyHistogram"}
    if isinstance(kind, type) and is_dataclass(kind):
        if kind.__name__ not in definitions:
            # A type may hold others of its own kind.
            definitions[kind.__name__] = {}
            definitions[kind.__name__] = _object(kind, definitions)
        return {"$ref": f"#/$defs/{kind.__name__}"}
    origin, arguments = get_origin(kind), get_args(kind)
    if origin is tuple:
        return {"type": "array", "items": _of(arguments[0], definitions)}
    if origin is Mapping:
        return {"type": "object", "additionalProperties": _of(arguments[1], definitions)}
    if origin in (Union, types.UnionType):
        return {"anyOf": [_of(each, definitions) for each in arguments]}
    raise TypeError(f"no schema for {kind}")


def _object(kind: Any, definitions: dict[str, Any]) -> dict[str, Any]:
    properties = {name: _of(each, definitions) for name, each in members(kind).items()}
    for name, each in properties.items():
        member = inspect.getattr_static(kind, name)
        if isinstance(member, property):
            properties[name] = {"description": inspect.getdoc(member), **each}
    return {
        "description": " ".join((inspect.getdoc(kind) or "").split()),
        "type": "object",
        "properties": properties,
        "required": [*required(kind)],
    }


if __name__ == "__main__":
    PAGE.write_text(text())
