"""Where the generated pages lie that hovers and diagnostics link to: in the package, so offline too."""

from __future__ import annotations

from functools import cache
from pathlib import Path


@cache
def documentation_folder() -> str:
    """Return the file URI of the folder with ``graders.md`` and ``diagnostics.md``, ending in a slash.

    An installed package carries the pages; in a checkout they are those of its ``docs`` folder.
    """
    package = Path(__file__).resolve().parent
    shipped = package / "docs"
    folder = shipped if shipped.is_dir() else package.parents[1] / "docs"
    return f"{folder.as_uri()}/"


def diagnostic_page(code: str) -> str:
    """Return the URI of a diagnostic's paragraph."""
    return f"{documentation_folder()}diagnostics.md#{code}"
