"""Records: what frozen dataclasses of the standard library can, but for refusing to be set when they run."""

from __future__ import annotations

import copy
import pickle
import weakref
from dataclasses import dataclass, field, fields, replace

import pytest

from waza_engine.frozen import frozen


@frozen(order=True)
class Place:
    """A place."""

    line: int
    column: int = 0
    names: tuple[str, ...] = ()


@frozen()
class Box:
    place: Place
    notes: list[str] = field(default_factory=list[str])
    seen: list[int] = field(default_factory=list[int], init=False, compare=False, repr=False)


@frozen(eq=False)
class Thing:
    name: str


@frozen()
class Nothing:
    """Nothing is in it."""


@frozen()
class Named:
    """It says itself how it looks and what it equals."""

    name: str

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Named) and other.name.lower() == self.name.lower()

    def __hash__(self) -> int:
        return hash(self.name.lower())

    def __repr__(self) -> str:
        return f"<{self.name}>"


@dataclass(frozen=True, slots=True, order=True)
class Standard:
    line: int
    column: int = 0
    names: tuple[str, ...] = ()


def test_fields_are_given_by_place_or_by_name_and_defaults_fill_the_rest() -> None:
    assert (Place(1).line, Place(1).column, Place(1, names=("a",)).names) == (1, 0, ("a",))


def test_a_missing_or_unknown_field_is_refused() -> None:
    with pytest.raises(TypeError, match="line"):
        Place()  # pyright: ignore[reportCallIssue]
    with pytest.raises(TypeError, match="row"):
        Place(row=1)  # pyright: ignore[reportCallIssue]


def test_defaults_that_are_made_are_made_for_each_record() -> None:
    one, other = Box(Place(1)), Box(Place(1))
    one.notes.append("note")
    one.seen.append(1)
    assert (other.notes, other.seen) == ([], [])


def test_records_are_equal_by_the_fields_that_count() -> None:
    one = Box(Place(1), ["a"])
    one.seen.append(1)
    assert one == Box(Place(1), ["a"])
    assert one != Box(Place(2), ["a"])
    assert Place(1) != Standard(1)
    assert len({Place(1), Place(1), Place(1, 2)}) == 2


def test_order_hash_and_form_are_those_of_the_standard_library() -> None:
    rows = [(2, 1, ("a",)), (1, 2, ()), (1, 1, ("b",)), (1, 1, ())]
    ours, theirs = [Place(*row) for row in rows], [Standard(*row) for row in rows]
    assert [(p.line, p.column, p.names) for p in sorted(ours)] == [
        (p.line, p.column, p.names) for p in sorted(theirs)
    ]
    assert max(ours) >= min(ours)
    assert max(ours) > min(ours)
    assert [hash(each) for each in ours] == [hash(each) for each in theirs]
    assert [repr(each).replace("Place", "Standard") for each in ours] == [repr(each) for each in theirs]


def test_what_is_hidden_is_not_shown() -> None:
    assert repr(Box(Place(1))) == "Box(place=Place(line=1, column=0, names=()), notes=[])"


def test_a_record_is_a_dataclass() -> None:
    assert [each.name for each in fields(Box)] == ["place", "notes", "seen"]
    assert replace(Place(1, 2), line=5) == Place(5, 2)
    match Place(1, 2):
        case Place(line, column):
            assert (line, column) == (1, 2)


def test_a_record_has_no_other_attributes() -> None:
    with pytest.raises(AttributeError):
        object.__setattr__(Place(1), "row", 1)


def test_without_eq_each_record_is_equal_to_itself_alone() -> None:
    thing = Thing("a")
    assert thing != Thing("a")
    assert weakref.WeakKeyDictionary({thing: 1})[thing] == 1


def test_records_without_fields_are_equal() -> None:
    assert Nothing() == Nothing()
    assert {Nothing(), Nothing()} == {Nothing()}


def test_what_a_class_says_itself_holds() -> None:
    assert Named("A") == Named("a")
    assert len({Named("A"), Named("a")}) == 1
    assert repr(Named("A")) == "<A>"


def test_records_are_copied_and_kept() -> None:
    assert copy.deepcopy(Box(Place(1), ["a"])) == Box(Place(1), ["a"])
    assert pickle.loads(pickle.dumps(Place(1, 2))) == Place(1, 2)
