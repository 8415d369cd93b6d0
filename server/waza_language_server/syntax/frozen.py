"""Records that are made by the hundred thousand: immutable for the type checker, cheap at run time.

A frozen dataclass sets each field through ``object.__setattr__``, which takes three times as long; reading a
long document was half that.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar, dataclass_transform

Record = TypeVar("Record")


@dataclass_transform(eq_default=False, frozen_default=True)
def frozen(record: type[Record]) -> type[Record]:
    """Make a class a record without equality of its own, whose fields the type checker lets nobody set."""
    return dataclass(slots=True, eq=False, weakref_slot=True)(record)
