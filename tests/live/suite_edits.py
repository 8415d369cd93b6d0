"""Random edits of suites as people wrote them: values of graders changed, graders moved, texts typed."""

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from random import Random
from typing import Any, cast

from tests.live.edits import PATTERNS, WORDS, entry
from waza_engine.graders.registry import BUILT_IN_TYPES
from waza_engine.spec.problems import SuiteFileError
from waza_engine.spec.reading.yaml_reader import parse_yaml

START_PROGRAMS = ("program", "script", "inline")
"""Grading again starts these, with whatever random edits made of them."""
JUDGED = tuple(name for name in BUILT_IN_TYPES if name not in START_PROGRAMS)

Block = dict[str, Any]


class SuiteEdits:
    """Texts of a suite by their files, edited at random; graders that start programs are taken out first."""

    def __init__(self, seed: int, files: Mapping[Path, str]) -> None:
        self._random = Random(seed)
        self._texts = {path: _without_programs(path, text) for path, text in files.items()}
        self._good = dict(self._texts)

    def first(self) -> dict[Path, str]:
        """Return the texts before the first edit."""
        return dict(self._texts)

    def next(self) -> dict[Path, str]:
        """Return the file that is edited with its new text."""
        random = self._random
        path = random.choice(sorted(self._texts))
        text = self._texts[path]
        if random.random() < 0.15:
            place = random.randrange(len(text) + 1)
            text = text[:place] + random.choice("abc:{}[]'\"#- \n") + text[place + random.randrange(3) :]
        else:
            # What typing broke is as it was before.
            text = self._good[path]
            document = _document(path, text)
            if document is not None and self._edit(document):
                text = self._good[path] = _written(document)
        self._texts[path] = _without_programs(path, text)
        return {path: self._texts[path]}

    def _edit(self, document: Block) -> bool:
        """Change one thing of a document; return whether there is any."""
        random = self._random
        places = list(_grader_lists(document))
        expected = document.get("expected")
        if isinstance(expected, dict) and expected and (not places or random.random() < 0.3):
            return self._change_value(cast("Block", expected))
        graders = random.choice(places) if places else document.setdefault("graders", [])
        if not isinstance(graders, list):
            return False
        graders = cast("list[Any]", graders)
        kind = random.random()
        if not graders or kind < 0.08:
            added = json.loads(entry(random, f"g{random.randrange(9)}")[2:])
            graders.insert(random.randrange(len(graders) + 1), added)
            return True
        place = random.randrange(len(graders))
        grader = graders[place]
        if kind < 0.13:
            del graders[place]
        elif kind < 0.18:
            graders.insert(random.randrange(len(graders)), graders.pop(place))
        elif kind < 0.23 and isinstance(grader, dict):
            cast("Block", grader)["name"] = f"g{random.randrange(9)}"
        elif kind < 0.28 and isinstance(grader, dict):
            cast("Block", grader)["type"] = random.choice(JUDGED)
        elif kind < 0.33:
            name = cast("Block", grader).get("name") if isinstance(grader, dict) else None
            graders[place] = json.loads(entry(random, str(name or "g0"))[2:])
        elif isinstance(grader, dict):
            block = cast("Block", grader)
            config = block.get("config")
            return self._change_value(cast("Block", config) if isinstance(config, dict) and config else block)
        return True

    def _change_value(self, block: Block) -> bool:
        random = self._random
        holders = list(_values(block))
        if not holders:
            return False
        put, value = random.choice(holders)
        put(self._changed(value))
        return True

    def _changed(self, value: object) -> object:
        random = self._random
        match value:
            case bool():
                return not value
            case int() | float():
                return random.choice((0, 1, value + 1, value * 2, -value, "3"))
            case str():
                word = random.choice((*WORDS, *PATTERNS))
                place = random.randrange(len(value) + 1)
                dropped = value[:place] + value[place + 1 :]
                return random.choice((word, dropped, value + word, value.upper(), f"not ({value})", 7))
            case list():
                items = cast("list[Any]", value)
                return random.choice((items[:-1], items + items[:1], items[::-1], [*items, "hello"], []))
            case _:
                return random.choice((None, {}, "hello", 3))


def _values(block: Block) -> Iterator[tuple[Callable[[Any], None], Any]]:
    """Yield every value below a block with what puts another in its place."""
    waiting: list[Any] = [block]
    while waiting:
        at: Any = waiting.pop()
        keys: list[Any] = list(at) if isinstance(at, dict) else list(range(len(at)))
        for key in keys:
            if key == "update_snapshots":
                continue

            def put(value: object, at: Any = at, key: Any = key) -> None:
                at[key] = value

            yield put, at[key]
            if isinstance(at[key], dict | list):
                waiting.append(at[key])


def _grader_lists(document: Block) -> Iterator[object]:
    for owner in (document, *_blocks(document.get("tasks"))):
        if isinstance(owner.get("graders"), list):
            yield owner["graders"]


def _blocks(value: object) -> Iterator[Block]:
    for item in cast("list[object]", value) if isinstance(value, list) else ():
        if isinstance(item, dict):
            yield cast("Block", item)


def _without_programs(path: Path, text: str) -> str:
    document = _document(path, text)
    if document is None:
        return text
    found = False
    for graders in _grader_lists(document):
        items = cast("list[Any]", graders)
        left = [each for each in items if not isinstance(each, dict) or _is_harmless(cast("Block", each))]
        found = found or len(left) < len(items)
        items[:] = left
    return _written(document) if found else text


def _is_harmless(grader: Block) -> bool:
    return grader.get("type") in JUDGED


def _document(path: Path, text: str) -> Block | None:
    try:
        document: object = parse_yaml(text, path).value
    except SuiteFileError:
        return None
    return cast("Block", document) if isinstance(document, dict) else None


def _written(document: Block) -> str:
    return json.dumps(document, indent=1, default=str)
