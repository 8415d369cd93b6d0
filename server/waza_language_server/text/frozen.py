"""Records that are made by the hundred thousand: immutable for the type checker, cheap at run time.

A frozen dataclass sets each field through ``object.__setattr__``, which takes three times as long; reading a
long document was half that.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar, dataclass_transform

Record = TypeVar("Record")


@dataclass_transform(frozen_default=True)
def frozen(*, eq: bool = True, order: bool = False) -> Callable[[type[Record]], type[Record]]:
    """Make a class a record whose fields the type checker lets nobody set.

    Without ``eq`` records are equal to themselves alone, and can be keys of weak dictionaries.
    """

    def make(record: type[Record]) -> type[Record]:
        return dataclass(slots=True, eq=eq, order=order, unsafe_hash=eq, weakref_slot=not eq)(record)

    return make
