"""A saved result: its schema, its way into a file and back, and that its parts agree."""

from __future__ import annotations

import json
import re
import types
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any, Union, get_args, get_origin, get_type_hints

import pytest
from jsonschema import Draft202012Validator

from sysbench_py.sinks.json_document import read, render
from sysbench_py.sinks.outputs import FORMATS, Format
from sysbench_py.stats.model import LatencyHistogram
from sysbench_py.stats.result import RunResult
from sysbench_py.stats.serialise import from_data, to_data
from tests.support import schema

# Any text may stand where a time must.
SAMPLES: dict[Any, Any] = {bool: True, int: 7, float: 0.25, str: "2026-02-14T15:30:12+00:00"}


def sample(kind: Any) -> Any:
    """A value of a type of the model, every field filled: what is added to the model is tried too."""
    if kind in SAMPLES:
        return SAMPLES[kind]
    if kind is LatencyHistogram:
        return LatencyHistogram([(1_000_000, 3), (2_000_000, 1)], 2_000_001)
    if is_dataclass(kind):
        hints = get_type_hints(kind)
        return kind(**{field.name: sample(hints[field.name]) for field in fields(kind)})  # type: ignore[operator]
    origin, arguments = get_origin(kind), get_args(kind)
    if origin is tuple:
        return (sample(arguments[0]),) * 2
    if origin is Mapping:
        return {f"name{number}": sample(each) for number, each in enumerate(_choices(arguments[1]))}
    if origin in (Union, types.UnionType):
        return sample(arguments[0])
    raise TypeError(kind)


def _choices(kind: Any) -> tuple[Any, ...]:
    return get_args(kind) if get_origin(kind) in (Union, types.UnionType) else (kind,)


@pytest.fixture(scope="module")
def result() -> RunResult:
    made: RunResult = sample(RunResult)
    return from_data(RunResult, to_data(made) | {"schema_version": 1})


def test_published_schema_is_that_of_the_types() -> None:
    assert schema.PAGE.read_text() == schema.text(), "run: python -m tests.support.schema"


def test_schema_is_one_of_its_draft() -> None:
    Draft202012Validator.check_schema(schema.schema())


def test_every_field_is_saved_and_read_back(result: RunResult) -> None:
    text = render(result)
    Draft202012Validator(schema.schema()).validate(json.loads(text))
    assert read(text) == result


def test_schema_describes_all_that_is_saved(result: RunResult) -> None:
    """With nothing allowed that it does not name, a result still is valid."""
    strict = schema.schema()
    for definition in strict["$defs"].values():
        definition["additionalProperties"] = False
    Draft202012Validator(strict).validate(to_data(result))


def _paths(data: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield path
    items = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    for key, item in items:
        yield from _paths(item, (*path, key))


def test_any_value_of_a_wrong_type_is_told_with_its_place(result: RunResult) -> None:
    """Wherever something is replaced, reading either says where, or does not need it."""
    data = to_data(result)
    told = 0
    for path in list(_paths(data))[1:]:
        damaged = json.loads(json.dumps(data))
        holder = damaged
        for key in path[:-1]:
            holder = holder[key]
        holder[path[-1]] = {"wrong": None}
        try:
            assert read(json.dumps(damaged)) is not None
        except ValueError as error:
            assert str(path[-1]) in str(error) or path[-1] in ("hdr", "max_ns") or isinstance(path[-1], int)
            told += 1
    assert told > 100


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "no JSON: Expecting value"),
        ("[1", "no JSON: "),
        ("[]", "no result of a run: schema_version is missing"),
        ("{}", "no result of a run: schema_version is missing"),
        ('{"schema_version": 2}', "schema_version is 2, and this program knows 1"),
        ('{"schema_version": 1}', "setup is missing"),
        ('{"schema_version": 1, "setup": 5, "exit_status": "0"}', "intervals is missing"),
    ],
)
def test_what_is_no_result_is_refused(text: str, message: str) -> None:
    with pytest.raises(ValueError, match="^" + message.replace("(", r"\(")):
        read(text)


def test_texts_that_are_not_utf_8_are_valid_json(result: RunResult) -> None:
    data = to_data({"file\udcff": "\udcfe"})
    assert json.loads(json.dumps(data, ensure_ascii=False).encode()) == {"file\ufffd": "\ufffd"}


def test_fields_that_a_later_release_adds_are_left_out(result: RunResult, tmp_path: Path) -> None:
    data = to_data(result)
    data["total"]["added"] = data["added"] = {"later": 1}
    assert read(json.dumps(data)) == result


def test_every_format_is_described() -> None:
    page = (schema.PAGE.parent / "outputs.md").read_text()
    assert re.findall(r"^\| \[`(\w+)`\]\(#", page, re.MULTILINE) == list(FORMATS)
    assert [name for name in FORMATS if f"\n## {name}\n" not in page] == []


@pytest.mark.parametrize("form", FORMATS.values(), ids=list(FORMATS))
def test_every_format_has_a_text_for_every_result(result: RunResult, form: Format) -> None:
    module = form.load()
    if form.grows:
        assert (module.head(result.setup) + module.row(result.setup, result.intervals[0])).endswith("\n")
    else:
        assert module.render(result).endswith("\n")
