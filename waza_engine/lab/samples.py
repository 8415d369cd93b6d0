"""Strings that a grader may want or forbid: those in its configuration, and matches of its patterns."""

from __future__ import annotations

import importlib
import re
import string
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from waza_engine.graders.matching.patterns import PatternError, is_match
from waza_engine.spec.re2_adapter import as_parsable

MOST_SAMPLES = 40
_LONGEST = 2_000
_MOST_REPEATS = 200
_SYNTAX = frozenset("\\^$.|?*+()[]{}")
_PARSER = cast("Any", importlib.import_module("re._parser"))
_CONSTANTS = cast("Any", importlib.import_module("re._constants"))
_REPEATS = (_CONSTANTS.MAX_REPEAT, _CONSTANTS.MIN_REPEAT, _CONSTANTS.POSSESSIVE_REPEAT)
_CATEGORIES = {
    _CONSTANTS.CATEGORY_DIGIT: string.digits,
    _CONSTANTS.CATEGORY_SPACE: " \n\t",
    _CONSTANTS.CATEGORY_WORD: string.ascii_letters + string.digits + "_",
    _CONSTANTS.CATEGORY_NOT_DIGIT: string.ascii_letters,
    _CONSTANTS.CATEGORY_NOT_SPACE: string.ascii_letters,
    _CONSTANTS.CATEGORY_NOT_WORD: " .-",
}
_ANY = string.ascii_letters + string.digits + " .-_/\n"


@dataclass(frozen=True, slots=True)
class Samples:
    """Texts for a grader to notice; ``complete`` is false when there may be some that are not known."""

    texts: tuple[str, ...] = ()
    complete: bool = True


def samples_of(value: object) -> Samples:
    """Return the strings in a configuration, keys included, and strings that match its patterns."""
    return samples_of_texts(_texts_in(value))


def samples_of_texts(texts: Iterable[str]) -> Samples:
    """Return these strings and, for those that read as patterns, strings that match them."""
    known: dict[str, None] = {}
    complete = True
    for text in texts:
        if _SYNTAX.isdisjoint(text):
            known[text] = None
            continue
        matched = pattern_samples(text)
        complete = complete and bool(matched)
        known |= dict.fromkeys([*matched, text])
    return Samples(tuple(known)[:MOST_SAMPLES], complete and len(known) <= MOST_SAMPLES)


def samples_of_patterns(patterns: Iterable[str]) -> Samples:
    """Return strings that match these patterns; incomplete when none is found for one of them."""
    matched = {pattern: pattern_samples(pattern) for pattern in patterns}
    known = dict.fromkeys(text for texts in matched.values() for text in texts)
    complete = all(matched.values()) and len(known) <= MOST_SAMPLES
    return Samples(tuple(known)[:MOST_SAMPLES], complete)


def pattern_samples(pattern: str) -> Sequence[str]:
    """Return short strings that match the pattern, by search; nothing when none is found."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            parsed = _PARSER.parse(as_parsable(pattern))
        tries = [_Writer(choice).text(parsed) for choice in range(4)]
    except (re.error, RecursionError, OverflowError, ValueError):
        return ()
    return [text for text in dict.fromkeys(tries) if len(text) <= _LONGEST and _matches(pattern, text)]


def _matches(pattern: str, text: str) -> bool:
    try:
        return is_match(pattern, text)
    except PatternError:
        return False


def _texts_in(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for key, item in cast("Mapping[Any, Any]", value).items():
            yield from _texts_in(item)
            if isinstance(item, Mapping):
                yield from (str(name) for name in cast("Mapping[Any, Any]", item))
            del key
    elif isinstance(value, list | tuple):
        for item in cast("Sequence[Any]", value):
            yield from _texts_in(item)


class _Writer:
    """Generates one string of a parsed pattern; ``choice`` selects among alternatives."""

    def __init__(self, choice: int) -> None:
        self._choice = choice
        self._groups: dict[int, str] = {}

    def text(self, parsed: Any) -> str:
        return "".join(self._part(operation, argument) for operation, argument in parsed)

    def _part(self, operation: Any, argument: Any) -> str:
        if operation is _CONSTANTS.LITERAL:
            return chr(argument)
        if operation is _CONSTANTS.NOT_LITERAL:
            return _other_than({chr(argument)})
        if operation is _CONSTANTS.ANY:
            return "x"
        if operation is _CONSTANTS.IN:
            return self._one_of(argument)
        if operation is _CONSTANTS.BRANCH:
            ways = argument[1]
            return self.text(ways[self._choice % len(ways)])
        if operation in _REPEATS:
            least, most, repeated = argument
            # An even choice includes optional parts, too.
            times = max(least, 1 - self._choice % 2)
            return "".join(self.text(repeated) for _ in range(min(times, int(most), _MOST_REPEATS)))
        if operation is _CONSTANTS.SUBPATTERN:
            written = self.text(argument[-1])
            if argument[0] is not None:
                self._groups[argument[0]] = written
            return written
        if operation is _CONSTANTS.GROUPREF:
            return self._groups.get(argument, "")
        if operation is _CONSTANTS.ATOMIC_GROUP:
            return self.text(argument)
        return ""

    def _one_of(self, items: Sequence[Any]) -> str:
        chosen: list[str] = []
        for operation, argument in items:
            if operation is _CONSTANTS.LITERAL:
                chosen.append(chr(argument))
            elif operation is _CONSTANTS.RANGE:
                chosen += [chr(argument[0]), chr(argument[1])]
            elif operation is _CONSTANTS.CATEGORY:
                chosen.append(_CATEGORIES.get(argument, "x")[0])
        if items and items[0][0] is _CONSTANTS.NEGATE:
            return _other_than(_members(items[1:]))
        return chosen[self._choice % len(chosen)] if chosen else ""


def _members(items: Sequence[Any]) -> set[str]:
    members: set[str] = set()
    for operation, argument in items:
        if operation is _CONSTANTS.LITERAL:
            members.add(chr(argument))
        elif operation is _CONSTANTS.RANGE:
            members |= {each for each in _ANY if argument[0] <= ord(each) <= argument[1]}
        elif operation is _CONSTANTS.CATEGORY:
            members |= set(_CATEGORIES.get(argument, ""))
    return members


def _other_than(members: set[str]) -> str:
    return next((each for each in _ANY if each not in members), "~")
