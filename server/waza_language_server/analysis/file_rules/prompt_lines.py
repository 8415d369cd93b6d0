"""Lines of prompts that a run or agent-eval-harness refuses, and lines of trials that lack some."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from waza_engine.counting import counted, in_seconds
from waza_engine.later_patterns import compiled_later
from waza_engine.spec.limits import MILLISECONDS
from waza_engine.spec.reading.scalars import Json
from waza_language_server.analysis.problem import Problem
from waza_language_server.analysis.rule import FileView, Found
from waza_language_server.syntax.edits import replace_scalar
from waza_language_server.syntax.nodes import ItemMemo, Node
from waza_language_server.syntax.tree import Tree
from waza_language_server.text.edit import Edit, Fix, Related
from waza_language_server.text.span import Span

_WHITESPACE = compiled_later(r"(?<=\n)[^\S\r\n]++(?=\r?\n)")
_ids: ItemMemo[str | None] = ItemMemo()


def repeated_ids(view: FileView) -> Found:
    """Yield the ids that an earlier line has, too; a run refuses such a file."""
    if view.kind != "prompts":
        return
    first: dict[str, Node] = {}
    for name, node in ids_of(view.tree):
        taken = first.setdefault(name, node)
        if taken is not node:
            line = view.tree.text.count("\n", 0, taken.span.start) + 1
            yield taken_id(name, node, line, Related(taken.span, f"The other `{name}` is here."))


def ids_of(tree: Tree) -> Iterator[tuple[str, Node]]:
    """Yield the ids of the lines of a file, and where they are."""
    for index, name in enumerate(_ids.of(tree.root, _id_of) if tree.root is not None else ()):
        node = tree.root.get(index, "id") if tree.root is not None and name is not None else None
        if name is not None and node is not None:
            yield name, node


def taken_id(name: str, node: Node, line: int, *related: Related) -> Problem:
    """Return the problem of an id that an earlier line, counted from 1, has too."""
    message = f"The id `{name}` is taken by line {line}; each line needs its own."
    return Problem("duplicate-task-id", node.span, message, related=related)


def is_repeated_id(problem: Problem) -> bool:
    """Return whether a problem of a prompt is that of its id."""
    return problem.code == "duplicate-task-id"


def _id_of(line: Node) -> str | None:
    green = line.written("id")
    return green.value if green is not None and green.style == "double" else None


def short_timeouts(view: FileView) -> Found:
    """Yield time limits below a second, which were intended in seconds, and those without effect."""
    if view.kind != "prompts" or view.tree.root is None:
        return
    for line in view.tree.root.each_item():
        node = line.get("timeout")
        timeout = node.to_python() if node is not None else None
        if node is None or not is_short(timeout) or not isinstance(timeout, int | float):
            continue
        if timeout <= 0:
            message = "`timeout` has no effect: it is not greater than 0."
            yield Problem("unlikely-value", node.span, message, "warning")
            continue
        wanted = f"{timeout * MILLISECONDS:g}"
        message = f"`timeout` is in milliseconds; write `{wanted}` for {in_seconds(timeout)}."
        fix = Fix(f"Change to `{wanted}`", partial(replace_scalar, view.tree, node, wanted))
        yield Problem("unlikely-value", node.span, message, "warning", (fix,))


def is_short(timeout: object) -> bool:
    """Return whether a time limit is below a second; False for what is no number."""
    return isinstance(timeout, int | float) and not isinstance(timeout, bool) and timeout < MILLISECONDS


def missing_trials(view: FileView) -> Found:
    """Yield each `k` that is greater than the number of trials next to it."""
    if view.kind != "trials" or view.tree.root is None:
        return
    for line in view.tree.root.each_item():
        k, trials = line.get("k"), line.get("trials")
        is_list = k is not None and trials is not None and trials.kind == "sequence"
        if k is not None and trials is not None and is_list and _is_more(k.to_python(), len(trials.items)):
            there = counted(len(trials.items), "trial")
            message = f"`k` is {k.value}, but the line has {there}; the others are missing in `trials`."
            yield Problem("unlikely-value", k.span, message, "warning")


def lacks_trials(row: Json) -> bool:
    """Return whether a row has fewer trials than its `k` says."""
    trials = row.get("trials") if isinstance(row, dict) else None
    return isinstance(row, dict) and isinstance(trials, list) and _is_more(row.get("k"), len(trials))


def _is_more(k: object, trials: int) -> bool:
    return isinstance(k, int | float) and not isinstance(k, bool) and k > trials


def whitespace_lines(view: FileView) -> Found:
    """Yield lines of whitespace between others: agent-eval-harness skips lines only if they are empty."""
    root = view.tree.root
    if view.kind != "prompts" or root is None:
        return
    found = _WHITESPACE.finditer(view.tree.text, root.span.start, root.span.end)
    for match in found:
        span = Span(*match.span())
        fix = Fix("Delete the whitespace", (Edit(span, ""),), preferred=True)
        message = "This line has only whitespace, which agent-eval-harness refuses; leave it empty."
        yield Problem("whitespace-line", span, message, "warning", (fix,))
