"""How far links in a suite may lead: to the end of its repository, or of the folder that one works in.

Whoever keeps suites links what they share: a task folder of the repository, a skill beside another. A link
that leads further is no part of the suite, so what lies there is not read.
"""

from __future__ import annotations

import os
from pathlib import Path

from waza_engine.files import Boundary


def suite_boundary(directory: Path, written: str = "", *, from_here: bool = False) -> Boundary:
    """Return where links of a suite may lead: within its repository, or else its own directory.

    With ``from_here`` the working directory counts, too, when the suite lies in it: somebody has chosen it.
    The ``..`` at the beginning of a ``written`` path are no links: they lead where they lead.
    """
    here = Path(os.path.abspath(directory))  # noqa: PTH100 - links stay as they are
    folders = [here]
    # A suite may be reached through a link, from the same repository or from elsewhere.
    for start in (here, here.resolve()):
        folders += [above for above in (start, *start.parents) if os.path.lexists(above / ".git")][:1]
        if from_here and start.is_relative_to(Path.cwd()):
            folders.append(Path.cwd())
    if leading := _leading_parents(written):
        folders.append(Path(os.path.normpath(here / leading)))
    return Boundary.around(*folders, name=str(min(folders, key=lambda folder: len(folder.parts))))


def _leading_parents(written: str) -> str:
    """Return the ``..`` with which a path begins: ``../..`` of ``../../tasks/*.yaml``."""
    parts = os.path.normpath(written).replace(os.sep, "/").split("/")
    count = next((number for number, part in enumerate(parts) if part != ".."), len(parts))
    return "/".join(parts[:count])
