"""Lazy classes of the protocol, each completed at its first use: a session needs a seventh of them.

``lsprotocol`` has more than five hundred classes, and ``attrs`` writes and compiles methods for each of them
while it is imported: that was more than half of the start. Here a class is not processed until an object of
it is created or its fields are requested.

Architecture invariant: only ``attrs``, which makes the classes, is imported before it is needed.
"""

from __future__ import annotations

import sys
from collections.abc import Generator
from contextlib import contextmanager
from importlib import import_module
from threading import RLock
from typing import Any

_TYPES = "lsprotocol.types"
_MADE = "__attrs_attrs__"
"""The attribute by which ``attrs`` recognizes its own classes; it holds their fields."""
_making = RLock()


@contextmanager
def classes_made_later() -> Generator[None]:
    """Import the protocol library with classes that wait until they are wanted; it is used inside.

    Where it was imported before, its classes stay as they are.
    """
    if _TYPES not in sys.modules:
        attrs: Any = import_module("attrs")
        as_written = attrs.define, attrs.field
        attrs.define, attrs.field = _later, _Written
        try:
            import_module(_TYPES)
        finally:
            attrs.define, attrs.field = as_written
        # It would request the fields of every class; here each resolves its references when it is completed.
        import_module("lsprotocol._hooks").__dict__["_resolved_forward_references"] = True
    yield


def _later(cls: Any) -> Any:
    fields = _Fields(cls)

    def __init__(self: Any, *arguments: Any, **named: Any) -> None:  # noqa: N807
        fields.make()
        self.__init__(*arguments, **named)

    cls.__init__ = __init__
    setattr(cls, _MADE, fields)
    return cls


class _Written:
    """A field of a class as it is written."""

    __slots__ = ("options",)

    def __init__(self, **options: Any) -> None:
        self.options = options


class _Fields:
    """Placeholder for the fields of a class until they are requested."""

    def __init__(self, cls: Any) -> None:
        self._cls = cls

    def __get__(self, _instance: object, owner: type) -> object:
        self.make()
        return getattr(owner, _MADE)

    def make(self) -> None:
        """Complete the class once."""
        cls = self._cls
        with _making:
            if cls.__dict__.get(_MADE) is not self:
                return
            attrs: Any = import_module("attrs")
            for name, value in tuple(cls.__dict__.items()):
                if isinstance(value, _Written):
                    setattr(cls, name, attrs.field(**value.options))
            delattr(cls, _MADE)
            del cls.__init__
            # With slots it would be another class.
            attrs.define(cls, slots=False)
            attrs.resolve_types(cls, vars(sys.modules[_TYPES]), {})
