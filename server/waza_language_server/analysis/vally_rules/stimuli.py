"""Names, turns, weights and graders of the stimuli of a Vally eval file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from waza_engine.checkpoint import checkpoint
from waza_engine.spec.vally.name_checks import OF_CONSTRAINTS
from waza_engine.spelling import listed
from waza_language_server.analysis.problem import Problem, Severity
from waza_language_server.analysis.rule import Found, SuiteView
from waza_language_server.syntax.nodes import Node, listed_in
from waza_language_server.text.edit import Related

_TOLERANCE = 0.001
_CHECKS = ("graders", "constraints", "expect_activation")
"""The keys of a stimulus that check something."""
_NOTHING: tuple[object, ...] = (None, [], {})


def stimulus_names(view: SuiteView) -> Found:
    """Yield the names of stimuli that an earlier one has: results are joined by them."""
    yield from _repeated(
        (stimulus.get("name") for stimulus in _stimuli(view)),
        "duplicate-stimulus",
        "Another stimulus is called `{}`; results are joined by the name.",
        "error",
    )


def grader_names(view: SuiteView) -> Found:
    """Yield the names of graders that another one of the same stimulus, or of the file, has."""
    root = view.document.tree.root
    of_file = [item.get("name") for item in _items(root.get("graders") if root is not None else None)]
    reported: set[int] = set()
    message = "Another grader of this stimulus is called `{}`; Vally requires unique names since 0.16."
    for stimulus in (None, *_stimuli(view)):
        own = _items(stimulus.get("graders")) if stimulus is not None else ()
        names = (*of_file, *(item.get("name") for item in own))
        for problem in _repeated(names, "duplicate-grader-name", message, "warning"):
            if problem.span.start not in reported:
                reported.add(problem.span.start)
                yield problem


def unchecked_stimuli(view: SuiteView) -> Found:
    """Yield the stimuli that nothing checks: the engine refuses them."""
    root = view.document.tree.root
    if root is None or _items(root.get("graders")):
        return
    for stimulus in _stimuli(view):
        name = stimulus.entry("name")
        checks = filter(None, map(stimulus.get, _CHECKS))
        if name is not None and all(each.target.to_python() in _NOTHING for each in checks):
            message = "Nothing checks this stimulus, so it cannot be run; give it a grader or a constraint."
            yield Problem("nothing-checked", name.value.span, message, "error")


def turns(view: SuiteView) -> Found:
    """Yield the graders of turns that the conversation does not have."""
    for stimulus in _stimuli(view):
        written = stimulus.get("turns")
        count = len(written.target.items) if written is not None and written.target.kind == "sequence" else 1
        for grader in _items(stimulus.get("graders")):
            turn = grader.get("turn")
            number = turn.target.to_python() if turn is not None and turn.target.kind == "scalar" else None
            if turn is not None and isinstance(number, int) and number >= count:
                message = f"The conversation has the turns 0 to {count - 1}." if count > 1 else _ONLY_TURN
                yield Problem("turn-never-comes", turn.span, message)


_ONLY_TURN = "The conversation has one turn, which is number 0."


def contradictions(view: SuiteView) -> Found:
    """Yield the skills that a grader both requires and disallows."""
    for grader in view.graders.of_types(("skill-invocation",)):
        config = grader.get("config")
        if config is None or config.target.kind != "mapping":
            continue
        required = {item.value for item in _scalars(config.target.get("required"))}
        for item in _scalars(config.target.get("disallowed")):
            if item.value in required:
                message = f"`{item.value}` is required as well, so this grader never passes."
                yield Problem("contradiction", item.span, message)


def weights(view: SuiteView) -> Found:
    """Yield weights of types that no grader has, types without a weight, and sums other than 1."""
    root = view.document.tree.root
    written = root.get("scoring", "weights") if root is not None else None
    if root is None or written is None or written.target.kind != "mapping":
        return
    used = set(filter(None, view.graders.types))
    constrained = any(stimulus.get("constraints") is not None for stimulus in _stimuli(view))
    total = 0.0
    for entry in written.target.entries:
        value = entry.value.to_python() if entry.value.target.kind == "scalar" else None
        if isinstance(value, int | float) and not isinstance(value, bool):
            total += value
        if entry.key.value not in used and not (constrained and entry.key.value in OF_CONSTRAINTS.values()):
            message = f"No grader has the type `{entry.key.value}`, so this weight has no effect."
            yield Problem("key-without-effect", entry.key.span, message, "warning", tag="unnecessary")
    lacking = sorted(used - set(written.target.key_names))
    key = written.holder.key.span if written.holder is not None else written.span
    if lacking:
        message = f"Vally requires a weight for each used type since 0.7; add {listed(lacking, 'and')}."
        yield Problem("weights-not-one", key, message, "warning")
    elif abs(total - 1) > _TOLERANCE:
        message = f"The weights add up to {total:g}; Vally's lint requires 1 since 0.7."
        yield Problem("weights-not-one", key, message, "information")


def _repeated(names: Iterable[Node | None], code: str, message: str, severity: Severity) -> Iterator[Problem]:
    first: dict[str, Node] = {}
    for node in names:
        checkpoint()
        if node is None or node.target.kind != "scalar" or not node.target.value.strip():
            continue
        name = node.target
        earlier = first.setdefault(name.value, name)
        if earlier is not name:
            related = (Related(earlier.span, "The first one."),)
            yield Problem(code, name.span, message.format(name.value), severity, (), related)


def _stimuli(view: SuiteView) -> tuple[Node, ...]:
    root = view.document.tree.root
    return _items(root.get("stimuli") if root is not None else None)


def _items(node: Node | None) -> tuple[Node, ...]:
    """Return the items of a list that are blocks."""
    return tuple(item for item in listed_in(node) if item.kind == "mapping")


def _scalars(node: Node | None) -> tuple[Node, ...]:
    return tuple(item for item in listed_in(node) if item.kind == "scalar")
