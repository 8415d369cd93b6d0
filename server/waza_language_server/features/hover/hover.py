"""Hover: the meaning, default, allowed values and an example of a key, a grader type or a name.

A grader's name shows its last score, a glob the files that it matches, an alias its value. Links lead to the
generated documentation.

Architecture invariant: only the item under the cursor is read, and results only to show a score.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from waza_engine.checkpoint import within
from waza_engine.files import printable
from waza_engine.frozen import frozen
from waza_engine.markdown import code, fenced
from waza_engine.vocabulary import EXPECTED_LISTS
from waza_language_server.embedded.languages import LANGUAGES
from waza_language_server.features.hover.anchors import anchored_value, merged_keys
from waza_language_server.features.hover.model_prices import STILL_ASKING, ModelPrices, model_story
from waza_language_server.features.hover.shape_text import describe_type, notes, signature, value_text
from waza_language_server.features.prompt_metadata import METADATA, metadata_story
from waza_language_server.features.scores.score_text import score_story, strength_story
from waza_language_server.features.scores.verdict_hints import metric_verdicts
from waza_language_server.features.surroundings import TASK_GLOB, EmbeddedValue, surroundings
from waza_language_server.project.document_scores import read_scores
from waza_language_server.project.eval_cases import homes_of
from waza_language_server.project.graded_rule import rule_under
from waza_language_server.project.nearby import Nearby
from waza_language_server.project.outline import pattern_nodes
from waza_language_server.project.skills import written_description
from waza_language_server.project.suite_file import GraderEntry, SuiteFile
from waza_language_server.project.uris import path_of
from waza_language_server.schema.locate import grader_type, shape_at
from waza_language_server.syntax.scalar_writing import write_block
from waza_language_server.text.span import Span

if TYPE_CHECKING:
    from collections.abc import Iterable

    from waza_language_server.project.document import Document
    from waza_language_server.project.index import Project
    from waza_language_server.project.workspace import Workspace
    from waza_language_server.schema.catalog import Catalog
    from waza_language_server.schema.shape import Shape
    from waza_language_server.syntax.nodes import Entry, Node

STILL_READING = "The scores of the last runs are still being read."


@frozen()
class Hover:
    """An explanation in Markdown of the characters of ``span``."""

    span: Span
    text: str


@frozen()
class _Pointed:
    """The node under the cursor; ``entry`` is the pair whose key or value it is."""

    node: Node
    entry: Entry | None
    on_key: bool


def hover(
    document: Document,
    workspace: Workspace,
    offset: int,
    *,
    documentation: str,
    now: datetime | None = None,
    patience: float = math.inf,
    prices: ModelPrices | None = None,
) -> Hover | None:
    """Return the explanation of the text at an offset, None if there is none.

    ``documentation`` is the folder or address of the generated pages, ending in a slash. ``now`` is the
    current time, for the age of a score. ``patience`` is how many seconds scores are read.
    """
    explained = _explained(document, workspace, offset, documentation, now, patience, prices)
    if document.kind in ("captures", "trials"):
        from waza_language_server.features.rows.row_verdicts import record_summary

        summary = record_summary(document, offset)
        if summary is not None:
            if explained is None:
                return Hover(*summary)
            return replace(explained, text=f"{explained.text}\n\n{summary[1]}")
    anchored = anchored_value(document, offset)
    if anchored is None:
        return explained
    span, text = anchored
    return Hover(span, text if explained is None else f"{text}\n\n{explained.text}")


def _explained(
    document: Document,
    workspace: Workspace,
    offset: int,
    documentation: str,
    now: datetime | None,
    patience: float,
    prices: ModelPrices | None,
) -> Hover | None:
    catalog = workspace.catalog.of(document.kind)
    pointed = _pointed(document, offset)
    if pointed is None:
        return None
    page = f"{documentation}graders.md"
    entry = pointed.entry
    if entry is not None and pointed.on_key:
        found = _of_key(document, entry, catalog, page)
        strength = _strength_of_list(document, workspace.project, entry)
        return Hover(found.span, f"{found.text}\n\n{strength}") if found is not None and strength else found
    metric = entry if entry is not None and pointed.node.path[:1] == ("metrics",) else None
    if metric is not None and metric.key.value in {"name", "threshold"}:
        found = _of_key(document, metric, catalog, page)
        value = _of_metric(document, workspace.project, metric, now, patience)
        text = "\n\n".join(filter(None, (value, found.text if found is not None else "")))
        return Hover(pointed.node.span, text) if text else None
    shape = shape_at(document.kind, pointed.node.path, document.tree.root, catalog)
    if shape is None:
        return None
    kind = shape.kind
    if kind == "grader.type":
        return _of_type(pointed.node, catalog, page)
    if kind not in LANGUAGES and document.kind == "eval" and _is_task_glob(document, pointed.node):
        kind = TASK_GLOB
    if kind == "model":
        return _of_model(pointed.node, prices)
    if kind in NAMING_KINDS:
        text = named_thing(document, workspace, pointed.node, kind)
        return Hover(pointed.node.span, text) if text is not None else None
    if kind in LANGUAGES:
        around = replace(surroundings(document, workspace, kind, pointed.node), any_case=shape.ignores_case)
        value = EmbeddedValue.of(document.text, pointed.node, kind)
        found = value.explained(offset, around) if value is not None else None
        return Hover(*found) if found is not None else None
    if kind == "grader.name" and entry is not None and entry.key.value == "name":
        return _of_grader(document, workspace.project, entry, now, patience)
    if entry is not None and (shape.enum or ("boolean" in shape.types and "string" not in shape.types)):
        found = _of_key(document, entry, catalog, page)
        return Hover(pointed.node.span, found.text) if found else None
    return None


def grader_documentation(name: str, shape: Shape, page: str) -> str:
    """Return the description of a grader type with its options and an example; ``page`` is "" without one."""
    options = shape.properties["config"].shape if "config" in shape.properties else None
    parts = [f"**{name}** · {shape.title}", *notes(shape), shape.description]
    if options is not None and options.properties:
        parts.append("\n".join(_options_table(options)))
    if shape.snippet:
        parts.append(fenced(shape.snippet, "yaml"))
    if page:
        parts.append(f"[All about {name}]({page}#{name})")
    return "\n\n".join(parts)


def key_documentation(name: str, shape: Shape, why: str = "") -> str:
    """Return the description of a key: signature, meaning, default, allowed values, an example."""
    parts = [fenced(signature(name, shape), "yaml"), *notes(shape), shape.description]
    if shape.enum and shape.kind != "grader.type":
        # Types are listed by their descriptions, so do not show the entry's own type as a constraint.
        allowed = ", ".join(f"`{value_text(value)}`" for value in shape.enum if value is not None)
        parts.append(f"**Allowed:** {allowed}")
    if shape.has_default and shape.default is not None:
        parts.append(f"**Default:** `{value_text(shape.default)}`")
    elif why:
        parts.append(f"**Needed:** {why}.")
    example = _example(name, shape)
    if example:
        parts.append(fenced(example, "yaml"))
    return "\n\n".join(part for part in parts if part)


def _pointed(document: Document, offset: int) -> _Pointed | None:
    root = document.tree.root
    if root is None:
        return None
    node = root.at(offset)
    parent = node.parent
    if node.kind not in {"scalar", "alias"} or parent is None or not len(node.span):
        return None
    if parent.kind != "mapping":
        return _Pointed(node, None, False)
    entry = node.holder
    return _Pointed(node, entry, entry.key.green is node.green) if entry is not None else None


def _of_key(document: Document, entry: Entry, catalog: Catalog, page: str) -> Hover | None:
    holder = entry.value.parent
    if holder is None:
        return None
    if document.kind == "prompts" and holder.path[1:] == (METADATA,):
        return Hover(entry.key.span, metadata_story(document, entry.key.value))
    merged = merged_keys(document, entry)
    if merged is not None:
        return Hover(entry.key.span, merged)
    around = shape_at(document.kind, holder.path, document.tree.root, catalog)
    known = around.branch("mapping").properties.get(entry.key.value) if around is not None else None
    if around is None or known is None:
        return None
    written = entry.value.kind
    shape = known.shape.branch(written) if written in {"mapping", "sequence", "scalar"} else known.shape
    # The description may be next to the alternatives rather than in them.
    shape = shape if shape.description else known.shape
    why = next((one.why for one in around.recommended if one.key == entry.key.value), "")
    text = key_documentation(
        entry.key.value, shape, why or ("a run stops without it" if known.required else "")
    )
    if shape.kind == "grader.type":
        text += f"\n\n{grader_types_table(catalog)}"
    name = _surrounding_grader(holder)
    if name is not None and catalog.has_page(name):
        text += f"\n\n[All about {name}]({page}#{name})"
    return Hover(entry.key.span, text)


def _of_type(node: Node, catalog: Catalog, page: str) -> Hover | None:
    name = node.target.value
    shape = catalog.grader(name)
    page = page if catalog.has_page(name) else ""
    return Hover(node.span, grader_documentation(name, shape, page)) if shape else None


def _of_model(node: Node, prices: ModelPrices | None) -> Hover | None:
    if prices is None:
        return None
    name = node.target.value
    price = prices.of(name)
    if price is not None:
        return Hover(node.span, model_story(price))
    return Hover(node.span, STILL_ASKING) if prices.asks_for(name) else None


def _of_grader(
    document: Document, project: Project, entry: Entry, now: datetime | None, patience: float
) -> Hover | None:
    grader = SuiteFile(document.tree).owner_of(entry.value.span.start)
    named = grader.node.get("name") if isinstance(grader, GraderEntry) else None
    if not isinstance(grader, GraderEntry) or named is None or named.span != entry.value.span:
        return None
    read = within(lambda: read_scores(document, project), patience)
    if read is None:
        return Hover(entry.value.span, STILL_READING)
    score = read[0].of_grader(grader)
    strength = read[0].strength_of(grader)
    parts = [] if score is None else [score_story(score, now)]
    parts += [] if strength is None else [strength_story(strength)]
    return Hover(entry.value.span, "\n\n".join(parts)) if parts else None


def _of_metric(
    document: Document, project: Project, entry: Entry, now: datetime | None, patience: float
) -> str:
    """Return the value of a metric in the newest run of the suite, "" without one."""
    holder = entry.value.parent
    name = holder.get("name") if holder is not None else None
    read = within(lambda: read_scores(document, project), patience)
    if read is None:
        return STILL_READING
    found = metric_verdicts(document, read[0], now)
    return next((one.tooltip for one in found if name is not None and one.node.span == name.span), "")


def _strength_of_list(document: Document, project: Project, entry: Entry) -> str:
    """Return the mutation score of a list of ``expected``, "" for other keys and if not measured."""
    path = path_of(document.uri)
    if path is None or entry.key.value not in EXPECTED_LISTS or not project.asked_for_scores:
        return ""
    strengths = project.scores.strengths
    rule = rule_under(document, entry.key.span.start)
    if rule is None or rule.entry is not None or rule.path != (entry.key.value,):
        return ""
    suites = [suite.path for suite in project.suites_of(path)]
    found = strengths.of_expected(suites, rule.task or "", entry.key.value, rule.node.to_python())
    return strength_story(found) if found is not None else ""


def _is_task_glob(document: Document, node: Node) -> bool:
    root = document.tree.root
    return root is not None and any(each.span == node.span for each in pattern_nodes(root))


def _surrounding_grader(node: Node | None) -> str | None:
    while node is not None:
        if node.kind == "mapping" and node.parent is not None and node.parent.kind == "sequence":
            name = grader_type(node)
            if name is not None:
                return name
        node = node.parent
    return None


def _options_table(options: Shape) -> Iterator[str]:
    yield "| option | type | default | |"
    yield "|---|---|---|---|"
    for name, known in options.properties.items():
        shape = known.shape
        if shape.deprecated:
            continue
        default = f"`{value_text(shape.default)}`" if shape.has_default and shape.default is not None else "–"
        needed = " (needed)" if known.required else ""
        first = shape.description.strip().split("\n")[0]
        yield f"| `{name}`{needed} | {_cell(describe_type(shape))} | {default} | {_cell(first)} |"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _example(name: str, shape: Shape) -> str:
    if shape.snippet:
        return shape.snippet
    if not shape.examples:
        return ""
    return write_block({name: shape.examples[0]}, 0, "\n")


MAX_LINES = 15
MAX_WIDTH = 200
NAMING_KINDS = frozenset({"skill.name", "path.fixture", "path.suite", "task.id"})
"""The kinds of values that ``named_thing`` describes."""


def named_thing(document: Document, workspace: Workspace, node: Node, kind: str) -> str | None:
    """Return the description of a named skill, file or task in Markdown, None if it is unknown."""
    path, value = path_of(document.uri), node.target.value
    if path is None or not value.strip():
        return None
    nearby = Nearby(workspace.project, document)
    match kind:
        case "skill.name":
            return _skill(workspace, nearby, path, value.strip())
        case "path.fixture":
            return _head(workspace, nearby, path, (folder / value for folder in nearby.fixture_folders()))
        case "path.suite":
            is_case = document.kind == "evals_json"
            homes = homes_of(workspace.project, path) if is_case else (path.parent,)
            return _head(workspace, nearby, path, (home / value for home in homes))
        case "task.id":
            return _task(workspace, path, value.strip())
        case _:
            return None


def grader_types_table(catalog: Catalog) -> str:
    """Return all grader types, one line each, in Markdown."""
    lines: list[str] = []
    for name in catalog.grader_types:
        shape = catalog.grader(name)
        if shape is not None:
            described = shape.description.strip().splitlines() or [shape.title]
            lines.append(f"- {code(name)}: {described[0]}")
    return "\n".join(lines)


def _skill(workspace: Workspace, nearby: Nearby, path: Path, name: str) -> str | None:
    for file, called in nearby.skill_files().items():
        if called == name:
            text = workspace.project.text(file)
            described = written_description(text.value) if text.known else None
            lines = [f"**Skill {code(name)}**", described and fenced(described), _place(path, file)]
            return "\n\n".join(line for line in lines if line)
    return None


def _task(workspace: Workspace, path: Path, wanted: str) -> str | None:
    project = workspace.project
    for suite in project.suites_of(path):
        if wanted in suite.outline.inline_tasks:
            return f"**Task {code(wanted)}**\n\nwritten in {code(suite.path.name)}"
        file = next(iter(project.tasks_with_id(suite, wanted)), None)
        if file is not None:
            name = project.outline(file).name or wanted
            return f"**Task {code(name)}**\n\n{_place(path, file)}"
    return None


def _head(workspace: Workspace, nearby: Nearby, path: Path, places: Iterable[Path]) -> str | None:
    """Return the first lines of the first of these files that exists."""
    for place in places:
        file = Path(os.path.normpath(place))
        text = workspace.project.text(file)
        if nearby.entries(file.parent).unknown or not text.known:
            continue
        lines = text.value.splitlines()
        if not lines:
            return f"{_place(path, file)} · empty"
        head = "\n".join(line[:MAX_WIDTH] for line in lines[:MAX_LINES])
        size = "1 line" if len(lines) == 1 else f"{len(lines)} lines"
        return f"{_place(path, file)} · {size}\n\n{fenced(head)}"
    return None


def _place(path: Path, file: Path) -> str:
    return code(printable(os.path.relpath(file, path.parent)))
