"""The keys and values of `metadata` in a prompt, as the other lines of the file have them."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator

from waza_engine.counting import counted
from waza_language_server.features.completion.item import Completion, CompletionPoint
from waza_language_server.features.prompt_metadata import used_metadata


def metadata_keys(point: CompletionPoint) -> Iterator[Completion]:
    """Yield the keys that other lines of a file of prompts have in their metadata."""
    used = used_metadata(point.document, point.cursor.container_path[0])
    for position, (name, values) in enumerate(used.items()):
        if name in point.cursor.existing_keys:
            continue
        value = '"$1"' if values.most_common(1)[0][0].startswith('"') else "$1"
        text = f'"{name}"' if point.follows_colon else f'"{name}": {value}{point.comma}'
        edit = point.quoted_key(name, value) if point.quote else point.raw(text.removesuffix(point.comma))
        lines = f"in {counted(values.total(), 'line')} of this file"
        yield Completion(name, "key", lines, "", f"1{position:03}", edit, "$1" in edit.text, name)


def metadata_values(point: CompletionPoint, key: str) -> Iterator[Completion]:
    """Yield the values that a key has in the metadata of other lines of a file of prompts."""
    values = used_metadata(point.document, point.cursor.container_path[0]).get(key, Counter[str]())
    for position, (written, count) in enumerate(values.most_common()):
        value: object = json.loads(written) if written else None
        if value is None or (point.quote and not isinstance(value, str)):
            continue
        word = value if isinstance(value, str) else written
        edit = point.value(word, raw=not isinstance(value, str))
        lines = f"in {counted(count, 'line')} of this file"
        yield Completion(word, "value", lines, "", f"1{position:03}", edit, filter_text=word)
