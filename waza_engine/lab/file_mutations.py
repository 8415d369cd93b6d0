"""Mutations of an agent's files: seeded changes of those that a grader reads.

The kept workspace stays untouched: each change is made in a small copy of the files that the grader reads,
below a folder that the caller deletes.
"""

from __future__ import annotations

import os
import random
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeAlias

from waza_engine.boundary import Boundary
from waza_engine.files import read_bytes, write_bytes
from waza_engine.graders.base import Grader, GradingContext
from waza_engine.graders.paths import leads_outside
from waza_engine.lab.insight import insight_of
from waza_engine.lab.mutations import MOST_OF_A_KIND, REFUSAL, Kind, Mutation, another_number, shown

MOST_BYTES = 8_000_000
"""Of all files together that a grader looks at in one trial."""
MOST_PLACES = 40
"""At which a grader may look, and each of them is changed."""
_LINE = re.compile(rb"[^\n]*\S[^\n]*(?:\n|\Z)")
_NUMBER = re.compile(rb"\d+")

Held: TypeAlias = Mapping[str, bytes | None]
"""Files and folders by their path below a workspace: a file's content, None for a folder."""


class FilesError(Exception):
    """The files of a trial cannot be copied; the message says why, in one clause."""


@dataclass(frozen=True, slots=True)
class Seen:
    """The content of the paths that a grader reads.

    ``absent`` paths did not exist; the content of ``read`` ones decides, whether they exist or not.
    """

    held: Held
    absent: tuple[str, ...]
    read: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Change:
    kind: Kind
    of: str
    held: Held


def seen_files(grader: Grader[Any], workspace: Path) -> Seen:
    """Return the content of the paths that a grader reads in a workspace.

    Raises ``FilesError``, and ``GraderError`` for a path outside of it.
    """
    insight = insight_of(grader)
    places, read = insight.looks_at(workspace), insight.looks_into(workspace)
    if places is None or read is None:
        raise FilesError("its type does not say which files it looks at")
    if len(places) > MOST_PLACES:
        raise FilesError(f"it looks at more than {MOST_PLACES} places")
    within = Boundary.around(workspace, name="the workspace")
    held: dict[str, bytes | None] = {}
    absent: list[str] = []
    left = MOST_BYTES
    for place in dict.fromkeys(places):
        name = _name(workspace, place)
        try:
            if not place.exists():
                absent.append(name)
                continue
            if leads_outside(workspace, place):
                raise FilesError(f"{name} is a link that leads out of the workspace")
            held[name] = None if place.is_dir() else read_bytes(place, left, within=within)
        except OSError as error:
            raise FilesError(f"{name} cannot be copied: {error.strerror or error}") from None
        left -= len(held[name] or b"")
    return Seen(held, tuple(absent), tuple(_name(workspace, place) for place in dict.fromkeys(read)))


def copied(context: GradingContext, held: Held, folder: Path) -> GradingContext:
    """Return a trial whose workspace holds these files and nothing else. Raises ``FilesError``."""
    try:
        folder.mkdir()
        for name, content in held.items():
            place = folder / name
            (place if content is None else place.parent).mkdir(parents=True, exist_ok=True)
            if content is not None:
                write_bytes(place, content)
    except (OSError, ValueError) as error:
        raise FilesError(f"its files cannot be copied: {error}") from None
    return replace(context, workspace=folder)


def file_mutations(
    context: GradingContext,
    seen: Seen,
    others: Sequence[Seen],
    texts: Sequence[str],
    rng: random.Random,
    folder: Path,
) -> Iterator[Mutation]:
    """Yield changes of the files of a trial; each is valid until the next is requested.

    ``others`` are the contents of the same paths in trials of other tasks, ``texts`` the strings that the
    grader names. The same ``rng`` yields the same. Raises ``FilesError``.
    """
    for number, change in enumerate(_changes(seen, others, texts, rng)):
        place = folder / str(number)
        try:
            changed = copied(context, change.held, place)
            yield Mutation(change.kind, change.of, frozenset({"files"}), changed)
        finally:
            shutil.rmtree(place, ignore_errors=True)


def _changes(
    seen: Seen, others: Sequence[Seen], texts: Sequence[str], rng: random.Random
) -> Iterator[_Change]:
    held = seen.held
    if held:
        yield _Change("no file at all", "", {})
    if len(held) > 1:
        for name in held:
            left = {each: held[each] for each in held if each != name and not each.startswith(f"{name}/")}
            yield _Change("a file missing", name, left)
    different = [other.held for other in others if other.held != held]
    if different:
        yield _Change("another task's files", "", rng.choice(different))
    read = {name: content for name in seen.read if (content := held.get(name)) is not None}
    for name, content in read.items():
        if content:
            yield _Change("a file emptied", name, {**held, name: b""})
        yield _Change("a file rewritten", name, {**held, name: REFUSAL.encode()})
    yield from _of_content(held, read, rng)
    yield from _planted(seen, texts)


def _of_content(held: Held, read: Mapping[str, bytes], rng: random.Random) -> Iterator[_Change]:
    lines = [(name, line) for name, content in read.items() for line in _LINE.finditer(content)]
    for name, line in _some(lines, rng):
        content = read[name]
        changed = content[: line.start()] + content[line.end() :]
        yield _Change("a line dropped", f"{name}: {_text(line.group())}", {**held, name: changed})
    numbers = [(name, found) for name, content in read.items() for found in _NUMBER.finditer(content)]
    for name, found in _some(numbers, rng):
        content, other = read[name], another_number(found.group().decode(), rng)
        changed = content[: found.start()] + other.encode() + content[found.end() :]
        told = f"{name}: {_text(found.group())} → {other}"
        yield _Change("a number changed", told, {**held, name: changed})


def _planted(seen: Seen, texts: Sequence[str]) -> Iterator[_Change]:
    """Yield the grader's strings at the paths that it reads: in new files, and added to existing ones."""
    held = seen.held
    for name in seen.absent:
        yield _Change("what the grader names", name, {**held, name: b"\n".join(map(_bytes, texts))})
    for text in texts:
        only = {**held, **dict.fromkeys(seen.read, _bytes(text))}
        beside = {**held, **{name: (held.get(name) or b"") + b"\n" + _bytes(text) for name in seen.read}}
        for changed in (only, beside):
            if changed != held:
                yield _Change("what the grader names", shown(text), changed)


def _some(found: list[tuple[str, re.Match[bytes]]], rng: random.Random) -> list[tuple[str, re.Match[bytes]]]:
    return rng.sample(found, min(len(found), MOST_OF_A_KIND))


def _name(workspace: Path, place: Path) -> str:
    return place.relative_to(os.path.abspath(workspace)).as_posix()  # noqa: PTH100 - links stay


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _text(content: bytes) -> str:
    return shown(content.decode("utf-8", "replace"))
