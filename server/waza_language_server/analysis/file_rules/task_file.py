"""The parts of a task other than its graders: turns, files, requirements, repeated items."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from functools import partial

from waza_engine.checkpoint import checkpoint
from waza_engine.files import printable
from waza_engine.frozen import frozen
from waza_engine.later_patterns import compiled_later
from waza_engine.spec.reading.scalars import MERGE_KEY
from waza_language_server.analysis.problem import Problem, Severity
from waza_language_server.analysis.rule import FileView, Found
from waza_language_server.project.suite_file import prompts_in, scalar_text, task_nodes
from waza_language_server.syntax.edits import delete_entry, delete_item, move_entry_up
from waza_language_server.syntax.nodes import Entry, Node, listed_in
from waza_language_server.syntax.placed_text import items_added
from waza_language_server.syntax.tree import Tree
from waza_language_server.text.edit import Edits, Fix, Related


def turns(view: FileView) -> Found:
    """Yield the checkpoints with a duplicate turn, or with one that the conversation never reaches."""
    for task in task_nodes(view.tree, view.kind):
        if task.get("checkpoints") is not None:
            inputs = view.catalog.document("task").properties["inputs"].shape.branch("mapping")
            yield from _turns_of(task, inputs.properties)


def _turns_of(task: Node, known: Container[str]) -> Iterator[Problem]:
    turns = list(_checkpoints(task))
    last, answered = _last_turn(task, known)
    first: dict[int, Node] = {}
    for turn, node in turns:
        earlier = first.setdefault(turn, node)
        if earlier is not node:
            message = f"Another checkpoint is for turn {turn} too; put the graders of both into one."
            related = (Related(earlier.span, "The other checkpoint is here."),)
            yield Problem("duplicate-turn", node.span, message, "error", related=related)
        elif last is not None and turn > last:
            there = "there is only one turn" if last == 1 else f"there are only {last} turns"
            if answered:
                # Upstream and this engine use the file.
                message = f"Turn {turn} never comes: with this responder there are at most {last} turns."
                yield Problem("turn-never-comes", node.span, message, "warning")
                continue
            message = (
                f"Turn {turn} never comes: {there}; add `follow_up_prompts` or a `responder` to `inputs`."
            )
            yield Problem("turn-never-comes", node.span, message)


def _checkpoints(task: Node) -> Iterator[tuple[int, Node]]:
    for item in listed_in(task.get("checkpoints")):
        node = item.get("after_turn")
        turn = node.target.to_python() if node is not None else None
        if node is not None and isinstance(turn, int) and not isinstance(turn, bool):
            yield turn, node


def _last_turn(task: Node, known: Container[str]) -> tuple[int | None, bool]:
    """Return how many turns the conversation has at most, and whether a responder decides.

    None when unknown: a key of the inputs that is not ``known`` may be intended to hold more of them.
    """
    inputs = task.get("inputs")
    if inputs is None or inputs.target.kind != "mapping":
        return None, False
    if any(key == MERGE_KEY or key not in known for key in inputs.target.key_names):
        return None, False
    if (responder := inputs.get("responder")) is not None:
        node = responder.target.get("max_followups") if responder.target.kind == "mapping" else None
        most = node.target.to_python() if node is not None else None
        return (1 + most if isinstance(most, int) and not isinstance(most, bool) and most > 0 else None), True
    follow_ups = inputs.get("follow_up_prompts")
    return 1 + (len(follow_ups.target.items) if follow_ups is not None else 0), False


_OUTSIDE = compiled_later(r"[/\\]|[A-Za-z]:|(?:.*[/\\])?\.\.(?:[/\\]|\Z)")


def input_files(view: FileView) -> Found:
    """Yield the paths of ``inputs.files`` that are absolute or lead up."""
    for task in task_nodes(view.tree, view.kind):
        for item in listed_in(task.get("inputs", "files")):
            yield from _of_file(item)


def _of_file(item: Node) -> Iterator[Problem]:
    node = item.get("path") if item.kind == "mapping" else item
    if node is None or node.target.kind != "scalar" or not _OUTSIDE.match(node.target.value):
        return
    message = (
        f"`{printable(node.target.value)}` is not in the workspace; "
        "write a relative path without `..`, or the task does not run."
    )
    yield Problem("outside-workspace", node.target.span, message, "error")


def requirements(view: FileView) -> Found:
    """Yield the `after_turn` of checks that refer to a grader of the suite or the task."""
    for task in task_nodes(view.tree, view.kind):
        for check in checks_of(task):
            checkpoint()
            entry, scope = check.entry("after_turn"), scalar_text(check.get("scope"))
            if entry is not None and scope in ("eval", "task"):
                message = f"`after_turn` is for the scope `checkpoint`; graders of `{scope}` have no turn."
                fixes = (Fix("Delete `after_turn`", partial(delete_entry, view.tree, entry)),)
                yield Problem("key-without-effect", entry.key.span, message, "warning", fixes)


def checks_of(task: Node) -> Iterator[Node]:
    """Yield the checks of a task's requirements."""
    for requirement in listed_in(task.get("requirements")):
        yield from listed_in(requirement.get("checks"))


def expected_graders(view: FileView) -> Found:
    """Yield the lists of complete graders under `expected`; bare names there are notes for readers."""
    for task in task_nodes(view.tree, view.kind):
        expected = task.get("expected")
        entry = expected.entry("graders") if expected is not None else None
        if entry is not None and any(item.target.kind == "mapping" for item in entry.value.items):
            yield _of_expected(view.tree, task, entry)


def _of_expected(tree: Tree, task: Node, entry: Entry) -> Problem:
    place = "at the top of the file" if task.parent is None else "beside `expected`"
    message = f"`graders` belongs {place}, not under `expected`, where upstream ignores it."
    own = task.entry("graders")
    if own is None:
        title = "Move to the top of the file" if task.parent is None else "Move beside `expected`"
        fix = Fix(title, partial(move_entry_up, tree, entry, task))
    else:
        where = "of the file" if task.parent is None else "beside `expected`"
        fix = Fix(f"Move to the graders {where}", partial(_joined, tree, own, entry))
    return Problem("misplaced-key", entry.key.span, message, "warning", (fix,))


def _joined(tree: Tree, own: Entry, entry: Entry) -> Edits:
    """Return the edits that move graders after those that the task already has."""
    more = items_added(tree.text, own, entry)
    gone = delete_entry(tree, entry)
    return (more, *gone) if more is not None and gone else ()


@frozen()
class _List:
    """Where a list is, the key that identifies its items ("" for strings), how a repeated one is reported."""

    path: tuple[str, ...]
    key: str
    message: str
    severity: Severity = "warning"
    code: str = "repeated-item"


_METRIC = "Another metric has the name `{}`; results cannot distinguish them."
_MOCK = "Another mock server is called `{}` too; every server needs a name of its own."
_TASK = "An earlier task has the id `{}` too; one result overwrites the other."
_REQUIREMENT = "Another requirement has the id `{}`; results cannot distinguish them."
_FILE = "The file `{}` is listed twice; one overwrites the other."
_PROMPT = "This prompt is already in the list."
_LISTS: Mapping[str, Sequence[_List]] = {
    "eval": (
        _List(("metrics",), "name", _METRIC),
        _List(("mcp_mocks",), "name", _MOCK, "error", "duplicate-mock-name"),
        _List(("tasks",), "id", _TASK, code="duplicate-task-id"),
    ),
    "evals_json": (_List(("evals",), "id", _TASK.replace("task", "case"), code="duplicate-task-id"),),
    "task": (
        _List(("tags",), "", "The tag `{}` is listed twice.", "hint"),
        _List(("requirements",), "id", _REQUIREMENT),
        _List(("inputs", "files"), "path", _FILE),
    ),
    "trigger_tests": (
        _List(("should_trigger_prompts",), "prompt", _PROMPT, "information"),
        _List(("should_not_trigger_prompts",), "prompt", _PROMPT, "information"),
    ),
}
"""The lists without repeated items, by the kind of the file or of the task in it."""


def repeated_items(view: FileView) -> Found:
    """Yield the items that repeat an earlier one of their list."""
    holders = [(task, "task") for task in task_nodes(view.tree, view.kind)]
    if view.kind != "task" and view.tree.root is not None:
        holders.insert(0, (view.tree.root, view.kind))
    for holder, kind in holders:
        for of_list in _LISTS.get(kind, ()):
            yield from _repeated(view.tree, holder, of_list)


def _repeated(tree: Tree, holder: Node, of_list: _List) -> Found:
    found = holder.get(*of_list.path)
    first: dict[str, tuple[Node, Node]] = {}
    for item in found.target.each_item() if found is not None else ():
        checkpoint()
        name = _name(item, of_list.key)
        if name is None or not name.value.strip():
            continue
        earlier, place = first.setdefault(name.value, (item, name))
        if earlier is not item:
            related = (Related(place.span, "The first one."),)
            fixes = tuple(_fixes(tree, item, earlier))
            message, tag = (
                of_list.message.format(name.value),
                "unnecessary" if of_list.severity == "hint" else None,
            )
            yield Problem(of_list.code, name.span, message, of_list.severity, fixes, related, tag)


def _name(item: Node, key: str) -> Node | None:
    node = item.target if not key else item.get(key) if item.target.kind == "mapping" else None
    return node if node is not None and node.kind == "scalar" else None


def _fixes(tree: Tree, item: Node, earlier: Node) -> Iterator[Fix]:
    """Yield the deletion of an item that duplicates the earlier one."""
    if item.to_python() == earlier.to_python() and item.green.anchor is None:
        yield Fix("Delete the repeated item", partial(delete_item, tree, item))


def both_sides(view: FileView) -> Found:
    """Yield the prompts that both must and must not trigger the skill."""
    root = view.tree.root
    if root is None or view.kind not in {"trigger_tests", "trigger_list"}:
        return
    prompts = [*prompts_in(root)]
    wanted = {_plain(each.node.target): each.node.target for each in prompts if each.should_trigger}
    checkpoint()
    for prompt in (each.node.target for each in prompts if not each.should_trigger):
        other = wanted.get(_plain(prompt))
        if other is not None and prompt.value.strip():
            message = "This prompt must trigger the skill, too, so one of the two always fails."
            related = (Related(other.span, "Here it must trigger the skill."),)
            yield Problem("prompt-on-both-sides", prompt.span, message, "warning", related=related)


def _plain(prompt: Node) -> str:
    return " ".join(prompt.value.split()).casefold()
