"""An empty eval file offers a suite for each skill around it; the engine drafts it when one is chosen."""

from __future__ import annotations

from typing import TYPE_CHECKING

from waza_engine.frozen import frozen
from waza_language_server.project.nearby import Nearby
from waza_language_server.project.skills import unlikeliness
from waza_language_server.project.uris import path_of, uri_of

if TYPE_CHECKING:
    from waza_language_server.project.document import Document
    from waza_language_server.project.workspace import Workspace

NEW_SUITE = "waza.newSuite"
MOST_OFFERED = 20


@frozen()
class SuiteOffer:
    """A suite that can be created in the document; ``argument`` is that of the command ``waza.newSuite``."""

    title: str
    skill: str
    argument: dict[str, str]


def title_of_offer(skill: str) -> str:
    """Return the title of the offer to create a suite for a skill."""
    return f"New suite for skill {skill}"


def suite_offers(document: Document, workspace: Workspace) -> tuple[SuiteOffer, ...]:
    """Return the suites that can be created in an empty eval file, the likeliest first."""
    path = path_of(document.uri)
    if path is None or document.kind != "eval":
        return ()
    skills = Nearby(workspace.project, document).skill_files()
    roots = workspace.project.roots
    # The sort is stable: among equally likely ones, the nearest comes first.
    ordered = sorted(skills.items(), key=lambda each: unlikeliness(path.parent, each[1], roots, each[0]))
    return tuple(
        SuiteOffer(title_of_offer(name), name, {"skill": uri_of(file), "uri": document.uri})
        for file, name in ordered[:MOST_OFFERED]
    )
