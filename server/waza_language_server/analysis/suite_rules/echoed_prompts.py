"""Prompts that satisfy all checks of their task's graders: an answer that repeats them passes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from waza_engine.checkpoint import checkpoint
from waza_engine.spec.executors import EXECUTORS
from waza_engine.spec.pattern_syntax import is_found
from waza_language_server.analysis.problem import Problem
from waza_language_server.analysis.rule import Found, SuiteView
from waza_language_server.analysis.suite_rules.named_files import items_of
from waza_language_server.project.suite_file import SuiteFile, word
from waza_language_server.project.uris import path_of
from waza_language_server.syntax.merges import value_at

if TYPE_CHECKING:
    from waza_language_server.syntax.nodes import Node

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
    """Yield the first string of each grader, and of `expected`, that the prompt of its task satisfies.

    The mock answers with the prompt, so suites that run with it are skipped.
    """
    document, path = view.document, path_of(view.document.uri)
    root = document.tree.root
    if path is None or root is None or document.kind not in ("eval", "task"):
        return
    executors = {suite.outline.executor for suite in view.workspace.project.suites_of(path)}
    if not any(name in EXECUTORS and EXECUTORS[name].costs for name in executors if name):
        return
    file = SuiteFile(document.tree)
    if document.kind == "task":
        yield from _of_task(root, (grader.node for grader in file.own_graders()))
        return
    for task in file.tasks():
        yield from _of_task(task.node, (grader.node for grader in file.graders_of(task)))


def _of_task(task: Node, graders: Iterable[Node]) -> Found:
    prompt = word(value_at(value_at(task, "inputs"), "prompt"))
    if not prompt or len(prompt) > _LONGEST_PROMPT:
        return
    rules = [grader.get("config") for grader in graders if word(grader.get("type")) in _TYPES]
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
