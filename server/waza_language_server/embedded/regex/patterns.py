"""Editor features for patterns: diagnostics, explanations, highlighting."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Any, Literal

from waza_engine.frozen import frozen
from waza_engine.later_patterns import compiled_later
from waza_engine.spec.pattern_syntax import PatternSyntaxError, dialect_of
from waza_language_server.embedded.language import (
    NOWHERE,
    Checked,
    Explanation,
    Finding,
    Language,
    Rewrite,
    Surroundings,
    Token,
    TokenPart,
)
from waza_language_server.embedded.regex.parsing import SRE, parsed_pattern


class Patterns(Language):
    """Regular expressions, which run on RE2 if it accepts them, else on Python."""

    def check(self, value: str, around: Surroundings = NOWHERE) -> Checked:
        """Return the problems of a pattern that is invalid, or that upstream cannot compile."""
        return Checked(tuple(pattern_findings(value)))

    def hover(self, value: str, offset: int, around: Surroundings = NOWHERE) -> Explanation | None:
        """Explain the entire pattern, at any offset in it."""
        from waza_language_server.embedded.regex.explanation import explained

        text = explained(value, any_case=around.any_case)
        return Explanation(0, len(value), text) if text is not None else None

    def tokens(self, value: str) -> Iterator[Token]:
        """Yield the tokens to highlight."""
        for match in _PART.finditer(value):
            kind = match.lastgroup or "text"
            if kind == "escape":
                letter = match[0][1:2]
                part: TokenPart = (
                    "class" if letter in _CLASS_NAMES else "anchor" if letter in _ANCHORS else "escape"
                )
                if not letter:
                    part = "escape"
            else:
                part = _PARTS[kind]
            yield Token(match.start(), match.end(), "regexp", part)


_CLASS_NAMES = frozenset("dDwWsS")
_ANCHORS = frozenset("bBAzZG")
# Possessive throughout: no character is scanned twice.
_PART = compiled_later(
    r"""(?P<literal>\\Q(?:(?!\\E).)*+(?:\\E)?)
    |(?P<property>\\[pP](?:\{\^?[\w=-]*+\}|[A-Za-z]))
    |(?P<escape>\\(?:x\{[0-9A-Fa-f]*+\}|x[0-9A-Fa-f]{0,2}|u[0-9A-Fa-f]{0,4}|[0-7]{1,3}|.)?)
    |(?P<class>\[\^?\]?(?:\[:\^?[a-z]*+:\]|\\.|[^\]\\])*+\]?)
    |(?P<group>\((?:\?(?:P?<[=!]|P?<\w*+>?|P=\w*+|\#[^)]*+|[imsUaLux-]*+:?|[=!:>|]|\([\w]*+\)?))?+|\))
    |(?P<quantifier>(?:[*+?]|\{[0-9]*+(?:,[0-9]*+)?\})[?+]?)
    |(?P<anchor>[\^$])
    |(?P<alternation>\|)
    |(?P<any>\.)
    |(?P<text>[^\\\[\](){}*+?|^$.]++|.)""",
    re.VERBOSE | re.DOTALL,
)
_PARTS: dict[str, TokenPart] = {
    "group": "group",
    "quantifier": "quantifier",
    "anchor": "anchor",
    "alternation": "alternation",
    "class": "class",
    "property": "class",
    "any": "class",
    "literal": "",
    "text": "",
}


_PYTHON_ONLY: tuple[tuple[re.Pattern[str], str], ...] = (
    (compiled_later(r"\(\?<?[=!]"), "look-around"),
    (compiled_later(r"\\[1-9]|\(\?P="), "a back-reference"),
    (compiled_later(r"\(\?>|[*+?}]\+"), "an atomic group or possessive repeat"),
    (compiled_later(r"\(\?\("), "a conditional"),
    (compiled_later(r"\(\?#"), "a comment group"),
    (compiled_later(r"\\Z"), r"`\Z` (RE2 writes `\z`)"),
    (compiled_later(r"\\u|\\N"), "a Unicode escape"),
    (
        compiled_later(r"\{\d*,?(?:1\d{3}(?<!1000)|[2-9]\d{3}|\d{5,})(?:,\d*)?\}"),
        "a repeat of more than 1,000 times",
    ),
)
_OPEN_FLAGS = compiled_later(r"\(\?[imsU]+(?![imsU:)-])")
"""Flags for the entire pattern whose closing bracket is missing."""
_LONGEST_REPAIRED = 1_000
_CLOSINGS = {"(": ("group", (")", "))")), "[": ("set", ("]", "])"))}
# Possessive: a bracket that is not closed must not be scanned again from the next one.
_CLASSES = compiled_later(r"\\.|\[(?:\\.|[^\]\\])*+\]?", re.DOTALL)


@frozen()
class PatternFault:
    """The problem of a pattern and its offsets; equal offsets mean anywhere."""

    kind: Literal["invalid", "python-only"]
    start: int
    end: int
    why: str
    replacement: str | None = None


def pattern_findings(pattern: str) -> Sequence[Finding]:
    """Return the problems of a pattern: invalid, not portable, perhaps slow."""
    fault = pattern_fault(pattern)
    if fault is None:
        return ()
    new = fault.replacement
    rewrites = (Rewrite(f"Write `{new}`", (new,), preferred=True),) if new is not None else ()
    if fault.kind == "invalid":
        message = f"This regular expression is invalid: {fault.why}."
        flags = _OPEN_FLAGS.match(pattern)
        if flags is not None and flags.end() in (fault.start, fault.start + 1):
            message = f"This regular expression is invalid: `{flags[0]}` is not closed; write `{flags[0]})`."
        rewrites = (*rewrites, *_repairs(pattern, fault.start))
        return (Finding("invalid-pattern", fault.start, fault.end, message, rewrites),)
    message = f"Only this engine understands {fault.why}; upstream's RE2 refuses the pattern."
    portable = Finding("pattern-not-portable", fault.start, fault.end, message, rewrites)
    if len(pattern) > _LONGEST_REPAIRED or not is_catastrophic(pattern):
        return (portable,)
    slow = (
        "The run time of this pattern doubles with each character of an answer that does not match; "
        "repeat only once: `a+` instead of `(a+)+`."
    )
    return (portable, Finding("slow-pattern", 0, 0, slow))


@lru_cache(maxsize=1024)
def pattern_fault(pattern: str) -> PatternFault | None:
    """Return the problem of a pattern, or None if RE2 accepts it."""
    try:
        dialect = dialect_of(pattern)
    except PatternSyntaxError as error:
        start, end = _error_range(pattern, error.position)
        return PatternFault("invalid", start, end, str(error), _portable(pattern))
    if dialect != "python":
        return None
    replacement = _portable(pattern)
    # Without the content of sets, where the same characters mean themselves.
    outside = _CLASSES.sub(lambda found: " " * len(found[0]) if found[0][0] == "[" else found[0], pattern)
    for written, meaning in _PYTHON_ONLY:
        match = written.search(outside)
        if match is not None:
            return PatternFault("python-only", match.start(), match.end(), meaning, replacement)
    return PatternFault("python-only", 0, 0, "this pattern", replacement)


def _portable(pattern: str) -> str | None:
    r"""Return an equivalent pattern for RE2 if only the syntax differs: ``\Z`` at the end."""
    if not pattern.endswith(r"\Z") or pattern.endswith(r"\\Z"):
        return None
    candidate = pattern[:-2] + r"\z"
    return candidate if pattern_fault(candidate) is None else None


def _repairs(pattern: str, at: int) -> Sequence[Rewrite]:
    """Return the valid patterns after one repair: closed at the end, or a character escaped or deleted."""
    if len(pattern) > _LONGEST_REPAIRED:
        return ()
    flags = _OPEN_FLAGS.match(pattern)
    if flags is not None:
        closed = f"{flags[0]}){pattern[flags.end() :].lstrip(' ')}"
        # Any other repair would leave the flags as literal text.
        return [Rewrite(f"Write `{flags[0]})`", (closed,))] if pattern_fault(closed) is None else ()
    sign = pattern[at : at + 1]
    what, closings = _CLOSINGS.get(sign, ("", ()))
    candidates = [(f"Close the {what} at the end", pattern + closing) for closing in closings]
    if sign in set("()[*+?\\"):
        candidates.append((f"Write `\\{sign}` for the character itself", f"{pattern[:at]}\\{pattern[at:]}"))
        candidates.append((f"Delete the `{sign}`", pattern[:at] + pattern[at + 1 :]))
    return [Rewrite(title, (new,)) for title, new in candidates if pattern_fault(new) is None]


def _error_range(pattern: str, position: int | None) -> tuple[int, int]:
    if position is None or not pattern:
        return 0, 0
    start = min(position, len(pattern) - 1)
    return start, start + 1


def is_catastrophic(pattern: str) -> bool:
    """Return whether Python may need exponential time to find that a string does not match."""
    parsed = parsed_pattern(pattern)
    return parsed is not None and _in_sequence(list(parsed), can_fail=False)


def _in_sequence(items: Sequence[Any], *, can_fail: bool) -> bool:
    for index, item in enumerate(items):
        later = can_fail or any(_may_refuse(other) for other in items[index + 1 :])
        if _in_item(item, can_fail=later):
            return True
    return False


def _in_item(item: Any, *, can_fail: bool) -> bool:
    op, value = item
    if op in _repeats() and value[1] == SRE.MAXREPEAT:
        body = list(value[2])
        return (can_fail and _is_elastic(body)) or _in_sequence(body, can_fail=can_fail)
    return any(
        _in_sequence(body, can_fail=can_fail and op not in (SRE.ASSERT, SRE.ASSERT_NOT))
        for body in _bodies(item)
    )


def _is_elastic(body: Sequence[Any]) -> bool:
    """Return whether a repeated part can be split anywhere: an unbounded repeat, nothing else required."""
    needed = [item for item in body if not _is_nullable(item)]
    if len(needed) > 1:
        return False
    elastic = needed or [item for item in body if _is_unbounded(item)]
    return any(_is_unbounded(item) for item in elastic)


def _is_unbounded(item: Any) -> bool:
    op, value = item
    if op in _repeats():
        return value[1] == SRE.MAXREPEAT or _is_elastic(list(value[2]))
    if op == SRE.SUBPATTERN:
        return _is_elastic(list(value[3]))
    if op == SRE.BRANCH:
        return any(_is_elastic(list(branch)) for branch in value[1])
    return False


def _is_nullable(item: Any) -> bool:
    op, value = item
    if op in _repeats():
        return value[0] == 0 or all(_is_nullable(each) for each in value[2])
    if op == SRE.SUBPATTERN:
        return all(_is_nullable(each) for each in value[3])
    if op == SRE.BRANCH:
        return any(all(_is_nullable(each) for each in branch) for branch in value[1])
    return op in (SRE.AT, SRE.ASSERT, SRE.ASSERT_NOT)


def _may_refuse(item: Any) -> bool:
    return item[0] in (
        SRE.AT,
        SRE.ASSERT,
        SRE.ASSERT_NOT,
        SRE.GROUPREF,
    ) or not _is_nullable(item)


def _bodies(item: Any) -> Iterable[list[Any]]:
    op, value = item
    if op in _repeats():
        yield list(value[2])
    elif op == SRE.SUBPATTERN:
        yield list(value[3])
    elif op == SRE.BRANCH:
        yield from (list(branch) for branch in value[1])
    elif op in (SRE.ASSERT, SRE.ASSERT_NOT):
        yield list(value[1])


def _repeats() -> tuple[Any, Any]:
    return SRE.MAX_REPEAT, SRE.MIN_REPEAT
