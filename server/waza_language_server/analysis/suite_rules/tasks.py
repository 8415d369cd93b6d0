"""Problems of a task that depend on its suite: paths in a prompt without files, a duplicate id.

Values of a wrong type are skipped here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from waza_engine.checkpoint import checkpoint
from waza_engine.files import printable
from waza_engine.spec.executors import EXECUTORS
from waza_engine.spec.pattern_syntax import is_found
from waza_engine.spec.reading.scalars import MERGE_KEY
from waza_language_server.analysis.problem import Problem
from waza_language_server.analysis.rule import Found, SuiteView
from waza_language_server.analysis.suite_rules.named_files import items_of
from waza_language_server.project.suite_file import SuiteFile, is_disabled, scalar_text, task_nodes
from waza_language_server.project.suites import picks_up
from waza_language_server.project.uris import path_of, uri_of
from waza_language_server.syntax.nodes import Node, value_at
from waza_language_server.syntax.scalar_map import ScalarMap
from waza_language_server.text.edit import Related
from waza_language_server.text.span import Span

if TYPE_CHECKING:
    from pathlib import Path

    from waza_language_server.project.index import Project


_ASKS_NOTHING = "The prompt is empty, so a run refuses to pay for an answer; write what the agent is asked."
_RELATIVE = "./"
"""The string that upstream searches for in a prompt; ``../`` contains it too."""


def relative_paths(view: SuiteView) -> Iterator[Problem]:
    """Yield the relative path in the prompt of a task without files, which upstream rejects.

    The suites of the task must be known, because they may have files too.
    """
    document, project = view.document, view.workspace.project
    root, path = document.tree.root, path_of(document.uri)
    prompt = root.get("inputs", "prompt") if root is not None else None
    if document.kind != "task" or root is None or path is None or prompt is None:
        return
    prompt = prompt.target
    at = prompt.value.find(_RELATIVE) if prompt.kind == "scalar" else -1
    if at < 0 or _brings_files(root):
        return
    suites = project.suites_of(path)
    if not suites or any(_suite_brings_files(project, suite.path) for suite in suites):
        return
    start = at - 1 if prompt.value[at - 1 : at] == "." else at
    end = next((i for i in range(start, len(prompt.value)) if prompt.value[i].isspace()), len(prompt.value))
    span = ScalarMap.of(document.text, prompt).source_span(start, end)
    message = "The prompt names a relative path, but the task has no `files`; upstream refuses to run it."
    yield Problem("relative-path-in-prompt", span, message, "warning")


def duplicate_ids(view: SuiteView) -> Found:
    """Yield the id of a task that another task of the same suite has."""
    document, project = view.document, view.workspace.project
    root, path = document.tree.root, path_of(document.uri)
    node = root.get("id") if root is not None else None
    if document.kind != "task" or path is None or node is None or not _word(node):
        return
    node = node.target
    found = (other for suite in project.suites_of(path) for other in project.tasks_with_id(suite, node.value))
    for other in found:
        if other == path:
            continue
        message = f"`{printable(other.name)}` has the id `{node.value}` too; one result overwrites the other."
        related = (Related(_id_span(project, other), f"The other `{node.value}` is here.", uri_of(other)),)
        yield Problem("duplicate-task-id", node.span, message, "warning", related=related)
        return


def orphans(view: SuiteView) -> Iterator[Problem]:
    """Yield the task next to an eval file whose globs leave it out, so that no run includes it."""
    document, project = view.document, view.workspace.project
    root, path = document.tree.root, path_of(document.uri)
    if document.kind != "task" or root is None or path is None or path.parent.name != "tasks":
        return
    suites = project.suites_in(path.parent.parent)
    if is_disabled(root):
        return
    if (
        not root.entries
        or len(suites) != 1
        or any(picks_up(suite, path) for suite in project.suites_of(path))
    ):
        return
    if not project.task_paths(suites[0]).known:
        return
    message = f"`tasks` of `{printable(suites[0].path.name)}` does not include this file, so no run uses it."
    yield Problem("orphan-task", root.entries[0].key.span, message, "hint")


def _id_span(project: Project, path: Path) -> Span:
    tree = project.tree(path)
    node = tree.root.get("id") if tree.root is not None else None
    return node.span if node is not None else Span(0, 0)


def _brings_files(task: Node) -> bool:
    places = (
        ("inputs", "files"),
        ("inputs", "context", "fixture"),
        ("instruction_files",),
        ("inputs", MERGE_KEY),
    )
    return any(_filled(task.get(*place)) for place in places)


def _suite_brings_files(project: Project, path: Path) -> bool:
    tree = project.tree(path)
    return tree.root is None or _filled(tree.root.get("config", "instruction_files"))


def _filled(node: Node | None) -> bool:
    return node is not None and bool(node.target.items or node.target.entries or _word(node))


def _word(node: Node) -> str:
    return node.target.value if node.target.kind == "scalar" else ""


def blank_prompts(view: SuiteView) -> Found:
    """Yield empty prompts, if a run of the suite would pay for the answer."""
    document, project = view.document, view.workspace.project
    path, tasks = path_of(document.uri), task_nodes(document.tree, document.kind)
    blank = [prompt for task in tasks for prompt in _blank_prompts_of(task)]
    if blank and path is not None and _is_paid(project, path):
        for prompt in blank:
            yield Problem("empty-prompt", prompt.span, _ASKS_NOTHING)


def _is_paid(project: Project, path: Path) -> bool:
    """Return whether a run of a suite of this file pays for answers."""
    executors = {suite.outline.executor for suite in project.suites_of(path)}
    return any(name in EXECUTORS and EXECUTORS[name].costs for name in executors if name)


def _blank_prompts_of(task: Node) -> Iterator[Node]:
    """Yield the prompt and the follow-up prompts of a task that exist and are empty."""
    first, further = task.get("inputs", "prompt"), task.get("inputs", "follow_up_prompts")
    written = [first] if first is not None and task.get("inputs", "prompt_file") is None else []
    for node in (*written, *(further.target.each_item() if further is not None else ())):
        if node.target.kind == "scalar" and node.target.style != "plain" and not node.target.value.strip():
            yield node


_PATTERN_LISTS = ("regex_match", "must_match")
_WANTED = ("contains", "contains_cs", "must_contain", "keywords", "output_contains", *_PATTERN_LISTS)
_NOT_MATCHED = ("regex_not_match", "must_not_match")
_FORBIDDEN = (
    "not_contains",
    "not_contains_cs",
    "must_not_contain",
    "output_not_contains",
    *_NOT_MATCHED,
)
_PATTERNS = frozenset((*_PATTERN_LISTS, *_NOT_MATCHED))
_TYPES = frozenset({"text", "keyword", "regex"})
_LONGEST_PROMPT = 20_000


def echoed_prompts(view: SuiteView) -> Found:
    """Yield the first required string of each check that an answer repeating the prompt passes.

    The mock answers with the prompt, so suites that run with it are skipped.
    """
    document, path = view.document, path_of(view.document.uri)
    root = document.tree.root
    if path is None or root is None or document.kind not in ("eval", "task"):
        return
    if not _is_paid(view.workspace.project, path):
        return
    file = SuiteFile(document.tree)
    if document.kind == "task":
        yield from _of_task(root, (grader.node for grader in file.own_graders()))
        return
    for task in file.tasks():
        yield from _of_task(task.node, (grader.node for grader in file.graders_of(task)))


def _of_task(task: Node, graders: Iterable[Node]) -> Found:
    prompt = scalar_text(value_at(value_at(task, "inputs"), "prompt"))
    if not prompt or len(prompt) > _LONGEST_PROMPT:
        return
    rules = [grader.get("config") for grader in graders if scalar_text(grader.get("type")) in _TYPES]
    for block in (*rules, task.get("expected")):
        checkpoint()
        first = _echoed(block.target, prompt) if block is not None else None
        if first is not None:
            message = (
                "The prompt contains everything that this check looks for, so an answer that only repeats "
                "the prompt passes; look for something that only a correct answer contains."
            )
            yield Problem("answer-in-prompt", first.span, message, "information")


def _echoed(block: Node, prompt: str) -> Node | None:
    """Return the first required string if a prompt has all of them, and none of the forbidden ones."""
    wanted = [(key, item) for key in _WANTED for item in items_of(block.get(key))]
    forbidden = [(key, item) for key in _FORBIDDEN for item in items_of(block.get(key))]
    if not all(_has(prompt, *each) for each in wanted) or any(_has(prompt, *each) for each in forbidden):
        return None
    return next((item for _, item in wanted), None)


def _has(prompt: str, key: str, item: Node) -> bool:
    if key not in _PATTERNS:
        return item.value in prompt if key.endswith("_cs") else item.value.casefold() in prompt.casefold()
    return is_found(item.value, prompt) is True
