"""Carry the comments of a YAML file over: above the same task, the same grader, or the whole file."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from waza_engine.scaffold.composing import load_yaml, to_yaml
from waza_engine.spec.reading.yaml_reader import YamlFile

Path = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class Comments:
    """The comments of a source file: of its head, of each task, and of graders by task and index."""

    head: Sequence[str] = ()
    tasks: Mapping[int, Sequence[str]] = field(default_factory=dict[int, Sequence[str]])
    graders: Mapping[tuple[int, str], Sequence[str]] = field(
        default_factory=dict[tuple[int, str], Sequence[str]]
    )

    @property
    def count(self) -> int:
        """Return how many lines there are."""
        return sum(map(len, (self.head, *self.tasks.values(), *self.graders.values())))

    def of_only_task(self, task: int) -> Comments:
        """Return the comments of one task as those of a file with this task alone."""
        graders = {(0, name): lines for (owner, name), lines in self.graders.items() if owner == task}
        return Comments((), {0: self.tasks.get(task, ())}, graders)

    def of_task(self, task: int, graders: Sequence[str]) -> dict[Path, Sequence[str]]:
        """Return the comments of a task by the places of its file, whose graders have these names."""
        found: dict[Path, Sequence[str]] = {(): self.tasks.get(task, ())}
        for (owner, name), lines in self.graders.items():
            if owner != task:
                continue
            if name in graders:
                found["graders", graders.index(name)] = lines
            else:
                found[()] = [*found[()], *lines]
        return found


def comments_of(file: YamlFile, text: str, tasks: Path, *, single: bool = False) -> Comments:
    """Return the comments of a file whose tasks are a list at a path; ``single``: the file is one task."""
    owners: list[tuple[int, tuple[int, str] | None]] = []
    for place, task in _tasks(file.value, tasks, single=single):
        index = 0 if single else cast("int", place[-1])
        owners.append((0 if single else file.line_of(place) - 1, (index, "")))
        graders = task.get("graders")
        for number, grader in enumerate(cast("list[Any]", graders) if isinstance(graders, list) else ()):
            if isinstance(grader, Mapping):
                entry = cast("Mapping[str, object]", grader)
                name = str(entry.get("name") or entry.get("type"))
                owners.append((file.line_of((*place, "graders", number)) - 1, (index, name)))
    owners.sort(key=lambda owner: owner[0])
    starts = [line for line, _ in owners]
    lines = text.splitlines()
    head: list[str] = []
    of_tasks: dict[int, list[str]] = {}
    of_graders: dict[tuple[int, str], list[str]] = {}
    for line, comment in _placed(_comments(load_yaml(text)), lines):
        at = line
        if lines[line].lstrip().startswith("#"):
            # A comment on a line of its own is about what follows.
            after = (n for n in range(line, len(lines)) if not _is_empty(lines[n]))
            following = next(after, line)
            at = following if following in starts else line
        position = bisect_right(starts, at) - 1
        owner = owners[position][1] if position >= 0 else None
        if owner is None:
            head.append(comment)
        elif owner[1]:
            of_graders.setdefault(owner, []).append(comment)
        else:
            of_tasks.setdefault(owner[0], []).append(comment)
    return Comments(head, of_tasks, of_graders)


def yaml_with(data: object, comments: Mapping[Path, Sequence[str]] | None = None) -> str:
    """Return data as YAML with comments above the file (at ``()``) and above items of its lists."""
    text = to_yaml(data)
    placed = {place: lines for place, lines in (comments or {}).items() if lines}
    if not placed:
        return text
    root = load_yaml(text)
    for place, lines in placed.items():
        comment = "\n".join(line.removeprefix("#").removeprefix(" ") for line in lines)
        if not place:
            root.yaml_set_start_comment(comment)
            continue
        holder = root
        for part in place[:-1]:
            holder = holder[part]
        depth = sum(isinstance(part, str) for part in place) + sum(isinstance(p, int) for p in place)
        holder.yaml_set_comment_before_after_key(place[-1], before=comment, indent=2 * (depth - 1))
    return to_yaml(root)


def _tasks(value: object, tasks: Path, *, single: bool) -> Iterator[tuple[Path, Mapping[str, Any]]]:
    if single:
        if isinstance(value, Mapping):
            yield (), cast("Mapping[str, Any]", value)
        return
    found: Any = value
    for part in tasks:
        found = cast("Mapping[str | int, Any]", found).get(part) if isinstance(found, Mapping) else None
    for index, task in enumerate(cast("list[Any]", found) if isinstance(found, list) else ()):
        if isinstance(task, Mapping):
            yield (*tasks, index), cast("Mapping[str, Any]", task)


def _is_empty(line: str) -> bool:
    return not line.strip() or line.lstrip().startswith("#")


def _placed(comments: Sequence[str], lines: Sequence[str]) -> Iterator[tuple[int, str]]:
    """Yield comments with their lines, from 0: the library counts the empty lines before them differently."""
    line = 0
    for comment in comments:
        found = next((n for n in range(line, len(lines)) if lines[n].rstrip().endswith(comment)), None)
        if found is not None:
            yield found, comment
            line = found + 1


def _comments(node: Any) -> list[str]:
    """Return the comments below a node, in their order."""
    found: dict[tuple[int, int], str] = {}
    stack: list[Any] = [node]
    while stack:
        part = stack.pop()
        attributes = getattr(part, "ca", None)
        kept = [attributes.comment, *attributes.items.values(), attributes.end] if attributes else []
        for token in _tokens(kept):
            for offset, piece in enumerate(token.value.split("\n")):
                if piece.strip().startswith("#"):
                    found[token.start_mark.line, offset] = piece.strip()
        if isinstance(part, dict):
            stack += cast("dict[Any, Any]", part).values()
        elif isinstance(part, list):
            stack += cast("list[Any]", part)
    return [found[place] for place in sorted(found)]


def _tokens(entries: Any) -> Iterator[Any]:
    if isinstance(entries, list | tuple):
        for entry in cast("list[Any]", entries):
            yield from _tokens(entry)
    elif entries is not None and hasattr(entries, "start_mark"):
        yield entries
