"""That something cannot get a name."""

from __future__ import annotations


class RenameError(ValueError):
    """What is under the cursor cannot get this name; the text says why."""
