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
    """A tri-state value. ``value`` is always usable: empty if the state is absent or unknown.

    ``why`` tells a person why it is unknown.
    """

    state: Literal["known", "absent", "unknown"]
    value: T
    why: str = ""

    @property
    def known(self) -> bool:
        """Return whether the thing exists and was read."""
        return self.state == "known"

    @property
    def absent(self) -> bool:
        """Return whether the thing is known not to exist."""
        return self.state == "absent"

    @property
    def unknown(self) -> bool:
        """Return whether neither could be determined."""
        return self.state == "unknown"
