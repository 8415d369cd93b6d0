"""Which folders suites and skills are looked for in, when all below a folder are wanted.

Light on purpose: the language server loads it too.
"""

from __future__ import annotations

from collections.abc import Collection

AGENT_FOLDERS = (
    ".agent",
    ".agents",
    ".apm",
    ".claude",
    ".codex",
    ".copilot",
    ".cursor",
    ".gemini",
    ".github",
    ".opencode",
    ".squad",
)
"""Hidden folders that agents and their package managers keep a project's skills in."""
_IN_AGENT_FOLDERS = frozenset({"skills", "evals"})
"""What is looked into there: beside them lie sessions, caches and whole copies of the project."""
_WHOLE = ".github"
"""Suites lie anywhere in this one."""
_FOREIGN_FOLDERS = frozenset({"node_modules", "vendor", "__pycache__"})
_MARK_OF_ENVIRONMENT = "pyvenv.cfg"


def is_searched(name: str, inside: str | None) -> bool:
    """Whether a folder of this name is looked into; ``inside`` is the name of the folder that holds it.

    None says that it lies in the folder the search began with, which somebody asked for whatever its name.
    """
    if inside in AGENT_FOLDERS and inside != _WHOLE:
        return name in _IN_AGENT_FOLDERS
    return name in AGENT_FOLDERS or not (name.startswith(".") or name in _FOREIGN_FOLDERS)


def is_environment(names: Collection[str]) -> bool:
    """Whether a folder with these names in it is a virtual environment: what lies there is installed."""
    return _MARK_OF_ENVIRONMENT in names
