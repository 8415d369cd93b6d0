"""That something cannot get a name."""

from __future__ import annotations


class RenameError(ValueError):
    """The symbol under the cursor cannot get this name; the text says why."""
