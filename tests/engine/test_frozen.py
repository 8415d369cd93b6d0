"""Records differ from frozen dataclasses in a few ways."""

import weakref
from dataclasses import fields

import pytest

from waza_engine.frozen import frozen


@frozen()
class Place:
    line: int
    names: tuple[str, ...] = ()


@frozen(eq=False)
class Thing:
    name: str


@frozen()
class Named:
    """It defines its own equality."""

    name: str

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Named) and other.name.lower() == self.name.lower()

    def __hash__(self) -> int:
        return hash(self.name.lower())


def test_a_record_is_a_hashable_dataclass_without_other_attributes() -> None:
    assert [each.name for each in fields(Place)] == ["line", "names"]
    assert len({Place(1), Place(1), Place(2)}) == 2
    with pytest.raises(AttributeError):
        object.__setattr__(Place(1), "row", 1)


def test_without_eq_each_record_is_equal_to_itself_alone() -> None:
    thing = Thing("a")
    assert thing != Thing("a")
    assert weakref.WeakKeyDictionary({thing: 1})[thing] == 1


def test_equality_that_a_class_defines_itself_holds() -> None:
    assert len({Named("A"), Named("a")}) == 1
