"""The modules that are loaded ahead in the background: one list for everything that loads them.

The rules, which are loaded between these, list themselves (``analysis/loading.py``).
"""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module

from waza_engine.checkpoint import checkpoint

FIRST = (
    *("syntax.tree", "project.index", "schema.catalog", "protocol.handlers.documents"),
    "protocol.services.schedule",
)
"""The modules that an opened document needs, before the rules."""
BEHIND_RULES = (
    *("features.completion.complete", "protocol.handlers.completion", "protocol.services.model_prices"),
    *("analysis.text_rules.repairs",),
    *("protocol.handlers.diagnostics", "protocol.handlers.hover"),
    *("text.scalar_map", "syntax.edits"),
    *("embedded.regex.explanation", "protocol.handlers.code_lens", "protocol.handlers.inlay_hint"),
    *("protocol.handlers.code_action", "protocol.handlers.navigation", "protocol.handlers.rename"),
    *("protocol.handlers.runnables", "protocol.handlers.suite_tree"),
)
"""The modules that the next requests need, the soonest first."""


def load(modules: Iterable[str]) -> None:
    """Load modules of the server by their names in it."""
    for module in modules:
        import_module(f"waza_language_server.{module}")
        checkpoint()
