"""Rules about an entire eval file: reversed ranges, weights, versions, commands."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial

from waza_engine.checkpoint import checkpoint
from waza_engine.files import printable
from waza_engine.later_patterns import compiled_later
from waza_engine.spec.reading.scalars import MERGE_KEY
from waza_engine.spelling import listed, typo_of
from waza_engine.vocabulary import METRIC_ALIASES, METRICS
from waza_language_server.analysis.problem import Problem, suggestion
from waza_language_server.analysis.rule import FileView, Found
from waza_language_server.schema.catalog import Catalog
from waza_language_server.syntax.nodes import Node
from waza_language_server.syntax.tree import Tree
from waza_language_server.text.edit import Edit, Edits, Fix
from waza_language_server.text.span import Span

ROUNDED = 0.011
"""How far from one the sum of weights may be that were rounded to two places."""


def rows(view: FileView) -> Iterator[Problem]:
    """Yield the ``range`` whose first row is after its last."""
    given = view.tree.root.get("range") if view.kind == "eval" and view.tree.root is not None else None
    nodes = [item.target for item in given.target.items] if given is not None else []
    if len(nodes) != 2:
        return
    first, last = (node.to_python() for node in nodes)
    if isinstance(first, int) and isinstance(last, int) and first > last > 0:
        message = f"The first row of `range` ({first}) must not be after the last ({last})."
        swap = (Edit(nodes[0].span, nodes[1].value), Edit(nodes[1].span, nodes[0].value))
        yield Problem("bounds-reversed", nodes[0].span, message, "error", (Fix("Swap the two", swap),))


def weights(view: FileView) -> Found:
    """Yield the last weight if the weights of the metrics do not add up to 1."""
    metrics = view.tree.root.get("metrics") if view.kind == "eval" and view.tree.root is not None else None
    nodes: list[tuple[Node, float]] = []
    for metric in metrics.target.each_item() if metrics is not None else ():
        switch, weight = metric.get("enabled"), metric.get("weight")
        if switch is not None and switch.target.to_python() is False:
            continue
        value = weight.target.to_python() if weight is not None else None
        if weight is None or isinstance(value, bool) or not isinstance(value, int | float) or value <= 0:
            return
        nodes.append((weight.target, float(value)))
    total = sum(value for _, value in nodes)
    if not nodes or abs(total - 1) < ROUNDED:
        return
    message = f"The weights of the metrics add up to {total:g}, not to 1."
    scaled = [round(value / total, 2) for _, value in nodes]
    scaled[-1] = round(1 - sum(scaled[:-1]), 2)
    fixes: tuple[Fix, ...] = ()
    if min(scaled) > 0:
        places = [node for node, _ in nodes]
        fixes = (Fix("Scale the weights so that they add up to 1", partial(_written_at, places, scaled)),)
    yield Problem("weights-not-one", nodes[-1][0].span, message, "information", fixes)


def metric_names(view: FileView) -> Found:
    """Yield the names of metrics that are never computed: their thresholds have no effect."""
    metrics = view.tree.root.get("metrics") if view.kind == "eval" and view.tree.root is not None else None
    for metric in metrics.target.each_item() if metrics is not None else ():
        name = metric.get("name")
        node = name.target if name is not None and name.target.kind == "scalar" else None
        if node is None or not node.value or node.value in METRICS or node.value in METRIC_ALIASES:
            continue
        # Names such as `response_quality` are the author's own, however near they are to a known one.
        intended = typo_of(node.value, METRICS)
        advice = f"did you mean `{intended}`?" if intended else f"{listed(METRICS, 'and')} are."
        _, fixes = suggestion(view.tree, node, METRICS, intended) if intended is not None else (None, ())
        message = f"The metric `{printable(node.value)}` is not computed; {advice}"
        yield Problem("unknown-metric", node.span, message, "warning" if fixes else "information", fixes)


def mcp_servers(view: FileView) -> Found:
    """Yield the MCP servers that the agent gets on without, and their keys without effect."""
    root = view.tree.root if view.kind == "eval" else None
    servers = root.get("config", "mcp_servers") if root is not None else None
    for server in servers.target.entries if servers is not None else ():
        block = server.value.target
        where = f"`mcp_servers.{printable(server.key.value)}`"
        if block.kind in ("scalar", "sequence"):
            message = f"{where} must be a block with `command`, or with `type` and `url`; {_WITHOUT_IT}."
            yield Problem("wrong-type", server.key.span, message, "warning")
        elif block.entry(MERGE_KEY) is None and not view.tree.broken(block):
            yield from _of_server(view.tree, server.key, block, where)


_WITHOUT_IT = "the agent gets on without it"


def _of_server(tree: Tree, name: Node, block: Node, where: str) -> Found:
    # Few suites have any.
    from waza_engine.mcp.servers import TYPES, fault_of_server, keys_of_server, with_usual_keys

    usual = with_usual_keys({each.key.value: each.value.to_python() for each in block.each_entry()})
    key, clause = fault_of_server(usual) or ("", "")
    node = block.get("type") if key == "type" else None
    if node is not None:
        _, fixes = suggestion(tree, node.target, TYPES)
        message = f"{where} {printable(clause)}; {_WITHOUT_IT}."
        yield Problem("value-not-allowed", node.target.span, message, "warning", fixes)
    elif key:
        yield Problem("missing-key", name.span, f"{where} {clause}; {_WITHOUT_IT}.", "warning")
    known = keys_of_server(usual) if not key else ()
    for entry in block.each_entry() if known else ():
        written = entry.key.value
        if not with_usual_keys({written: None}).keys() <= {*known}:
            message = f"{where}: `{printable(written)}` has no effect; known are {listed(known, 'and')}."
            _, fixes = suggestion(tree, entry.key, [key for key in known if key not in usual])
            yield Problem("unknown-key", entry.key.span, message, "warning", fixes)


def _written_at(places: Sequence[Node], values: Sequence[float]) -> Edits:
    return tuple(Edit(node.span, f"{value:g}") for node, value in zip(places, values, strict=True))


VERSION_KEY = "schemaVersion"
_MINOR = compiled_later(r"^\s*1\.([0-9]{1,9})\s*$")


def newer_version(view: FileView) -> Iterator[Problem]:
    """Yield the hint at a version that is newer than the newest known one."""
    node = _newer(view)
    if node is not None:
        known = _newest(view.catalog)
        message = f"`{node.value}` is newer than {known}, the newest known version; unknown keys are ignored."
        yield Problem("newer-format", node.span, message, "information")


def as_newer(view: FileView, found: Found) -> Found:
    """Yield problems adapted to the version of their file: in a newer one unknown keys are hints."""
    if _newer(view) is None:
        yield from found
        return
    for problem in found:
        if problem.code == "unknown-key" and problem.severity != "error":
            yield replace(problem, severity="hint")
        else:
            yield problem


def _newer(view: FileView) -> Node | None:
    root = view.tree.root
    node = root.get(VERSION_KEY) if view.kind == "eval" and root is not None else None
    if node is None or node.target.kind != "scalar":
        return None
    written, known = _MINOR.match(node.target.value), _MINOR.match(_newest(view.catalog))
    return node.target if written and known and int(written[1]) > int(known[1]) else None


def _newest(catalog: Catalog) -> str:
    """Return the default version, "" without schemas."""
    known = catalog.document("eval").properties.get(VERSION_KEY)
    return "" if known is None else str(known.shape.default)


_FOR_A_SHELL = compiled_later(
    r"(?<!\S)(?:&&|\|\|?|\d?>>?|<|;)(?!\S)|;(?=\s)|\d>&\d|\$\{?[A-Za-z_]\w*\}?|\A(?:cd|export|source)(?!\S)"
)
"""Operators between commands, builtins, variables. Quotes are ignored: many quoted strings have no space."""


def hook_commands(view: FileView) -> Found:
    """Yield the shell syntax in the commands of hooks, the first of each."""
    hooks = view.tree.root.get("hooks") if view.tree.root is not None and view.kind == "eval" else None
    for entry in hooks.target.entries if hooks is not None else ():
        for item in entry.value.target.items:
            checkpoint()
            command = item.get("command")
            if command is not None and command.target.kind == "scalar":
                yield from _of_shell(view.tree.text, command.target)


def _of_shell(text: str, command: Node) -> Iterator[Problem]:
    sign = _FOR_A_SHELL.search(command.value)
    if sign is None:
        return
    what = f"`{printable(sign[0])}`"
    means = f"there is no program {what}" if not sign.start() else f"{what} is passed on as an argument"
    message = f"No shell reads this command, so {means}; run `sh script.sh` with this line in it."
    start = text.find(sign[0], command.span.start, command.span.end)
    place = Span(start, start + len(sign[0])) if start >= 0 else command.span
    yield Problem("unlikely-value", place, message, "warning")
