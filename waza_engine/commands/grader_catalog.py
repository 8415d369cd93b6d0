"""The grader types that this environment knows, for an editor: names, documentation and schemas."""

from __future__ import annotations

import inspect
from typing import Any

from waza_engine.graders.registry import BUILT_IN_TYPES, custom_types, grader_types, plugin_problems
from waza_engine.schemas.grader_entries import grader_schema


def grader_catalog(*, custom_only: bool) -> dict[str, Any]:
    """Return ``{"types": […], "problems": […]}``.

    A type is ``{type, title, built_in, documentation, schema}``; ``schema`` is that of a whole grader entry.
    A custom type that cannot be described, and a plug-in that cannot be loaded, is one sentence under
    ``problems``; the others are there all the same.
    """
    known = dict(custom_types()) if custom_only else {**grader_types(), **custom_types()}
    types: list[dict[str, Any]] = []
    problems = list(plugin_problems())
    for name, grader in known.items():
        try:
            schema = grader_schema(grader)
        except Exception as error:  # noqa: BLE001 - a type of somebody else must not hide the others
            problems.append(f"the grader type `{name}` cannot be described: {error}")
            continue
        types.append(
            {
                "type": name,
                "title": grader.title,
                "built_in": name in BUILT_IN_TYPES,
                "documentation": inspect.getdoc(grader) or "",
                "schema": schema,
            }
        )
    return {"types": types, "problems": problems}
