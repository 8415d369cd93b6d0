"""Problems of a ``SKILL.md`` that its schema does not cover: its keys, its name, its closing line."""

from __future__ import annotations

import re
from functools import partial

from waza_engine.later_patterns import compiled_later
from waza_engine.spelling import typo_of
from waza_language_server.analysis.problem import Problem
from waza_language_server.analysis.rule import Found, SuiteView
from waza_language_server.project.front_matter import front_matter, missing_opening
from waza_language_server.project.suite_file import scalar_text
from waza_language_server.project.uris import path_of
from waza_language_server.syntax.edits import insert_entry, replace_scalar
from waza_language_server.text.edit import Edit, Fix
from waza_language_server.text.span import Span

_NEEDED = {
    "name": "agents know the skill by it",
    "description": "an agent chooses the skill by it alone",
}

_OF_AGENTS = frozenset({"mode", "modes", "models"})
"""Keys that agents read, or authors write, which look like typos of others."""
_MORE_KEYS = compiled_later(
    r"---[ \t]*(?:\r\n|\r|\n)(?P<rows>[a-z][\w-]*:[ \t][^\r\n]*(?:\r\n|\r|\n)"
    r"(?:(?:[a-z][\w-]*:|[ \t]+\S|-[ \t])[^\r\n]*(?:\r\n|\r|\n))*)---[ \t]*(?=[\r\n]|\Z)"
)
"""A line that closes the front matter, more rows of it, and another such line."""
_KEY = compiled_later(r"^([a-z][\w-]*):", re.MULTILINE)
_OTHER_CLOSING = compiled_later(r"(?:--|[—–]+|-[ ]-[ ]-|\*{3,}|={3,}|_{3,}|\.{3})(?=[ \t]*(?:[\r\n]|\Z))")
"""A line on its own in place of the three dashes."""


def skill_file(view: SuiteView) -> Found:
    """Yield the problems of the front matter of a ``SKILL.md``; none for other files."""
    if view.document.kind != "skill":
        return
    opening = missing_opening(view.document.text)
    if opening is not None:
        message = "The front matter must begin in the first line, with `---`; here its keys are read as text."
        place = Span(0, max(1, len(opening.span)))
        fix = Fix("Open it with `---`" if opening.text else "Delete the blank lines", (opening,))
        if not view.document.tree.errors:
            yield Problem("skill-frontmatter", place, message, "error", (fix,))
        return
    yield from _open_end(view)
    yield from _closed_twice(view)
    yield from _keys(view)
    yield from _other_folder(view)


def _open_end(view: SuiteView) -> Found:
    document = view.document
    matter = front_matter(document.text)
    if not matter.opened or matter.closed:
        return
    dashes = document.text.index("-")
    ending = "\r\n" if "\r\n" in document.text else "\n"
    end = len(matter.text)
    closing = f"---{ending}" if matter.text.endswith(("\n", "\r")) else f"{ending}---{ending}"
    rest = document.text[end:]
    # Text directly below may have been intended as a part of it.
    fixes: tuple[Fix, ...] = ()
    if not rest or rest[0] in "\r\n":
        fixes = (Fix("Close it with `---`", (Edit(Span(end, end), closing),)),)
    elif (written := _OTHER_CLOSING.match(rest)) is not None:
        fixes = (Fix("Close it with `---`", (Edit(Span(end, end + written.end()), "---"),)),)
    message = "The front matter has no closing line `---`, so no agent and no run can read the skill."
    yield Problem("skill-frontmatter", Span(dashes, dashes + 3), message, "error", fixes)


def _closed_twice(view: SuiteView) -> Found:
    """Yield keys between the line that ends the front matter and another such line."""
    more = _more_keys(view)
    if more is None:
        return
    dashes = view.document.text.index("-")
    first = _KEY.findall(more["rows"])[0]
    message = f"The front matter ends above `{first}`, so the rest is read as text; delete the `---` there."
    fix = Fix("Delete the `---`", (Edit(Span(more.start(), more.start("rows")), ""),))
    yield Problem("skill-frontmatter", Span(dashes, dashes + 3), message, "warning", (fix,))


def _more_keys(view: SuiteView) -> re.Match[str] | None:
    """Return the end of the front matter with the skill's keys below it, which are closed as well."""
    text, matter = view.document.text, front_matter(view.document.text)
    more = _MORE_KEYS.match(text, len(matter.text)) if matter.opened and matter.closed else None
    known = view.workspace.catalog.document("skill").properties
    return more if more is not None and not known.keys().isdisjoint(_KEY.findall(more["rows"])) else None


def _keys(view: SuiteView) -> Found:
    """Yield misspelt keys, and the missing required ones that are not among them."""
    tree, root = view.document.tree, view.document.tree.root
    if root is None or root.kind != "mapping":
        return
    shape = view.workspace.catalog.document("skill")
    known = shape.properties
    missing = [key for key in _NEEDED if root.entry(key) is None]
    for key in _NEEDED:
        value = root.get(key)
        if value is not None and value.target.kind == "scalar" and not value.target.value.strip():
            entry = root.entry(key)
            place = entry.key.span if entry is not None else value.span
            yield Problem("recommended-key", place, f"`{key}` has no value: {_NEEDED[key]}.", "warning")
    for entry in root.each_entry():
        if entry.key.value in known or entry.key.value in _OF_AGENTS:
            continue
        typo = typo_of(entry.key.value, known)
        intended = typo or shape.misspellings.get(entry.key.value)
        if intended is None or root.entry(intended) is not None or tree.broken(entry.key):
            # Agents have keys of their own.
            continue
        message = f"`{entry.key.value}` is not a known key of a skill; did you mean `{intended}`?"
        fixes: tuple[Fix, ...] = ()
        if entry.key.style == "plain" and known[intended].shape.fits(entry.value.target.kind):
            fixes = (Fix(f"Change to `{intended}`", (Edit(entry.key.span, intended),), preferred=bool(typo)),)
        missing = [key for key in missing if key != intended]
        yield Problem("unknown-key", entry.key.span, message, "warning", fixes)
    more = _more_keys(view) if missing else None
    below = _KEY.findall(more["rows"]) if more is not None else ()
    for key in missing if not tree.errors else ():
        if key in below:
            continue
        first = next(root.each_entry(), None)
        span = first.key.span if first is not None else root.span
        previous = root.entry("name") if key == "description" else None
        # An example would describe another skill.
        value = _folder_name(view) if key == "name" else ""
        repair = partial(insert_entry, tree, root, key, value, previous)
        message = f"`{key}` is missing: {_NEEDED[key]}."
        yield Problem("recommended-key", span, message, "warning", (Fix(f"Insert `{key}`", repair),))


def _folder_name(view: SuiteView) -> str:
    """Return the name of the skill's folder if a skill may have it, otherwise nothing."""
    path = path_of(view.document.uri)
    shape = view.workspace.catalog.document("skill").properties["name"].shape
    return path.parent.name if path is not None and shape.takes_text(path.parent.name) else ""


def _other_folder(view: SuiteView) -> Found:
    """Yield the name if it differs from the folder's, unless the folder is the root of a checkout."""
    root, path = view.document.tree.root, path_of(view.document.uri)
    node, project = root.get("name") if root is not None else None, view.workspace.project
    name = scalar_text(node)
    if node is None or path is None or not name or name == path.parent.name:
        return
    shape = view.workspace.catalog.document("skill").properties["name"].shape
    folder = path.parent
    if folder in project.roots or ".git" in project.names(folder) or not shape.takes_text(name):
        # The name of a checkout's folder is arbitrary.
        return
    fixes: tuple[Fix, ...] = ()
    if shape.takes_text(folder.name):
        repair = partial(replace_scalar, view.document.tree, node.target, folder.name)
        fixes = (Fix(f"Change to `{folder.name}`", repair),)
    message = f"The skill is called `{name}` and its folder `{folder.name}`; both must have the same name."
    yield Problem("skill-name", node.target.span, message, "warning", fixes)
