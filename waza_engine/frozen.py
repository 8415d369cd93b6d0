"""Records: immutable for the type checker, cheap to define and to make.

A frozen dataclass sets each field through ``object.__setattr__``, which takes three times as long; reading a
long document was half that. And the standard library compiles six functions for each class, half a
millisecond: a hundred classes were a third of the time until the first file was looked at. Here one is
compiled, the others are the same for all records.

Architecture invariant: light, and a record is a dataclass to all that look at it (``fields``, ``replace``).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import MISSING, Field, dataclass, field, fields
from operator import attrgetter
from reprlib import recursive_repr
from typing import Any, TypeVar, cast, dataclass_transform

Record = TypeVar("Record")


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def frozen(
    *, eq: bool = True, order: bool = False, slots: bool = True
) -> Callable[[type[Record]], type[Record]]:
    """Make a class a record whose fields the type checker lets nobody set.

    Without ``eq`` records are equal to themselves alone, and can be keys of weak dictionaries. Fields may
    have what ``dataclasses.field`` says, but for ``kw_only``; a base class must be no record.
    Without ``slots`` it may have cached properties.
    """

    def make(record: type[Record]) -> type[Record]:
        written = record.__dict__
        # It would be made of the signature, which takes as long as all the rest.
        if written.get("__doc__") is None:
            record.__doc__ = record.__name__
        made = dataclass(init=False, repr=False, eq=False, slots=slots, weakref_slot=slots and not eq)(record)
        known = fields(cast("Any", made))
        methods: dict[str, Any] = {"__init__": _init(made, known), "__repr__": _repr}
        if eq:
            methods |= _comparisons(tuple(each.name for each in known if each.compare), order=order)
        for name, method in methods.items():
            if name not in written or (name == "__hash__" and written[name] is None):
                setattr(made, name, method)
        return made

    return make


def _init(record: type[Any], known: tuple[Field[Any], ...]) -> Callable[..., None]:
    """Return what sets all fields: the one function that is compiled for a record."""
    names: dict[str, object] = {}
    parameters, lines = ["self"], list[str]()
    for each in known:
        name, value = each.name, each.name
        if each.default_factory is not MISSING:
            names[f"_make_{name}"] = each.default_factory
            value = f"_make_{name}() if {name} is _missing else {name}" if each.init else f"_make_{name}()"
            default = "=_missing"
        elif each.default is not MISSING:
            names[f"_default_{name}"] = each.default
            default = f"=_default_{name}"
            value = name if each.init else f"_default_{name}"
        else:
            default = ""
        if each.init:
            parameters.append(f"{name}{default}")
        lines.append(f"    self.{name} = {value}")
    names["_missing"] = MISSING
    source = f"def __init__({', '.join(parameters)}):\n" + ("\n".join(lines) or "    pass")
    exec(compile(source, "<record>", "exec"), names)
    init = cast("Any", names["__init__"])
    init.__qualname__ = f"{record.__qualname__}.__init__"
    init.__module__ = record.__module__
    return init


def _comparisons(names: tuple[str, ...], *, order: bool) -> dict[str, Callable[..., Any]]:
    """Return how records are compared: by their fields, with those of the same class alone."""
    values = _values(names)

    def equal(one: Any, other: object) -> bool:
        return values(one) == values(other) if other.__class__ is one.__class__ else NotImplemented

    def number(one: Any) -> int:
        return hash(values(one))

    found: dict[str, Callable[..., Any]] = {"__eq__": equal, "__hash__": number}
    if order:

        def less(one: Any, other: object) -> bool:
            return values(one) < values(other) if other.__class__ is one.__class__ else NotImplemented

        def at_most(one: Any, other: object) -> bool:
            return values(one) <= values(other) if other.__class__ is one.__class__ else NotImplemented

        # Greater is what less is the other way round: Python asks the other one then.
        found |= {"__lt__": less, "__le__": at_most}
    return found


def _values(names: tuple[str, ...]) -> Callable[[object], tuple[Any, ...]]:
    """Return what takes the values of some fields out of a record, as a tuple whatever their number."""
    if len(names) > 1:
        return cast("Callable[[object], tuple[Any, ...]]", attrgetter(*names))
    return lambda record: tuple(getattr(record, name) for name in names)


@recursive_repr()
def _repr(record: Any) -> str:
    shown = (f"{each.name}={getattr(record, each.name)!r}" for each in fields(record) if each.repr)
    return f"{type(record).__qualname__}({', '.join(shown)})"
