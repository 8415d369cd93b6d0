"""Regular expressions: invalid, not portable, slow, or written for another engine."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from types import MappingProxyType

from waza_engine.checkpoint import checkpoint
from waza_engine.files import printable
from waza_engine.later_patterns import compiled_later
from waza_engine.spec.program_files import is_rubric_path
from waza_engine.spelling import listed
from waza_language_server.analysis.problem import Problem, Severity, suggestion
from waza_language_server.analysis.rule import FileView, Found, GraderView, found_outside
from waza_language_server.analysis.value_rules.inside_values import problem_inside
from waza_language_server.embedded.languages import load_language
from waza_language_server.schema.shape import Shape
from waza_language_server.syntax.edits import replace_scalar
from waza_language_server.syntax.nodes import Node
from waza_language_server.syntax.tree import Tree
from waza_language_server.text.edit import Edit, Fix

_SEVERITIES: Mapping[str, Severity] = MappingProxyType(
    {"pattern-not-portable": "hint", "slow-pattern": "warning"}
)


def patterns_of_file(view: FileView) -> Found:
    """Yield the problems of the patterns outside of graders.

    An invalid one is a warning: a mock server with one is only left out of a run.
    """
    if view.tree.root is not None:
        top, look = view.catalog.document(view.kind), partial(_of_value, view.tree)
        yield from found_outside(view.tree.root, top, look)


def _of_value(tree: Tree, node: Node, shape: Shape) -> Iterable[Problem]:
    return _problems(tree, node, "warning") if shape.kind == "regex" else ()


def patterns_of_grader(view: GraderView) -> Found:
    """Yield the problems of the patterns of a grader."""
    for node, shape in view.located:
        if shape.kind == "regex":
            checkpoint()
            problems = _problems(view.file.tree, node, "error")
            # Vally runs patterns as JavaScript does, which has what RE2 lacks.
            of_vally = view.file.catalog.of_vally
            yield from (each for each in problems if not of_vally or each.code != "pattern-not-portable")


def _problems(tree: Tree, node: Node, severity: Severity) -> Iterator[Problem]:
    if node.kind != "scalar":
        return
    for finding in load_language("regex").check(node.value).findings:
        grave = severity if finding.code == "invalid-pattern" else _SEVERITIES[finding.code]
        yield problem_inside(tree, node, finding, grave)


_BETWEEN_SLASHES = compiled_later(r"/((?:[^/\\]|\\.)+)/([gimsuy]{1,6})")
_FLAGS = frozenset("ims")
_TWICE_ESCAPED = compiled_later(r"\\\\([dDsSwW])(?=[+*?{])")
"""An escaped backslash before a repeated letter: ``\\ddd`` is not what the author intended."""


def foreign_patterns(view: GraderView) -> Found:
    """Yield patterns between slashes and doubled backslashes."""
    for node, shape in view.located:
        if shape.kind == "regex" and node.kind == "scalar":
            checkpoint()
            yield from _between_slashes(view.file.tree, node)
            yield from _twice_escaped(view.file.tree, node)


def _between_slashes(tree: Tree, node: Node) -> Iterator[Problem]:
    match = _BETWEEN_SLASHES.fullmatch(node.value)
    if match is None:
        return
    flags = "".join(sorted(_FLAGS & set(match[2])))
    right = f"(?{flags}){match[1]}" if flags else match[1]
    right = right.replace("\\/", "/")
    message = (
        f"JavaScript writes patterns like this; here the slashes and `{match[2]}` are part of the pattern. "
        f"Write `{printable(right)}`."
    )
    yield _problem(tree, node, message, right)


def _twice_escaped(tree: Tree, node: Node) -> Iterator[Problem]:
    match = _TWICE_ESCAPED.search(node.value)
    if match is None:
        return
    right = _TWICE_ESCAPED.sub(r"\\\1", node.value)
    once = f"\\{match[1]}"
    message = f"`\\{once}` looks for a backslash before the letter `{match[1]}`; did you mean `{once}`?"
    yield _problem(tree, node, message, right)


def _problem(tree: Tree, node: Node, message: str, right: str) -> Problem:
    fix = Fix(f"Change to `{printable(right)}`", partial(replace_scalar, tree, node, right))
    return Problem("unlikely-value", node.span, message, "information", (fix,))


def rubric_names(view: GraderView) -> Iterator[Problem]:
    """Yield the unknown names of rubrics; for `llm` graders a word is the rubric itself."""
    for node, shape in view.located:
        if shape.kind != "rubric" or node.kind != "scalar" or not _is_name(node.value):
            continue
        known = [example for example in shape.examples if isinstance(example, str) and _is_name(example)]
        name = node.value.strip()
        if not known or name in known:
            continue
        intended, fixes = suggestion(view.file.tree, node, known)
        advice = f"did you mean `{intended}`?" if intended else f"write a path, a text, or {listed(known)}."
        message = f"There is no rubric called `{printable(name)}`; {advice}"
        yield Problem("value-not-allowed", node.span, message, "error", fixes)


def _is_name(written: str) -> bool:
    text = written.strip()
    return bool(text) and not any(each.isspace() for each in text) and not is_rubric_path(text)


_SIGNS_OF_PATTERN = compiled_later(r"\A\^|\$\Z|\.[*+]|\w\|\w")
"""Characters of patterns that no tool name contains; a `*` alone may be a wildcard."""
_BARE = compiled_later(r"[A-Za-z_][\w-]{0,40}")


def tool_names(view: GraderView) -> Iterator[Problem]:
    """Yield the hint for a tool name with a space in it, or with characters of a pattern."""
    for node, shape in view.located:
        if shape.kind == "tool.name":
            yield from _hint(node)


def unanchored_patterns(view: GraderView) -> Iterator[Problem]:
    """Yield the hint for a rejected tool that is a bare name: as a pattern it rejects longer names, too."""
    entries = view.entry.get("config", "reject_tools")
    for item in entries.target.items if entries is not None else ():
        node = item.get("tool") if item.target.kind == "mapping" else None
        if node is None or node.target.kind != "scalar" or not _BARE.fullmatch(node.target.value):
            continue
        name = node.target.value
        message = (
            f"This pattern rejects every tool whose name contains `{name}`; "
            f"write `^{name}$` to reject only this tool."
        )
        fix = Fix(f"Write `^{name}$`", (Edit(node.target.span, f"'^{name}$'"),))
        yield Problem("unanchored-tool", node.target.span, message, "hint", (fix,))


def _hint(node: Node) -> Iterator[Problem]:
    name = node.value.strip() if node.kind == "scalar" else ""
    if name != node.value and node.kind == "scalar" and _BARE.fullmatch(name):
        message = f"No tool is called `{node.value}`: names are compared including whitespace."
        fix = Fix("Delete the spaces", (Edit(node.span, name),))
        yield Problem("blank-in-tool-name", node.span, message, "hint", (fix,))
    elif _SIGNS_OF_PATTERN.search(name):
        message = f"`{name}` is compared as a whole here, not as a pattern, so no tool has this name."
        bare = name.removeprefix("^").removesuffix("$")
        fixes = (Fix(f"Change to `{bare}`", (Edit(node.span, bare),)),) if _BARE.fullmatch(bare) else ()
        yield Problem("blank-in-tool-name", node.span, message, "hint", fixes)
    elif any(character.isspace() for character in name):
        shown = name if len(name) <= 40 else f"{name[:39]}…"
        message = (
            f"No tool is called `{shown}`, and names are compared as a whole; "
            "`command_pattern` of a `tool_constraint` grader looks into commands."
        )
        yield Problem("blank-in-tool-name", node.span, message, "hint")


_DRIVE = compiled_later(r"[A-Za-z]:[\\/]")


def workspace_paths(view: GraderView) -> Iterator[Problem]:
    """Yield the paths that lead out of the workspace, or to the workspace itself."""
    for node, shape in view.located:
        if shape.kind != "path.workspace" or node.kind != "scalar":
            continue
        written = node.value
        place = posixpath.normpath(written)
        if written.startswith("/"):
            intended = written.lstrip("/")
            repair = partial(replace_scalar, view.file.tree, node, intended)
            fixes = (Fix(f"Change to `{printable(intended)}`", repair),) if intended else ()
            message = f"`{printable(written)}` is an absolute path; write it relative to the workspace."
            yield Problem("outside-workspace", node.span, message, "error", fixes)
        elif place == ".." or place.startswith("../"):
            message = f"`{printable(written)}` is not in the workspace, so the grader cannot grade."
            yield Problem("outside-workspace", node.span, message, "error")
        elif place == ".":
            message = "This is the workspace itself, not a file in it, so the grader cannot grade."
            yield Problem("outside-workspace", node.span, message, "error")
        elif _DRIVE.match(written):
            message = (
                f"`{printable(written)}` is an absolute path on Windows; write it relative to the workspace."
            )
            yield Problem("path-not-portable", node.span, message, "warning")
        elif "\\" in written:
            intended = written.replace("\\", "/")
            repair = partial(replace_scalar, view.file.tree, node, intended)
            fixes = (Fix(f"Change to `{printable(intended)}`", repair),)
            message = f"Only Windows accepts `\\` between folders; `{printable(intended)}` works everywhere."
            yield Problem("path-not-portable", node.span, message, "warning", fixes)
