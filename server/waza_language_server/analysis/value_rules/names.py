"""Names and paths in the options of graders: of built-in rubrics, of tools, of files in the workspace."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator
from functools import partial

from waza_engine.files import shown
from waza_engine.later_patterns import compiled_later
from waza_engine.spec.program_files import is_rubric_path
from waza_engine.spelling import listed
from waza_language_server.analysis.problem import Problem
from waza_language_server.analysis.rule import GraderView
from waza_language_server.analysis.suggestions import suggestion
from waza_language_server.syntax.edits import replace_scalar
from waza_language_server.syntax.nodes import Node
from waza_language_server.text.edit import Edit, Fix


def rubric_names(view: GraderView) -> Iterator[Problem]:
    """Yield the unknown names of rubrics; for `llm` graders a word is the rubric itself."""
    for node, shape in view.located:
        if shape.kind != "rubric" or node.kind != "scalar" or not _is_name(node.value):
            continue
        known = [example for example in shape.examples if isinstance(example, str) and _is_name(example)]
        name = node.value.strip()
        if not known or name in known:
            continue
        meant, fixes = suggestion(view.file.tree, node, known)
        advice = f"did you mean `{meant}`?" if meant else f"write a path, a text, or {listed(known)}."
        message = f"There is no rubric called `{shown(name)}`; {advice}"
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
        fix = Fix("Delete the blanks", (Edit(node.span, name),))
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
            meant = written.lstrip("/")
            repair = partial(replace_scalar, view.file.tree, node, meant)
            fixes = (Fix(f"Change to `{shown(meant)}`", repair),) if meant else ()
            message = f"`{shown(written)}` is an absolute path; write it relative to the workspace."
            yield Problem("outside-workspace", node.span, message, "error", fixes)
        elif place == ".." or place.startswith("../"):
            message = f"`{shown(written)}` is not in the workspace, so the grader cannot grade."
            yield Problem("outside-workspace", node.span, message, "error")
        elif place == ".":
            message = "This is the workspace itself, not a file in it, so the grader cannot grade."
            yield Problem("outside-workspace", node.span, message, "error")
        elif _DRIVE.match(written):
            message = (
                f"`{shown(written)}` is an absolute path on Windows; write it relative to the workspace."
            )
            yield Problem("path-not-portable", node.span, message, "warning")
        elif "\\" in written:
            meant = written.replace("\\", "/")
            repair = partial(replace_scalar, view.file.tree, node, meant)
            fixes = (Fix(f"Change to `{shown(meant)}`", repair),)
            message = f"Only Windows accepts `\\` between folders; `{shown(meant)}` works everywhere."
            yield Problem("path-not-portable", node.span, message, "warning", fixes)
