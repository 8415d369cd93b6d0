r"""A pattern explained in words: its parts in order, with its numbered groups.

The explanation follows Python's own parser; a pattern for RE2 is first translated to Python's syntax. If the
two give the same characters different meanings, the words are those of the engine that searches the pattern.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from waza_engine.frozen import frozen
from waza_engine.later_patterns import compiled_later
from waza_engine.markdown import code
from waza_engine.spec.pattern_syntax import DEEPEST_NESTING, PatternSyntaxError, dialect_of
from waza_engine.spec.re2_adapter import as_python
from waza_language_server.embedded.regex.parsing import SRE, parsed_pattern

MOST_LINES = 60
LONGEST = 2_000
"""In characters; longer patterns are not explained."""

_LOST_SPACES = compiled_later(r"\A +| +\Z| {2,}")


def explained(pattern: str, *, any_case: bool = False) -> str | None:
    """Return the pattern's explanation in Markdown, None if it is empty, invalid or too long.

    ``any_case`` is true if the grader ignores case, whatever the pattern says.
    """
    if not pattern or len(pattern) > LONGEST:
        return None
    try:
        dialect = dialect_of(pattern)
    except PatternSyntaxError:
        return None
    is_re2 = dialect != "python"
    parsed = parsed_pattern(as_python(pattern) if is_re2 else pattern)
    engine = "RE2" if is_re2 else "Python"
    heading = f"**Regular expression** · searched anywhere in the text by {engine}"
    if parsed is None:
        return f"{heading}\n\nIts spelling is RE2's own, so its parts are not explained one by one."
    names = {number: name for name, number in parsed.state.groupdict.items()}
    words = _Words(is_re2, names, parsed.state.flags)
    lines = list(words.of(parsed, 0))
    if len(lines) > MOST_LINES:
        lines = [*lines[:MOST_LINES], f"- … and {len(lines) - MOST_LINES} more parts"]
    flags = _flags(parsed.state.flags | (re.IGNORECASE if any_case else 0))
    parts = [heading]
    if flags:
        parts.append(f"For all of it: {flags}.")
    parts.append("\n".join(lines))
    if not is_re2:
        parts.append("RE2, which upstream uses, refuses this pattern; this engine searches it with Python.")
    return "\n\n".join(parts)


@frozen()
class _Words:
    """The words for the parts of a pattern, as lines of a list; ``names`` are those of its groups."""

    is_re2: bool
    names: dict[int, str]
    flags: int

    def of(self, parsed: Any, depth: int) -> Iterator[str]:
        text = ""
        for operation, argument in parsed:
            if operation is SRE.LITERAL:
                text += chr(argument)
                continue
            if text:
                yield _line(depth, _text(text))
                text = ""
            yield from self._part(operation, argument, depth, "")
        if text:
            yield _line(depth, _text(text))

    def _part(self, operation: Any, argument: Any, depth: int, times: str) -> Iterator[str]:
        if depth > DEEPEST_NESTING:
            return
        if operation in {SRE.MAX_REPEAT, SRE.MIN_REPEAT, SRE.POSSESSIVE_REPEAT}:
            yield from self._repeat(operation, argument, depth)
        elif operation is SRE.SUBPATTERN:
            number, added, removed, inside = argument
            yield _line(depth, times + self._group(number, added, removed))
            within = replace(self, flags=(self.flags | added) & ~removed)
            yield from within.of(inside, depth + 1)
        elif operation is SRE.BRANCH:
            yield _line(depth, f"{times}one of these:")
            for position, branch in enumerate(argument[1], 1):
                yield _line(depth + 1, f"alternative {position}" + ("" if list(branch) else ": nothing"))
                yield from self.of(branch, depth + 2)
        elif operation in {SRE.ASSERT, SRE.ASSERT_NOT}:
            direction, inside = argument
            place = "followed" if direction > 0 else "preceded"
            yield _line(depth, f"only where {'not ' if operation is SRE.ASSERT_NOT else ''}{place} by:")
            yield from self.of(inside, depth + 1)
        else:
            yield _line(depth, times + self._single(operation, argument))

    def _repeat(self, operation: Any, argument: Any, depth: int) -> Iterator[str]:
        least, most, inside = argument
        times = _times(int(least), None if most is SRE.MAXREPEAT else int(most))
        if operation is SRE.MIN_REPEAT:
            times += ", as few as possible"
        elif operation is SRE.POSSESSIVE_REPEAT:
            times += ", giving nothing back"
        parts = list(inside)
        if len(parts) == 1:
            ((operation, argument),) = parts
            yield from self._part(operation, argument, depth, f"{times}: ")
        else:
            yield _line(depth, f"{times}:")
            yield from self.of(inside, depth + 1)

    def _group(self, number: int | None, added: int, removed: int) -> str:
        words = "a group" if number is None else f"group {number}"
        if number in self.names:
            words += f", called {code(self.names[number])}"
        flags = [text for text in (_flags(added), f"without: {_flags(removed)}" if removed else "") if text]
        return f"{words}{', ' if flags else ''}{'; '.join(flags)}:"

    def _single(self, operation: Any, argument: Any) -> str:
        if operation is SRE.LITERAL:
            return _text(chr(argument))
        if operation is SRE.NOT_LITERAL:
            return f"a character other than {_character(argument)}"
        if operation is SRE.ANY:
            return "any character" if self.flags & re.DOTALL else "any character but a line break"
        if operation is SRE.GROUPREF:
            return f"the text that group {argument} matched"
        if operation is SRE.AT:
            return self._place(argument)
        if operation is SRE.IN:
            return self._class(argument)
        return "a part that no text has" if operation is SRE.FAILURE else "a part"

    def _place(self, place: Any) -> str:
        if self.flags & re.MULTILINE and place in {SRE.AT_BEGINNING, SRE.AT_END}:
            return "the start of a line" if place is SRE.AT_BEGINNING else "the end of a line"
        if place is SRE.AT_END:
            return "the end of the text" if self.is_re2 else "the end of the text, or of its last line"
        kind = "ASCII letter, digit or `_`" if self.is_re2 else "letter, digit or `_`"
        known = {
            SRE.AT_BEGINNING: "the start of the text",
            SRE.AT_BEGINNING_STRING: "the start of the text",
            SRE.AT_END_STRING: "the end of the text",
            SRE.AT_BOUNDARY: f"a word boundary (of a run of {kind})",
            SRE.AT_NON_BOUNDARY: "a position that is not a word boundary",
        }
        return known.get(place, "a place")

    def _class(self, members: Any) -> str:
        negated = bool(members) and members[0][0] is SRE.NEGATE
        listed = [self._member(*member) for member in members if member[0] is not SRE.NEGATE]
        if len(listed) == 1 and not negated:
            return listed[0]
        lead = "a character that is none of" if negated else "one of"
        return f"{lead}: {', '.join(listed)}"

    def _member(self, operation: Any, argument: Any) -> str:
        if operation is SRE.LITERAL:
            return _character(argument)
        if operation is SRE.RANGE:
            return f"{_character(argument[0])} to {_character(argument[1])}"
        kind = "ASCII " if self.is_re2 else ""
        known = {
            SRE.CATEGORY_DIGIT: f"{_article(kind)}digit",
            SRE.CATEGORY_NOT_DIGIT: f"a character that is no {kind}digit",
            SRE.CATEGORY_SPACE: f"{_article(kind)}whitespace character",
            SRE.CATEGORY_NOT_SPACE: f"a character that is no {kind}whitespace",
            SRE.CATEGORY_WORD: f"{_article(kind)}letter, digit or `_`",
            SRE.CATEGORY_NOT_WORD: f"a character that is no {kind}letter, digit or `_`",
        }
        return known.get(argument, "a character")


def _article(kind: str) -> str:
    return f"an {kind}" if kind else "a "


def _line(depth: int, text: str) -> str:
    return f"{'  ' * depth}- {text}"


def _times(least: int, most: int | None) -> str:
    if most is None:
        return {0: "any number of times", 1: "once or more"}.get(least, f"{least} times or more")
    if least == most:
        return "once" if least == 1 else f"{least} times"
    return "optional" if (least, most) == (0, 1) else f"{least} to {most} times"


def _flags(flags: int) -> str:
    known = {
        re.IGNORECASE: "upper and lower case are the same",
        re.MULTILINE: "`^` and `$` match at lines, too",
        re.DOTALL: "`.` is a line break, too",
        re.VERBOSE: "whitespace and comments are ignored",
        re.ASCII: "classes are those of ASCII",
    }
    return ", ".join(words for flag, words in known.items() if flags & flag)


def _text(text: str) -> str:
    """Return a string in words; whitespace that Markdown would drop is shown as `␣`."""
    if text == " ":
        return "a space"
    shown = _LOST_SPACES.sub(lambda spaces: "␣" * len(spaces[0]), _visible(text))
    return f"the text {code(shown)}{' (`␣` is a space)' if shown != _visible(text) else ''}"


def _character(number: int) -> str:
    return "a space" if number == ord(" ") else code(_visible(chr(number)))


def _visible(text: str) -> str:
    return "".join(
        each if each.isprintable() and unicodedata.category(each) != "Cf" else repr(each)[1:-1]
        for each in text
    )
