"""The parameters of an ``eval.run`` request to the engine."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from waza_language_server.project.runnable_id import RunnableId


def request_of(target: RunnableId) -> dict[str, Any]:
    """Return the parameters of the ``eval.run`` request for a target."""
    request: dict[str, Any] = {"path": str(target.suite)}
    if target.task is not None:
        request["tasks"] = [literal_glob(target.task)]
    if target.grader is not None:
        request["graders"] = [target.grader]
    if target.prompt is not None:
        request["prompts"] = [literal_glob(target.prompt)]
    return request


def literal_glob(text: str) -> str:
    """Return a glob that matches this text alone: ``tasks`` and ``prompts`` of ``eval.run`` are patterns."""
    return "".join(f"[{char}]" if char in "*?[" else char for char in text)


def text_of_glob(glob: str) -> str:
    """Return the text that a literal glob matches."""
    for char in "*?[":
        glob = glob.replace(f"[{char}]", char)
    return glob
