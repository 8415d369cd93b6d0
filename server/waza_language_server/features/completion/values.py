"""Values: those the schema lists, and those the project knows (graders, tasks, fixtures, models, tools)."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from waza_engine.files import printable
from waza_engine.later_patterns import compiled_later
from waza_language_server.embedded.language import CompletionWord, Language
from waza_language_server.embedded.languages import LANGUAGES, LONGEST_VALUE, load_language
from waza_language_server.features.completion.item import Completion, CompletionKind, CompletionPoint
from waza_language_server.features.hover.model_prices import known_models
from waza_language_server.features.hover.shape_text import value_text
from waza_language_server.features.surroundings import surroundings
from waza_language_server.project.claim import SKILL_NAME
from waza_language_server.project.eval_cases import homes_of
from waza_language_server.project.search_folders import roots_around
from waza_language_server.project.skills import unlikeliness
from waza_language_server.project.uris import path_of
from waza_language_server.project.vally_environments import environment_names
from waza_language_server.schema.shape import language_kind
from waza_language_server.syntax.scalar_map import ScalarMap
from waza_language_server.text.edit import Edit
from waza_language_server.text.span import Span

if TYPE_CHECKING:
    from waza_language_server.project.disk import Disk
    from waza_language_server.schema.shape import Shape

MAX_FILES = 500
SKILL_PATH = "skill_path"
"""The key whose value is the path of a skill."""
_KEYS_OF_FOLDERS = frozenset({"context_dir", "skill_directories", "skills", "evals", "fixtures"})
"""Keys whose values are folders, so that files are not offered."""
_TOOL_WORD = compiled_later(r"[\w-]+")
"""A tool whose name is a pattern for itself."""


def value_items(point: CompletionPoint, shape: Shape, key: str) -> Iterator[Completion]:
    """Yield the values that a scalar of this shape may have under a key."""
    if shape.kind in LANGUAGES:
        kind = language_kind(shape.kind, point.around("language"))
        if kind is not None:
            yield from embedded_items(point, load_language(kind), shape.kind)
    provide = _tool_patterns if shape.kind == "regex" and key == "tool" else _PROVIDERS.get(shape.kind or "")
    if shape.kind == "grader.name" and key == "graders":
        yield from _suite_grader_names(point)
    elif provide is not None:
        # A name that is not UTF-8 cannot be written in a suite.
        yield from (item for item in provide(point) if printable(item.label) == item.label)
    yield from _listed(point, shape)


def _listed(point: CompletionPoint, shape: Shape) -> Iterator[Completion]:
    """Yield the values in the schema: the allowed ones, or else the examples or the default."""
    values = [value for value in shape.enum if value not in {None, ""}]
    detail = "default"
    if not values and "boolean" in shape.types and "string" not in shape.types:
        values = [True, False]
    if not values and shape.kind in {"model", "executor", "task.glob", "rubric", "metric"}:
        values, detail = [value for value in shape.examples if isinstance(value, str)], "example"
    if (
        not values
        and shape.has_default
        and isinstance(shape.default, int | float | str)
        and shape.default != ""
    ):
        values = [shape.default]
    for position, value in enumerate(values):
        default = detail if value == shape.default or (detail == "example" and not shape.enum) else ""
        yield Completion(
            label=value if isinstance(value, str) else value_text(value),
            kind="constant",
            detail=default,
            documentation=shape.description,
            sort_text=f"5{position:03}",
            edit=point.value(value) if isinstance(value, str) else point.value(value_text(value), raw=True),
        )


def _grader_names(point: CompletionPoint) -> Iterator[Completion]:
    own = point.around("name")
    graders = point.nearby.graders().value
    for grader in dict.fromkeys(graders):
        if grader.name and grader.name != own:
            yield _known(point, grader.name, "reference", f"{grader.type} grader".strip())


def _suite_grader_names(point: CompletionPoint) -> Iterator[Completion]:
    for name in point.nearby.suite_grader_names().value:
        yield _known(point, name, "reference", "grader of the suite")


def _fixtures(point: CompletionPoint) -> Iterator[Completion]:
    for name in point.nearby.fixtures().value[:MAX_FILES]:
        yield _known(point, name, "file", "fixture")


def _suite_files(point: CompletionPoint) -> Iterator[Completion]:
    """Yield files and folders on the path that is being typed, next to the document or in an open folder.

    For a key whose value is a folder there are no files.
    """
    path = path_of(point.document.uri)
    if path is None:
        return
    typed = point.cursor.prefix.strip("\"'")
    head = typed.rpartition("/")[0]
    key = point.cursor.key or ""
    if key == SKILL_PATH:
        yield from _skill_paths(point, path)
    # A run takes the folder of a task from where it is started: that may be the folder of the suite, too.
    suites = point.nearby.suite_folders() if key in {"context_dir", "fixture"} else ()
    bases = (path.parent, *suites, *roots_around(point.workspace.project, path))
    if point.document.kind == "evals_json":
        bases = homes_of(point.workspace.project, path)
    if key == "fixture" and suites:
        bases = tuple(suites)
    for base in dict.fromkeys(bases):
        for name, is_folder in point.nearby.entries(base / head).value[:MAX_FILES]:
            if name.startswith(".") and not typed.rpartition("/")[2].startswith("."):
                continue
            shown = f"{head}/{name}" if head else name
            if is_folder:
                yield _known(point, f"{shown}/", "folder", "")
            elif key not in _KEYS_OF_FOLDERS:
                yield _known(point, shown, "file", "")


def _vally_environments(point: CompletionPoint) -> Iterator[Completion]:
    path = path_of(point.document.uri)
    known = environment_names(point.workspace.project, path) if path is not None else None
    for name in known or ():
        yield _known(point, name, "reference", "environment of .vally.yaml")


def _models(point: CompletionPoint) -> Iterator[Completion]:
    for model in known_models(point.nearby, point.models_listed or ()):
        rank = {} if model.is_near else {"rank": "2"}
        yield _known(point, model.name, "model", model.words, **rank)


def _commands(point: CompletionPoint) -> Iterator[Completion]:
    typed = point.cursor.prefix.strip("\"'")
    if "/" not in typed:
        programs = programs_on_path(point.workspace.project.disk, typed)
        for position, name in enumerate(programs):
            yield replace(_known(point, name, "value", "on PATH"), sort_text=f"2{position:03}")
    yield from _suite_files(point)


def _tools(point: CompletionPoint) -> Iterator[Completion]:
    seen = point.nearby.tools_seen()
    for name in seen:
        yield _known(point, name, "value", "called in the last run", rank="1")
    for name in point.nearby.tools():
        if name not in seen:
            yield _known(point, name, "value", "used in this project", rank="2")


def _tool_patterns(point: CompletionPoint) -> Iterator[Completion]:
    """Yield the tools as patterns, for the key ``tool`` of a block that takes patterns."""
    for tool in _tools(point):
        if _TOOL_WORD.fullmatch(tool.label):
            yield _known(point, f"^{tool.label}$", "value", tool.detail, rank=tool.sort_text[:1])


def _tags(point: CompletionPoint) -> Iterator[Completion]:
    written = _other_items(point)
    for position, tag in enumerate(point.nearby.tags()):
        if tag not in written:
            yield replace(_known(point, tag, "value", "tag of this suite"), sort_text=f"1{position:03}")


def _other_items(point: CompletionPoint) -> set[str]:
    """Return the other items of the list that the cursor is in."""
    root, node = point.document.tree.root, point.cursor.node
    listed = root.get(*point.cursor.container_path) if root is not None else None
    items = listed.target.each_item() if listed is not None and listed.target.kind == "sequence" else ()
    return {
        item.value for item in items if item.kind == "scalar" and (node is None or item.span != node.span)
    }


def _skills(point: CompletionPoint) -> Iterator[Completion]:
    path = path_of(point.document.uri)
    names = list(dict.fromkeys((*point.nearby.skills(), *point.skills.values())))
    if path is not None:
        roots = point.workspace.project.roots
        names.sort(key=lambda name: unlikeliness(path.parent, name, roots))
    for position, name in enumerate(names):
        yield replace(_known(point, name, "reference", "skill"), sort_text=f"1{position:05}")


def _skill_paths(point: CompletionPoint, path: Path) -> Iterator[Completion]:
    """Yield the folders of the skills relative to the open folder, where a run is most likely started."""
    roots = roots_around(point.workspace.project, path)
    files = (file for file in point.skills if file.name == SKILL_NAME)
    likely = sorted(files, key=lambda file: unlikeliness(path.parent, point.skills[file], roots, file))
    for position, file in enumerate(likely):
        root = next((root for root in roots if file.is_relative_to(root)), None)
        if root is not None:
            written = (file.parent if file.parent != root else file).relative_to(root).as_posix()
            item = _known(point, written, "folder", f"skill {point.skills[file]}")
            yield replace(item, sort_text=f"0{position:05}")


def _known(
    point: CompletionPoint, value: str, kind: CompletionKind, detail: str, rank: str = "1"
) -> Completion:
    return Completion(value, kind, detail, "", f"{rank}{value}", point.value(value), filter_text=value)


Provider = Callable[[CompletionPoint], Iterable[Completion]]
_PROVIDERS: dict[str, Provider] = {
    "grader.name": _grader_names,
    "command": _commands,
    "path.fixture": _fixtures,
    "path.suite": _suite_files,
    "vally.path": _suite_files,
    "vally.environment": _vally_environments,
    "rubric": _suite_files,
    "model": _models,
    "tool.name": _tools,
    "tag": _tags,
    "skill.name": _skills,
}
PROVIDED_KINDS = frozenset(_PROVIDERS)
"""Kinds of values that are collected from the files around the document."""


def embedded_items(point: CompletionPoint, language: Language, kind: str | None) -> Iterator[Completion]:
    """Yield what can be written at the cursor in the language of a value of a kind."""
    scalar = _scalar(point)
    if scalar is not None and len(scalar.node.span) > LONGEST_VALUE:
        return
    value, offset = _unread(point) if scalar is None else _read(scalar, point.offset)
    around = surroundings(point.document, point.workspace, kind, point.cursor.node)
    for position, word in enumerate(language.complete(value, offset, around)):
        if word.kind == "file":
            # A name that is not UTF-8 cannot be written in a suite.
            if printable(word.text) == word.text:
                yield _path(point, word, position)
        else:
            yield _item(point, scalar, word, position)


def _scalar(point: CompletionPoint) -> ScalarMap | None:
    """Return the scalar at the cursor, None if there is none yet or it cannot be parsed."""
    node = point.cursor.node
    if node is None or node.kind != "scalar":
        return None
    below = node.style in {"literal", "folded"} and node.span.end < point.offset
    return ScalarMap.of(point.text, node) if below or node.span.contains(point.offset) else None


def _read(scalar: ScalarMap, offset: int) -> tuple[str, int]:
    """Return a value and the cursor's offset in it; it may be on a blank line below a block scalar."""
    if offset <= scalar.node.span.end:
        return scalar.value, scalar.to_value(offset)
    value = scalar.value.rstrip("\n") + "\n"
    return value, len(value)


def _unread(point: CompletionPoint) -> tuple[str, int]:
    """Return the text before the cursor for a value that cannot be parsed, such as an open quote."""
    written = point.text[point.cursor.replace.start : point.offset]
    before = written.replace('\\"', '"') if point.quote == '"' else written.replace("''", "'")
    return before, len(before)


def _path(point: CompletionPoint, word: CompletionWord, position: int) -> Completion:
    edit = point.value(word.text)
    rank = f"1{position:03}{word.text}"
    return Completion(word.text, "file", word.detail, "", rank, edit, filter_text=word.text)


def _item(
    point: CompletionPoint, scalar: ScalarMap | None, word: CompletionWord, position: int
) -> Completion:
    """Return the completion that replaces the typed prefix, without parentheses if these follow."""
    span, called = _replaced(point, scalar, word)
    is_begun = scalar is not None and (bool(scalar.value) or scalar.node.style in {"literal", "folded"})
    text = word.text.partition("(")[0] if called else word.text
    if point.quote == "'" or (scalar is not None and scalar.node.style == "single"):
        text = text.replace("'", "''")
    elif not (is_begun or point.quote or point.cursor.prefix):
        # An empty value: an expression is safest in double quotes.
        text = f'{point.lead(span)}"{text}"{point.comma}'
    label = word.text.removesuffix("()")
    rank = "2" if word.kind == "function" else "1"
    return Completion(
        label,
        word.kind,
        word.detail,
        word.documentation,
        f"{rank}{position:02}",
        Edit(span, text),
        filter_text=label,
    )


def _replaced(point: CompletionPoint, scalar: ScalarMap | None, word: CompletionWord) -> tuple[Span, bool]:
    """Return the span of the unfinished name on the cursor's line, and whether parentheses follow it."""
    text, start, end = point.text, point.offset - word.typed, point.offset
    called = False
    if scalar is None:
        end = _end_of_name(text, end)
        called = text.startswith("(", end)
    elif scalar.to_source(at := scalar.to_value(point.offset)) <= point.offset:
        name_end = _end_of_name(scalar.value, at)
        start = scalar.to_source(at - word.typed) if word.typed else point.offset
        end = max(end, scalar.source_span(at, name_end).end)
        called = scalar.value.startswith("(", name_end)
    if "\n" in text[start:end] or "\r" in text[start:end]:
        return Span(point.offset - word.typed, point.offset), False
    return Span(start, end), called


def _end_of_name(text: str, offset: int) -> int:
    while offset < len(text) and (text[offset].isalnum() or text[offset] == "_"):
        offset += 1
    return offset


USUAL = ("python3", "python", "bash", "sh", "node", "uv", "npx", "pwsh")
"""The programs that graders and hooks use most, in the order in which they are offered."""
MOST = 200


def programs_on_path(disk: Disk, start: str) -> tuple[str, ...]:
    """Return the programs whose names begin with ``start``, at most 200; the usual ones when it is empty."""
    return tuple(islice(dict.fromkeys(_found(disk, start)), MOST))


def _found(disk: Disk, start: str) -> Iterator[str]:
    endings = tuple(os.environ.get("PATHEXT", ".exe").lower().split(";")) if os.name == "nt" else ()
    names: dict[str, Path] = {}
    for folder in map(Path, os.get_exec_path()):
        if not folder.is_absolute():
            continue
        for name, is_folder in disk.names(folder).value:
            found = folder / name if not is_folder and name.startswith(start) else None
            if found is not None and (not endings or found.suffix.lower() in endings):
                names.setdefault(found.stem if endings else name, found)
    wanted = sorted(names) if start else [name for name in USUAL if name in names]
    yield from (name for name in wanted if os.access(names[name], os.X_OK))
