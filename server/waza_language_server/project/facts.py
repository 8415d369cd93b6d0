"""Facts about a project are three-valued: known, absent, or unknown. Nothing warns on unknown.

A folder that cannot be read, a document that is on no disk, a file that is too large: then we do not know
which tasks there are, which is something else than knowing that there are none.
"""

from __future__ import annotations

from typing import Generic, Literal, TypeVar

from waza_engine.frozen import frozen

T = TypeVar("T", covariant=True)


@frozen()
class Fact(Generic[T]):
    """What is known of something. ``value`` is always usable: empty when the fact is absent or unknown.

    ``why`` says in words for a person why it is unknown.
    """

    state: Literal["known", "absent", "unknown"]
    value: T
    why: str = ""

    @property
    def known(self) -> bool:
        """Whether there is such a thing, and we know it."""
        return self.state == "known"

    @property
    def absent(self) -> bool:
        """Whether we know that there is no such thing."""
        return self.state == "absent"

    @property
    def unknown(self) -> bool:
        """Whether we cannot tell."""
        return self.state == "unknown"
