"""Result types as plain data for JSON, and back. What is added to a type is saved without another line here.

A dataclass is an object of its fields and, for readers, of its properties; a tuple is an array, a histogram
an object with its count, its largest latency and its HdrHistogram encoding.
"""

from __future__ import annotations

import inspect
import types
from collections.abc import Iterator, Mapping
from dataclasses import MISSING, fields, is_dataclass
from functools import cache
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

from sysbench_py.stats.model import LatencyHistogram

T = TypeVar("T")


def to_data(value: Any) -> Any:
    """A value of the result model as dictionaries, lists, numbers and texts."""
    if isinstance(value, LatencyHistogram):
        return {"count": value.count, "max_ns": value.max_ns, "hdr": value.encoded()}
    if is_dataclass(value):
        return {name: to_data(getattr(value, name)) for name in members(type(value))}
    if isinstance(value, Mapping):
        return {_text(key): to_data(item) for key, item in value.items()}
    if isinstance(value, tuple):
        return [to_data(item) for item in value]
    if isinstance(value, str):
        return _text(value)
    return value


def _text(text: str) -> str:
    """Names of files and values of options need not be UTF-8."""
    return text.encode(errors="surrogateescape").decode(errors="replace")


def from_data(kind: type[T], data: Any) -> T:
    """The value that `to_data` made `data` of; what is unknown in it is left out.

    Raises ValueError, with the place in the data, for data that is none of a `kind`.
    """
    value: T = _from(kind, data, "")
    return value


def members(kind: type) -> dict[str, Any]:
    """Names and types of what is saved of a dataclass: its fields, then its properties."""
    return {**_fields(kind), **{name: _property_type(kind, name) for name in _properties(kind)}}


@cache
def _fields(kind: type) -> dict[str, Any]:
    hints = get_type_hints(kind)
    return {field.name: hints[field.name] for field in fields(kind)}


@cache
def _properties(kind: type) -> tuple[str, ...]:
    found = (name for each in reversed(kind.__mro__) for name, item in vars(each).items() if isinstance(item, property))
    return tuple(found)


def _property_type(kind: type, name: str) -> Any:
    return get_type_hints(inspect.getattr_static(kind, name).fget)["return"]


def required(kind: type) -> Iterator[str]:
    """The fields without which there is no value; the others were added later or have a usual value."""
    for field in fields(kind):
        if field.default is MISSING and field.default_factory is MISSING:
            yield field.name


def _from(kind: Any, data: Any, place: str) -> Any:
    if kind is LatencyHistogram:
        return _histogram(data, place)
    if is_dataclass(kind):
        return _dataclass(kind, data, place)
    origin, arguments = get_origin(kind), get_args(kind)
    if origin in (Union, types.UnionType):
        choices = [choice for choice in arguments if (choice is types.NoneType) == (data is None)]
        if len(choices) == 1:
            return _from(choices[0], data, place)
        for choice in choices:
            try:
                return _from(choice, data, place)
            except ValueError:
                continue
    elif origin is tuple and isinstance(data, list):
        return tuple(_from(arguments[0], each, f"{place}[{number}]") for number, each in enumerate(data))
    elif origin is Mapping and isinstance(data, dict):
        return {key: _from(arguments[1], each, f"{place}.{key}") for key, each in data.items()}
    elif kind is float and type(data) is int:
        return float(data)
    elif kind is type(data) or (kind is types.NoneType and data is None):
        return data
    raise ValueError(f"{place.lstrip('.') or 'it'} is {_shown(data)}")


def _dataclass(kind: Any, data: Any, place: str) -> Any:
    if not isinstance(data, dict):
        raise ValueError(f"{place.lstrip('.') or 'it'} is {_shown(data)}")
    for name in required(kind):
        if name not in data:
            raise ValueError(f"{place}.{name}".lstrip(".") + " is missing")
    known = _fields(kind)
    return kind(**{name: _from(known[name], item, f"{place}.{name}") for name, item in data.items() if name in known})


def _histogram(data: Any, place: str) -> LatencyHistogram:
    match data:
        case {"max_ns": int(max_ns), "hdr": str(text)}:
            try:
                return LatencyHistogram.decoded(text, max_ns)
            except ValueError as error:
                raise ValueError(f"{place.lstrip('.')} is {error}") from None
    raise ValueError(f"{place.lstrip('.')} is {_shown(data)}")


def _shown(data: Any) -> str:
    text = repr(data)
    return text if len(text) <= 40 else f"{text[:40]}..."
