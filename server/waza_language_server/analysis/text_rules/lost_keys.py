"""Items of a list that begin with the value of a missing key: `- Do this` above ` reason: x`."""

from __future__ import annotations

from collections.abc import Iterator

from waza_language_server.analysis.problem import Problem
from waza_language_server.analysis.text_rules.slip import Slip
from waza_language_server.schema.catalog import Catalog, SchemaName
from waza_language_server.schema.locate import shape_of
from waza_language_server.syntax.fault import SyntaxFault
from waza_language_server.syntax.frames import line_start_of
from waza_language_server.syntax.tree import Tree
from waza_language_server.text.edit import Edit, Fix
from waza_language_server.text.span import Span


def lost_first_key(tree: Tree, fault: SyntaxFault, kind: SchemaName, catalog: Catalog) -> Iterator[Slip]:
    """Yield the missing key before a string at the beginning of an item with other keys."""
    text, start = tree.text, fault.span.start
    lead = text[line_start_of(text, start) : start]
    if tree.root is None or fault.code != "yaml-syntax" or not lead.strip(" ") or lead.strip(" -"):
        return
    around = tree.root.at(min(fault.span.end + 1, len(text)))
    while around is not None and not (around.kind == "mapping" and around.span.start == start):
        around = around.parent
    shape = shape_of(kind, around, catalog) if around is not None else None
    if around is None or shape is None:
        return
    block = shape.branch("mapping")
    for key in (block.required or block.at_least_one)[:1]:
        known = block.properties.get(key)
        written = text[start : fault.span.end]
        is_begun = any(name.startswith(written) for name in block.properties)
        if known is None or is_begun or "string" not in known.shape.types or key in around.key_names:
            continue
        edit = Edit(Span(start, start), f"{key}: ")
        message = f"This item has other keys, so its text needs its own; write `{key}: ` in front of it."
        fix = Fix(f"Write `{key}: `", (edit,))
        yield Slip(Problem("yaml-syntax", fault.span, message, "error", (fix,)), edit, known_at=start)
