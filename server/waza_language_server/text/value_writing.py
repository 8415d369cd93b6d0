"""Writing an entire value as YAML: a list or a mapping, in the style of the one that it replaces."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

from waza_language_server.text.scalar_writing import plain_or_quoted


def write_block(value: Any, column: int, ending: str) -> str:
    """Return a value in block style; its lines after the first begin at ``column``."""
    return f"{ending}{' ' * column}".join(_lines(value))


def write_flow(value: Any) -> str:
    """Return a value on one line, in brackets."""
    if isinstance(value, Mapping):
        entries = cast("Mapping[str, Any]", value).items()
        return "{" + ", ".join(f"{_text(key, flow=True)}: {write_flow(each)}" for key, each in entries) + "}"
    if isinstance(value, list):
        return f"[{', '.join(write_flow(item) for item in cast('Sequence[Any]', value))}]"
    return _scalar(value, flow=True)


def _lines(value: Any) -> Iterator[str]:
    if isinstance(value, Mapping) and value:
        for key, each in cast("Mapping[str, Any]", value).items():
            yield from _entry(f"{_text(key)}:", each, below=_is_filled(each))
    elif isinstance(value, list) and value:
        for item in cast("Sequence[Any]", value):
            yield from _entry("-", item, below=False)
    else:
        yield _scalar(value) if not isinstance(value, Mapping | list) else write_flow(value)


def _is_filled(value: Any) -> bool:
    return value not in ({}, []) and isinstance(value, Mapping | list)


def _entry(sign: str, value: Any, *, below: bool) -> Iterator[str]:
    rows = list(_lines(value))
    if below:
        yield sign
        yield from (f"  {row}" for row in rows)
    else:
        yield f"{sign} {rows[0]}"
        yield from (f"  {row}" for row in rows[1:])


def _scalar(value: Any, *, flow: bool = False) -> str:
    return _text(value, flow=flow) if isinstance(value, str) else json.dumps(value)


def _text(value: str, *, flow: bool = False) -> str:
    return plain_or_quoted(value, flow=flow)
