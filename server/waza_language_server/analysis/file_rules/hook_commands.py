"""Commands of hooks that need a shell: neither this engine nor upstream starts one."""

from __future__ import annotations

from collections.abc import Iterator

from waza_engine.checkpoint import checkpoint
from waza_engine.files import shown
from waza_engine.later_patterns import compiled_later
from waza_language_server.analysis.problem import Problem
from waza_language_server.analysis.rule import FileView, Found
from waza_language_server.syntax.nodes import Node
from waza_language_server.text.span import Span

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
    what = f"`{shown(sign[0])}`"
    means = f"there is no program {what}" if not sign.start() else f"{what} is passed on as an argument"
    message = f"No shell reads this command, so {means}; run `sh script.sh` with this line in it."
    start = text.find(sign[0], command.span.start, command.span.end)
    place = Span(start, start + len(sign[0])) if start >= 0 else command.span
    yield Problem("unlikely-value", place, message, "warning")
