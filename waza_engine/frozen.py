"""Records: dataclasses that the type checker treats as frozen.

They are not frozen at run time: a frozen dataclass takes three times as long to create.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar, dataclass_transform

Record = TypeVar("Record")


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def frozen(
    *, eq: bool = True, order: bool = False, slots: bool = True
) -> Callable[[type[Record]], type[Record]]:
    """Make a class a record whose fields are read-only for the type checker.

    Without ``eq`` records are equal to themselves alone, and can be keys of weak dictionaries. Without
    ``slots`` a record may have cached properties.
    """

    def make(record: type[Record]) -> type[Record]:
        # Without one it is made of the signature, which takes a quarter of the time.
        record.__doc__ = record.__doc__ or record.__name__
        has_hash = "__hash__" in record.__dict__
        return dataclass(
            eq=eq, unsafe_hash=eq and not has_hash, order=order, slots=slots, weakref_slot=slots and not eq
        )(record)

    return make
