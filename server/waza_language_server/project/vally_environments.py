"""The environments that an eval file of Vally can name: those of the nearest ``.vally.yaml``."""

from __future__ import annotations

from pathlib import Path

from waza_language_server.project.claim import VALLY_PROJECT_NAMES
from waza_language_server.project.index import Project
from waza_language_server.project.suites import folders_above


def environment_names(project: Project, path: Path) -> tuple[str, ...] | None:
    """Return the environments of the nearest ``.vally.yaml``, None without a file that can be read."""
    for folder in folders_above(path):
        for name in project.disk.holding(folder, VALLY_PROJECT_NAMES):
            tree = project.tree(folder / name)
            if tree.root is None or tree.errors:
                return None
            environments = tree.root.get("environments")
            return tuple(environments.target.key_names) if environments is not None else ()
    return None
