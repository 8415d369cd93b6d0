"""The commit of a run in a result file. Light, no models."""

from __future__ import annotations

from waza_engine.later_patterns import compiled_later
from waza_engine.results.json_values import Block, Json, block_of, text_of
from waza_engine.vocabulary import Commit

_HASH = compiled_later(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")


def commit_document(commit: Commit | None) -> Json | None:
    """Return a commit as an object: ``hash``, and ``dirty`` if known."""
    if commit is None:
        return None
    return {"hash": commit.hash, **({} if commit.dirty is None else {"dirty": commit.dirty})}


def commit_in(block: Block) -> Commit | None:
    """Return the ``commit`` of an object, None if it is missing or not a hash."""
    found = block_of(block, "commit")
    name, dirty = text_of(found.get("hash")), found.get("dirty")
    return Commit(name, dirty if isinstance(dirty, bool) else None) if _HASH.fullmatch(name) else None
