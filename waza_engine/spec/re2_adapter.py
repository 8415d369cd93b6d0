r"""RE2, which upstream searches with; where it cannot be installed, the module ``regex`` with a time limit.

``google-re2`` has no package for musl, for the newest Python and for rare processors. There a pattern of RE2
is translated, so that it finds the same. docs/compatibility.md lists what differs.

Architecture invariant: light, and the only module that compiles patterns of RE2, apart from the two scripts
that import nothing of the product (``pattern_worker.py``, ``command_shim.py``).
"""

from __future__ import annotations

import functools
import importlib
import re
import warnings
from collections.abc import Iterator
from typing import Any, Literal, Protocol, cast

from waza_engine.later_patterns import compiled_later

RE2_MEMORY_BYTES = 2_000_000
"""The memory limit of RE2 for one pattern in this process, its automaton included."""
SEARCH_SECONDS = 2.0
"""The time limit of a search by ``regex``."""
_MOST_REPEATS = 1_000
_SHORTHANDS = {"d": "0-9", "w": "0-9A-Za-z_", "s": r"\t\n\f\r "}


class Match(Protocol):
    """A match of either library."""

    def span(self) -> tuple[int, int]:
        """Return where it is, in characters."""
        ...


class Searcher(Protocol):
    """A compiled pattern. ``regex`` raises ``TimeoutError``, RE2 ``UnicodeEncodeError`` for half an emoji."""

    def search(self, text: str) -> Match | None:
        """Return the first match."""
        ...

    def finditer(self, text: str) -> Iterator[Match]:
        """Yield all matches."""
        ...


def re2_dialect(pattern: str) -> Literal["re2", "large re2"] | None:
    """Return None when RE2, or upstream's edition of it, rejects the pattern.

    A ``large re2`` one needs more memory than it gets here. ``pattern`` is not too large to be parsed.
    """
    if _ANY_BYTE.search(_LITERAL_TEXT.sub("", pattern)):
        return None
    re2 = _re2()
    if re2 is None:
        return "re2" if _is_translatable(pattern) else None
    try:
        re2.compile(pattern, _options())
    except UnicodeEncodeError:
        return None
    except re2.error as error:
        return "large re2" if "too large" in str(error) else None
    return "re2"


def searcher(pattern: str, *, ignore_case: bool = False) -> Searcher | None:
    """Return a pattern of RE2, compiled; None when it gets too large, as it may when case is ignored.

    Its groups are not captured: that alone can take seconds.
    """
    re2 = _re2()
    if re2 is None:
        return _Bounded(pattern, ignore_case=ignore_case)
    try:
        return re2.compile(pattern, _options(ignore_case=ignore_case, never_capture=True))
    except re2.error:
        return None


def is_re2_installed() -> bool:
    """Return whether patterns are searched by RE2."""
    return _re2() is not None


def as_python(pattern: str) -> str:
    """Return a pattern of RE2 in the syntax of Python."""
    return _SPELT.sub(_spelt, pattern)


def as_parsable(pattern: str) -> str:
    """Return a pattern of RE2 as the parser of Python takes it, which knows no classes of Unicode."""
    return _UNICODE_CLASS.sub(lambda found: r"\w", _with_scopes(as_python(pattern)))


class _Bounded:
    def __init__(self, pattern: str, *, ignore_case: bool) -> None:
        regex: Any = importlib.import_module("regex")
        flags = regex.IGNORECASE if ignore_case else 0
        self._compiled = regex.compile(_for_regex(pattern), flags, cache_pattern=False)

    def search(self, text: str) -> Match | None:
        return self._compiled.search(text, timeout=SEARCH_SECONDS)

    def finditer(self, text: str) -> Iterator[Match]:
        return self._compiled.finditer(text, timeout=SEARCH_SECONDS)


@functools.cache
def _re2() -> Any:
    try:
        return importlib.import_module("re2")  # it has no types
    except ImportError:
        return None


@functools.cache
def _options(*, ignore_case: bool = False, never_capture: bool = False) -> Any:
    options = _re2().Options()
    # Otherwise RE2 writes its errors to standard error.
    options.log_errors = False
    options.max_mem = RE2_MEMORY_BYTES
    options.case_sensitive = not ignore_case
    options.never_capture = never_capture
    return options


def _is_translatable(pattern: str) -> bool:
    """Return whether RE2 would take the pattern; a parser decides, nothing large is compiled."""
    if _PYTHON_ALONE.search(_LITERAL_TEXT.sub("", pattern)):
        return False
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            parsed = _PARSER.parse(as_parsable(pattern))
        pattern.encode()
        return not _is_beyond_re2(parsed)
    except (re.error, RecursionError, OverflowError, ValueError):
        return False


def _is_beyond_re2(part: Any, times: int = 1) -> bool:
    """Return whether a parsed pattern looks around, refers back, does not give back, or counts too far.

    ``times`` is the product of the counts around it.
    """
    if not isinstance(part, _PARSER.SubPattern):
        parts = cast("tuple[Any, ...]", part) if isinstance(part, tuple | list) else ()
        return any(_is_beyond_re2(each, times) for each in parts)
    for operation, argument in part:
        repeats = times
        if operation in _REPEATS:
            repeats *= max(1, argument[0], _known(argument[1]))
        if operation in _BEYOND or repeats > _MOST_REPEATS or _is_beyond_re2(argument, repeats):
            return True
    return False


def _known(most: Any) -> int:
    return 0 if most is _CONSTANTS.MAXREPEAT else int(most)


def _for_regex(pattern: str) -> str:
    """Return a pattern of RE2 in the syntax of ``regex``, with the same meaning."""
    python = _with_scopes(as_python(pattern))
    has_lines = _LINES.search(python) is not None
    parts: list[str] = []
    in_class = False
    for token in _TOKENS.findall(python):
        if not in_class and token.startswith("["):
            in_class = True
        elif token == "]":
            in_class = False
        parts.append(_shorthand(token, in_class=in_class))
        if not in_class and token == "$" and not has_lines:
            parts[-1] = r"\Z"
        elif not in_class and token == "{":
            # In `regex` it may begin a number of permitted differences.
            parts[-1] = r"\{"
    return "".join(parts)


def _with_scopes(pattern: str) -> str:
    """Return the pattern with each ``(?i)``, which holds to the end of its group, as a group ``(?i:``."""
    if not _FLAGS.search(pattern):
        return pattern
    # The groups for flags that are open within each open group.
    parts, opened, in_class = list[str](), [""], False
    for token in _TOKENS.findall(pattern):
        written = token
        if in_class or token.startswith("["):
            in_class = token != "]"
        elif _FLAGS.fullmatch(token):
            written = f"{token[:-1]}:"
            opened[-1] += written
        elif token == "(":
            opened.append("")
        elif token == "|":
            written = f"{_closing(opened[-1])}|{opened[-1]}"
        elif token == ")" and len(opened) > 1:
            written = f"{_closing(opened.pop())})"
        parts.append(written)
    return "".join(parts) + _closing(opened[0])


def _closing(groups: str) -> str:
    return ")" * groups.count("(")


def _shorthand(token: str, *, in_class: bool) -> str:
    r"""Return ``\d``, ``\w`` and ``\s`` with the characters of ASCII, other tokens as they are."""
    characters = _SHORTHANDS.get(token[1:].lower()) if token.startswith("\\") else None
    is_negated = token[1:].isupper()
    if characters is None or (in_class and is_negated):
        return token
    return characters if in_class else f"[{'^' if is_negated else ''}{characters}]"


# The parser of `re` copies nothing; it has been private since Python 3.11.
_PARSER = cast("Any", importlib.import_module("re._parser"))
_CONSTANTS = cast("Any", importlib.import_module("re._constants"))
_REPEATS = (_CONSTANTS.MAX_REPEAT, _CONSTANTS.MIN_REPEAT)
_BEYOND = (
    _CONSTANTS.ASSERT,
    _CONSTANTS.ASSERT_NOT,
    _CONSTANTS.GROUPREF,
    _CONSTANTS.GROUPREF_EXISTS,
    _CONSTANTS.ATOMIC_GROUP,
    _CONSTANTS.POSSESSIVE_REPEAT,
)
# Any byte, which only the C++ edition of RE2 knows.
_ANY_BYTE = compiled_later(r"(?<!\\)(?:\\\\)*\\C")
_LITERAL_TEXT = compiled_later(r"\\Q.*?(?:\\E|\Z)", re.DOTALL)
_UNICODE_CLASS = compiled_later(r"\\[pP](?:\{\^?\w+\}|\w)")
_PYTHON_ALONE = compiled_later(r"(?<!\\)(?:\\\\)*\\[ZNuU]|(?<!\\)\(\?(?:#|P=|[imsU-]*[aLux])")
_LINES = compiled_later(r"\(\?[is]*m")
_FLAGS = compiled_later(r"\(\?[ims]*(?:-[ims]+)?\)(?<!\?\))")
# Flags, a bracket that is first in a class, a class of Unicode and a count are one token.
_TOKENS = compiled_later(
    r"\(\?[ims]*(?:-[ims]+)?\)(?<!\?\))|\[\^?\]?|\\[pP]\{[^}]*\}|\\.|\{[0-9]+(?:,[0-9]*)?\}|.",
    re.DOTALL,
)
_POSIX = {
    "alnum": "0-9A-Za-z",
    "alpha": "A-Za-z",
    "ascii": r"\x00-\x7f",
    "blank": r"\t ",
    "cntrl": r"\x00-\x1f\x7f",
    "digit": "0-9",
    "graph": "!-~",
    "lower": "a-z",
    "print": " -~",
    "punct": r"!-/:-@\[-`{-~",
    "space": r"\t\n\v\f\r ",
    "upper": "A-Z",
    "word": r"0-9A-Za-z_",
    "xdigit": "0-9A-Fa-f",
}
# RE2's syntax that differs from Python's, outside of classes and in them. Escapes are matched as a whole.
_SPELT = compiled_later(
    r"(?P<end>\\z)|(?P<named>\(\?<(?=[A-Za-z_]))|(?P<quoted>\\Q(?P<inside>(?:(?!\\E).)*+)(?:\\E)?)"
    r"|(?P<posix>\[:(?P<name>[a-z]++):\])|(?P<hex>\\x\{(?P<digits>[0-9A-Fa-f]{1,6})\})"
    r"|(?P<brace>\{(?=,[0-9]+\}))|(?P<escape>\\.)",
    re.DOTALL,
)


def _spelt(match: re.Match[str]) -> str:
    if match["end"]:
        return r"\Z"
    if match["named"]:
        return "(?P<"
    if match["quoted"]:
        return "".join(each if each.isalnum() else f"\\{each}" for each in match["inside"])
    if match["posix"]:
        return _POSIX.get(match["name"], match[0])
    if match["hex"]:
        return f"\\U{int(match['digits'], 16):08x}"
    return r"\{" if match["brace"] else match[0]
