r"""Classify a regular expression of a suite: for RE2, for Python alone, invalid, or too large.

Upstream compiles patterns with RE2. A pattern that RE2 rejects is only *parsed* here, never compiled:
compiling copies the operand of a count, so that 71 characters can take gigabytes. RE2 itself gets little
memory, and no pattern whose size could make it slow.

Architecture invariant: light, because the run and the language server share it, and so report the same for a
pattern.
"""

from __future__ import annotations

import functools
import importlib
import re
import warnings
from collections.abc import Iterator
from typing import Any, Literal, cast

from waza_engine.later_patterns import compiled_later
from waza_engine.spec.re2_adapter import as_parsable, is_re2_installed, re2_dialect, searcher

LARGEST_SIZE = 10_000
"""Characters, plus the numbers in counts such as ``{0,1000}``, plus 100 for each Unicode class (``\\pL``)."""
LARGEST_EXPANSION = 50_000
"""Parts that a pattern of Python has when its counts are written out."""
DEEPEST_NESTING = 100
"""Groups inside each other in a pattern of Python."""

Dialect = Literal["re2", "large re2", "python"]

_COUNT = compiled_later(r"\{([0-9]{0,6})([0-9]*)(?:,([0-9]{0,6})([0-9]*))?\}")
_UNICODE_CLASS = compiled_later(r"\\[pP]")
_UNICODE_CLASS_SIZE = 100
_REASONS = {
    "missing ), unterminated": "this `(` is not closed",
    "unterminated character set": "this `[` is not closed",
    "unbalanced parenthesis": "this `)` closes nothing",
    "nothing to repeat": "there is nothing to repeat before this",
    "multiple repeat": "a repeat follows a repeat",
    "min repeat greater": "the least number of repeats is above the greatest",
    "bad escape (end": "a backslash ends it",
    "bad character range": "this range of characters runs backwards",
    "unknown extension": "there is no such kind of group",
    "unexpected end of pattern": "it ends too early",
    "global flags not at the start": "flags such as `(?i)` are allowed only at the very beginning",
    "missing": "something is missing here",
}


class PatternSyntaxError(ValueError):
    """The pattern is invalid or too large; the message says why. ``position`` is an offset, None for all."""

    def __init__(self, reason: str, position: int | None = None) -> None:
        super().__init__(reason)
        self.position = position


def literal_pattern(text: str) -> str:
    """Return the pattern for a literal string, as people write it: a dash stays one."""
    # A dash is special only within brackets, and a space only where patterns may have comments.
    return re.escape(text).replace(r"\-", "-").replace(r"\ ", " ")


def dialect_of(pattern: str) -> Dialect:
    """Return the dialect that can search the pattern. Raises ``PatternSyntaxError`` if none can or may.

    A ``large re2`` one is RE2's, but needs more memory than it gets here.
    """
    if size_of(pattern) > LARGEST_SIZE:
        raise PatternSyntaxError(
            f"its characters and counts come to more than {LARGEST_SIZE}, so it is too large; "
            "shorten it or split it into several patterns"
        )
    dialect = re2_dialect(pattern)
    if dialect == "re2" and not is_re2_installed():
        # The other library copies the operand of a count, too.
        _check_for_python(as_parsable(pattern))
    if dialect is None:
        _check_for_python(pattern)
        return "python"
    return dialect


def check_python_syntax(pattern: str) -> None:
    """Raise ``PatternSyntaxError`` for a pattern that ``re`` of Python, which assertions use, cannot read."""
    position = _too_deep(pattern)
    if position is not None or len(pattern) > LARGEST_SIZE:
        return
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            _PARSER.parse(pattern)
    except re.error as error:
        raise PatternSyntaxError(_reason(error.msg), error.pos) from None
    except (RecursionError, OverflowError, ValueError):
        return


def size_of(pattern: str) -> int:
    """Return the size that ``LARGEST_SIZE`` limits; of a longer pattern its length."""
    if len(pattern) > LARGEST_SIZE:
        return len(pattern)
    found = _COUNT.finditer(pattern)
    counts = sum(max(_number(*count.group(1, 2)), _number(*count.group(3, 4))) for count in found)
    return len(pattern) + counts + _UNICODE_CLASS_SIZE * len(_UNICODE_CLASS.findall(pattern))


def is_found(pattern: str, text: str) -> bool | None:
    """Return whether RE2 finds the pattern in a string; None when it is not one of RE2, or takes long."""
    try:
        compiled = _cached_searcher(pattern) if dialect_of(pattern) == "re2" else None
        return None if compiled is None else compiled.search(text) is not None
    except (PatternSyntaxError, TimeoutError, UnicodeEncodeError):
        return None


_cached_searcher = functools.lru_cache(maxsize=64)(searcher)


def _number(digits: str, more: str) -> int:
    return LARGEST_SIZE if more else int(digits or 0)


def _check_for_python(pattern: str) -> None:
    """Raise ``PatternSyntaxError`` for one that Python cannot read, or that is too large when compiled."""
    position = _too_deep(pattern)
    if position is not None:
        raise PatternSyntaxError(f"groups are nested more than {DEEPEST_NESTING} deep from here on", position)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            parsed = _PARSER.parse(pattern)
    except re.error as error:
        raise PatternSyntaxError(_reason(error.msg), error.pos) from None
    except (RecursionError, OverflowError, ValueError):
        raise PatternSyntaxError("neither RE2 nor Python can read it") from None
    if _expansion(parsed) > LARGEST_EXPANSION:
        raise PatternSyntaxError(
            f"its counts multiply to more than {LARGEST_EXPANSION} parts, so it is too large; "
            "use smaller counts"
        )


def _too_deep(pattern: str) -> int | None:
    """Return where a group is opened inside too many others. The parser calls itself for each."""
    depth, in_class, position = 0, -1, 0
    while position < len(pattern):
        character = pattern[position]
        if character == "\\":
            position += 1
        elif in_class >= 0:
            # A bracket in the first position is a character of the class.
            if character == "]" and position > in_class:
                in_class = -1
        elif character == "[":
            in_class = position + (2 if pattern.startswith("^", position + 1) else 1)
        elif character == "(":
            depth += 1
            if depth > DEEPEST_NESTING:
                return position
        elif character == ")":
            depth -= 1
        position += 1
    return None


def _reason(message: str) -> str:
    for beginning, reason in _REASONS.items():
        if message.startswith(beginning):
            return reason
    if message.startswith("bad escape") and "end of pattern" not in message:
        return f"`{message.split()[2]}` is no escape"
    return "it cannot be read from here on"


# The parser of `re` copies nothing; it has been private since Python 3.11.
_PARSER = cast("Any", importlib.import_module("re._parser"))
_CONSTANTS = cast("Any", importlib.import_module("re._constants"))
_REPEATS = (_CONSTANTS.MAX_REPEAT, _CONSTANTS.MIN_REPEAT, _CONSTANTS.POSSESSIVE_REPEAT)
_LOOKS = (_CONSTANTS.ASSERT, _CONSTANTS.ASSERT_NOT)


def _expansion(parsed: Any) -> int:
    """Return how many parts a parsed pattern has when every least count is written out, and once more.

    ``regex`` compiles all of these, a kilobyte for a part. Raises ``PatternSyntaxError`` for a look-behind
    without a fixed width.
    """
    parts = 0
    for operation, argument in parsed:
        parts += 1
        if operation in _REPEATS:
            least, _, repeated = argument
            parts += (int(least) + 1) * _expansion(repeated)
            continue
        if operation in _LOOKS and argument[0] < 0:
            narrowest, widest = argument[1].getwidth()
            if narrowest != widest:
                raise PatternSyntaxError("what a look-behind looks for needs a fixed width")
        if operation is _CONSTANTS.IN:
            parts += len(argument)
        else:
            parts += sum(_expansion(part) for part in _parts_of(argument))
    return parts


def _parts_of(argument: Any) -> Iterator[Any]:
    """Yield the patterns inside the argument of an operation, which is a tuple or a list of tuples."""
    if isinstance(argument, _PARSER.SubPattern):
        yield argument
    elif isinstance(argument, tuple | list):
        for each in cast("tuple[Any, ...]", argument):
            yield from _parts_of(each)
