"""Changes of several files that are applied, and undone, together.

A file is identified by its URI, because some open documents are not on disk. Its edits come with the text
that they were created for, so that the caller can check that it is current, and count its lines.
"""

from __future__ import annotations

from collections.abc import Iterable

from waza_engine.frozen import frozen
from waza_engine.later_patterns import compiled_later
from waza_language_server.text.edit import Edit, Edits, FileCreation
from waza_language_server.text.span import Span


@frozen()
class FileLocation:
    """A location in a file; ``text`` is the content of the file."""

    uri: str
    text: str
    span: Span


@frozen()
class FileEdit:
    """The edits of one file, none of which overlap; ``text`` is its content before them."""

    uri: str
    text: str
    edits: Edits


@frozen()
class FileRename:
    """A new name, or a new folder, for a file; the new name must not exist yet."""

    uri: str
    new_uri: str


@frozen()
class FileDeletion:
    """A file to delete."""

    uri: str


@frozen()
class WorkspaceEdit:
    """Edits, then new files, then renames: the edits of a renamed file use its old name.

    Deletions come last.
    """

    files: tuple[FileEdit, ...] = ()
    creations: tuple[FileCreation, ...] = ()
    renames: tuple[FileRename, ...] = ()
    deletions: tuple[FileDeletion, ...] = ()

    @staticmethod
    def of(places: Iterable[tuple[FileLocation, str]]) -> WorkspaceEdit:
        """Return the edit that replaces each location with a string, grouped by file and in order."""
        found: dict[tuple[str, str], dict[Span, Edit]] = {}
        for place, text in places:
            found.setdefault((place.uri, place.text), {})[place.span] = Edit(place.span, text)
        return WorkspaceEdit(
            tuple(
                FileEdit(uri, text, tuple(edits[span] for span in sorted(edits)))
                for (uri, text), edits in found.items()
            )
        )


_FILE_NAME = compiled_later(r"[\w][\w.+=@~ -]*(?<![. ])")
_DEVICE = compiled_later(r"(?i)(?:con|prn|aux|nul|com\d|lpt\d)(?:\..*)?")
"""Device names of Windows, with any extension."""
LONGEST = 200
"""In bytes; file systems allow 255 of them."""


def is_file_name(name: str) -> bool:
    """Return whether a word can be the name of a file, with an extension added."""
    is_short = len(name.encode(errors="replace")) <= LONGEST
    return is_short and _FILE_NAME.fullmatch(name) is not None and _DEVICE.fullmatch(name) is None
