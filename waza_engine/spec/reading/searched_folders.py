"""Names of a suite's files, and folders that are searched for suites and skills.

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
"""The searched subfolders: others are sessions, caches and whole copies of the project."""
_WHOLE = ".github"
"""Suites may be anywhere in this one."""
_FOREIGN_FOLDERS = frozenset({"node_modules", "vendor", "__pycache__"})
_MARK_OF_ENVIRONMENT = "pyvenv.cfg"


def is_searched(name: str, inside: str | None) -> bool:
    """Return whether a folder of this name is searched; ``inside`` is the name of its parent.

    None means that the parent is the start of the search, which was requested whatever its name.
    """
    if inside in AGENT_FOLDERS and inside != _WHOLE:
        return name in _IN_AGENT_FOLDERS
    return name in AGENT_FOLDERS or not (name.startswith(".") or name in _FOREIGN_FOLDERS)


def is_environment(names: Collection[str]) -> bool:
    """Return whether a folder with these entries is a virtual environment: its content is installed."""
    return _MARK_OF_ENVIRONMENT in names


EVAL_NAMES = ("eval.yaml", "eval.yml")
