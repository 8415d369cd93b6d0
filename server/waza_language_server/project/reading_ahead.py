"""Read the suite files of a workspace ahead of requests: their outlines and their mentions.

Nothing is answered from here: this fills the caches that requests use. It is bounded, since it may not be
needed: files beyond the bound are read on demand.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from waza_engine.steps import Steps
from waza_language_server.project.disk import LOOKED_AT_AGAIN_SECONDS
from waza_language_server.project.naming_places import mentions_in
from waza_language_server.project.stamps import stamp_of
from waza_language_server.project.suite_files import files_of_workspace

if TYPE_CHECKING:
    from waza_language_server.project.workspace import Workspace

MOST_FILES = 5_000
LARGEST_BYTES = 200_000


def read_ahead(workspace: Workspace) -> Steps[None]:
    """Read the suite files in the open folders that were not read since they changed, with many pauses."""
    yield from workspace.project.disk.held_still_in_steps(_read(workspace), seconds=LOOKED_AT_AGAIN_SECONDS)


def _read(workspace: Workspace) -> Steps[None]:
    count = 0
    for file in files_of_workspace(workspace.project):
        yield
        if file is None or file.path is None or file.document is not None:
            continue
        stamp = stamp_of(file.path)
        if not isinstance(stamp, tuple) or stamp[1] > LARGEST_BYTES:
            continue
        for _ in mentions_in(workspace, file):
            yield
        if file.kind == "task":
            yield from workspace.project.read_outline_in_steps(file.path)
        count += 1
        if count >= MOST_FILES:
            return
