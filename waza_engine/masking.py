"""Mask credentials in whatever is written, printed or sent, as ``***``.

A suite can make anything print a key: an answer, a tool, a program that grades, an exception. So nothing is
hidden at its source, and graders see the real text; whatever leaves the process is masked, by ``terminal``
for lines, logs and JSON and by ``commands/reporting.py`` for reports.

Secrets are the values of variables that are named like credentials, passwords in addresses and connection
strings, and those that a provider or a server of a suite names. They are found as they are, escaped for JSON
(several times, too), for addresses and for XML, in base64 wherever they begin in it, cut off at one end, with
colour codes between their characters, and split over lines, messages and events.

Architecture invariant: light, as ``terminal`` is. Text without a secret costs a few searches for fixed words.
"""

from __future__ import annotations

import base64
import json
import os
import re
import threading
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import accumulate, count
from typing import Any, cast
from urllib.parse import quote, unquote

from waza_engine.files import from_home
from waza_engine.frozen import frozen
from waza_engine.later_patterns import compiled_later

SHOWN = "***"
"""The replacement of a secret."""

SHORTEST = 8
"""Characters of the shortest secret."""

_SHORTEST_WORD = 12
_NAMES = compiled_later(
    r"(?:KEY|TOKEN|SECRET|CREDENTIAL)S?(?:_[A-Z0-9]+)?$|PASS(?:WORD|WD|PHRASE)|"
    r"(?:^|_)(?:PAT|AUTH|PASS|DSN)$|_PWD$",
    re.IGNORECASE,
)
_IN_ADDRESS = compiled_later(r"://[^\s/:@]*:(?!\d{1,5}[?#])([^\s/]+)@")
# Without a scheme: not the tag of an image, a version of a package, or a time.
_BEFORE_HOST = compiled_later(
    r"[^\s/:@=]+:([^\s/]+)@(?!sha256:)(?:[A-Za-z_]|\[|\d{1,3}(?:\.\d{1,3}){3}\b)[\w.:,\[\]-]*(?:[/?]\S*)?"
)
# `Server=db;Password=…` of ADO, `host=db password=…` of libpq, `?user=me&password=…` of JDBC.
_SETTING = compiled_later(r"(?:^|[;?&,\s])(?:--?)?([\w. -]*\w)\s*=\s*")
_SETTING_VALUE = compiled_later(r"""("[^"]*"|'[^']*'|\{[^}]*\}|[^;]*)""")
_SETTING_ENDS = compiled_later(r"[;&\s]")
_OTHER_NAMES = ("pwd", "pass")
_PLACEHOLDER = compiled_later(r"\$\{?\w+\}?|%\w+%|\*+")
_SCHEME = compiled_later(r"(?:Bearer|Basic|Token)\s+(\S+)", re.IGNORECASE)
_LINE_OF_KEY = 20
_LONGEST_BEFORE = 4096
_ITEMS = 0

# A piece that was cut off is a secret still: this much of its beginning or end is looked for.
_PIECE = 16
_PLAIN_RUN = compiled_later(r"[A-Za-z0-9_.-]+")
_LETTERS_AND_DIGITS = compiled_later(r"[A-Za-z0-9]+")
_SHORTEST_NEEDLE = 4
# The bound covers five nested notations; a longer run would be read again from each of its positions.
_BACKSLASHES = r"\\{1,31}"
_TOKEN_CHARACTER = r"[\w+/=.~%-]"
_IN_BASE64 = {"+": r"(?:[+-]|%(?:25)*2[Bb]|\\+u002[Bb])", "/": r"(?:\\*/|_|%(?:25)*2[Ff])"}
_LINE_BREAK = r"(?:\\*[rn]|[\r\n])*"
# Text between the parts of a split secret: line breaks with indentation, also as JSON writes them, colour
# codes and other terminal sequences, and invisible characters.
_BREAK = r"[\n\r\v\f\x85\u2028\u2029]"
_CODE = (
    r"(?:\x1b|(?<!\\)\\+(?:u001[bB]|x1[bB]|033|e))"
    r"(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]{0,1000}(?:\x07|\x1b\\)|[@-Z^_])|"
    r"\x9b[0-?]*[ -/]*[@-~]|[\xad\u200b-\u200f\u2060\ufeff]"
)
_CODES = compiled_later(_CODE)
# Each begins where a run of whitespace or backslashes does: a long run is read once.
_WRITTEN_BREAKS = compiled_later(r"(?<!\s)(?:\s*(?<!\\)\\+[rn])+\s*")
_BETWEEN = compiled_later(
    rf"(?<!\s)\s*(?:(?:{_BREAK}|(?<!\\)\\+[rn])\s*)+|{_CODE}|\A\s+|(?<!\s)\s+\Z",
)
_SIGNS_OF_CODES = ("\x1b", "\x9b", "\xad", *"\u200b\u200c\u200d\u200e\u200f\u2060\ufeff")
_WRITTEN_SIGNS = ("001b", "001B", "x1b", "x1B", "033[", "\\e[")
_LITERAL = compiled_later(r'"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*', re.DOTALL)
_FIELD_NAME = compiled_later(r'"[a-z_]+"\s*:')


@frozen()
class _Form:
    """One way to write a secret: ``needle`` is in each of its spellings, ``reach`` is how far they go."""

    needle: str
    spellings: str
    reach: int

    def places(self, text: str) -> Iterator[tuple[int, int]]:
        """Yield the ranges where it occurs in a string."""
        if not self.needle:
            yield from (found.span() for found in _compiled(self.spellings).finditer(text))
            return
        at, done = text.find(self.needle), 0
        while at >= 0:
            end = at + len(self.needle)
            around = max(done, at - self.reach), min(len(text), end + self.reach)
            found = _compiled(self.spellings).search(text, *around)
            if found is not None:
                yield found.span()
                done = found.end()
            at = text.find(self.needle, max(done, end))


# Most secrets are never met: their patterns, long ones, are not even compiled.
@lru_cache(maxsize=256)
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


class _Secrets:
    """The secrets of this process. The environment is read on first use."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._environment: frozenset[str] | None = None
        self._named: frozenset[str] = frozenset()
        self._forms: tuple[_Form, ...] | None = None
        self._whole: tuple[_Form, ...] = ()
        self._written: tuple[str, ...] = ()

    def read_environment(self) -> None:
        found = frozenset(_secrets_of(os.environ))
        with self._lock:
            if found != self._environment:
                self._environment, self._forms = found, None

    def add(self, values: Iterable[str]) -> None:
        found = frozenset(part for value in values for part in _parts(value, named=True))
        with self._lock:
            if not found <= self._named:
                self._named, self._forms = self._named | found, None

    def forms(self) -> tuple[_Form, ...]:
        forms = self._forms
        if forms is None:
            if self._environment is None:
                self.read_environment()
            with self._lock:
                known = sorted((self._environment or frozenset()) | self._named)
                self._written = tuple(dict.fromkeys(way for value in known for way in _written_ways(value)))
                self._whole = tuple(map(_whole_form, known))
                forms = self._forms = tuple(form for value in known for form in _forms_of(value))
        return forms

    def written(self) -> tuple[str, ...]:
        """Return the secrets themselves, and as they are usually encoded."""
        self.forms()
        return self._written

    def whole_forms(self) -> tuple[_Form, ...]:
        """Return the forms of secrets as a whole."""
        self.forms()
        return self._whole


_known = _Secrets()


def read_environment() -> None:
    """Read the secrets of the environment as it is now; done once automatically."""
    _known.read_environment()


def keep_secret(*values: str) -> None:
    """Mask these values from now on, unless they are short: those occur in other text, too."""
    _known.add(values)


def keep_settings_secret(settings: Mapping[str, str]) -> None:
    """Mask the values of those settings, such as variables or headers, that are named like credentials."""
    _known.add(_secrets_of(settings))


def is_secret_name(name: str) -> bool:
    """Return whether a variable or a header of this name holds a credential."""
    return _NAMES.search(name.replace("-", "_")) is not None or name.lower().endswith("authorization")


def masked(text: str) -> str:
    """Return a string without secrets."""
    return _with_shown(text, _joined([*_places(text), *_split_places((text,))[0]]))


def masked_across(value: Any) -> Any:
    """Return a JSON value without secrets that are split over lines, or over items of a list.

    Strings of the same key are treated as adjacent, such as the messages of a transcript. Secrets that are
    not split are left to ``masked_json``.
    """
    if not _known.forms():
        return value
    streams: dict[Any, Any] = {}
    for position, (text, stream) in enumerate(_strings(value, streams)):
        stream.setdefault(None, []).append((position, text))
    instead: dict[int, str] = {}
    for listed in _streams(streams):
        if len(listed) == 1 and listed[0][1].isalnum():
            continue
        places = _split_places([text for _, text in listed])
        for (position, text), found in zip(listed, places, strict=True):
            if found:
                instead[position] = _with_shown(text, _joined(found))
    return _with_strings(value, instead) if instead else value


class MaskedStream:
    """Messages that come one by one, where the next may go on with a secret that the last one began."""

    def __init__(self) -> None:
        self._before = ""

    def masked(self, text: str) -> str:
        """Return the next message without secrets, and without the continuation of one."""
        split = _split_places((self._before, text))[1] if self._before else []
        self._before = (self._before + text)[-_LONGEST_BEFORE:]
        return _with_shown(text, _joined([*_places(text), *split])) if split else masked(text)


class DelayedMaskedStream:
    """Messages that come one by one; the end of one that may begin a secret comes with the next one."""

    def __init__(self) -> None:
        self._stream = MaskedStream()
        self._delayed = ""

    def masked(self, text: str) -> str:
        """Return what is certain of the messages so far, without secrets; it may be empty."""
        text = self._delayed + text
        start = _start_of_unfinished(text)
        self._delayed = text[start:]
        return self._stream.masked(text[:start])

    def rest(self) -> str:
        """Return what was delayed, when no more messages come."""
        rest, self._delayed = self._delayed, ""
        return self._stream.masked(rest)


def masked_json(text: str) -> str:
    """Return a JSON document, or one a line, without secrets: valid, and unchanged otherwise.

    A number with a secret becomes a string. Names of fields in lower-case letters stay.
    """
    places = _places(text)
    if not places:
        return text
    parts: list[str] = []
    end = index = 0
    for literal in _LITERAL.finditer(text):
        start, stop = literal.span()
        while index < len(places) and places[index][1] <= start:
            index += 1
        if index == len(places):
            break
        if places[index][0] >= stop or _FIELD_NAME.match(text, start):
            continue
        parts += (text[end:start], _masked_literal(literal[0], ascii_only=text.isascii()))
        end = stop
    return "".join((*parts, text[end:]))


def _masked_literal(literal: str, *, ascii_only: bool) -> str:
    if not literal.startswith('"'):
        return json.dumps(masked(literal)) if masked(literal) != literal else literal
    value: str = json.loads(literal, strict=False)
    shown = masked(value)
    return literal if shown == value else json.dumps(shown, ensure_ascii=ascii_only)


def _with_shown(text: str, places: Sequence[tuple[int, int]]) -> str:
    parts: list[str] = []
    end = 0
    for start, stop in places:
        parts += (text[end:start], SHOWN)
        end = stop
    return "".join((*parts, text[end:])) if parts else text


def _places(text: str) -> list[tuple[int, int]]:
    """Return the ranges of secrets, in order; adjacent ranges are merged."""
    return _joined(place for form in _known.forms() for place in form.places(text))


def _start_of_unfinished(text: str) -> int:
    """Return where the end of a string may begin a secret that goes on, the string's length if nowhere."""
    end = len(text.rstrip("\r\n"))
    start = min((_start_of_beginning(text, end, secret) for secret in _known.written()), default=end)
    if start == end:
        return len(text)
    # The last character of one secret may be the first of another; neither is cut.
    return next((stop for begin, stop in _places(text) if begin < start < stop), start)


def _start_of_beginning(text: str, end: int, secret: str) -> int:
    """Return where the longest beginning of a secret, short of the whole, starts at the end of a string."""
    at = text.find(secret[0], max(0, end - len(secret) + 1), end)
    while at >= 0 and not secret.startswith(text[at:end]):
        at = text.find(secret[0], at + 1, end)
    return at if at >= 0 else end


def _split_places(texts: Sequence[str]) -> list[list[tuple[int, int]]]:
    """Return, for each of the adjacent strings, the ranges of parts of split secrets."""
    found: list[list[tuple[int, int]]] = [[] for _ in texts]
    if not _known.forms():
        return found
    whole = "\n".join(texts)
    joined = _without_breaks(whole)
    if len(joined) < SHORTEST or len(joined) == len(whole):
        return found
    if not any(any(form.places(joined)) for form in _known.whole_forms()):
        return found
    parts = [(number, *part) for number, text in enumerate(texts) for part in _parts_between(text)]
    starts = list(accumulate((stop - start for _, start, stop in parts), initial=0))
    joined = "".join(texts[number][start:stop] for number, start, stop in parts)
    for form in _known.whole_forms():
        for start, stop in form.places(joined):
            first, last = bisect_right(starts, start) - 1, bisect_left(starts, stop)
            for at in range(first, last if last > first + 1 else first):
                number, begin, end = parts[at]
                begin, end = max(begin, begin + start - starts[at]), min(end, begin + stop - starts[at])
                if begin < end:
                    found[number].append((begin, end))
    return found


def _without_breaks(text: str) -> str:
    """Return a string without separators of split secrets; most strings have few."""
    signs = _SIGNS_OF_CODES
    if "\\" in text:
        text, signs = _WRITTEN_BREAKS.sub("", text), (*signs, *_WRITTEN_SIGNS)
    if any(sign in text for sign in signs):
        text = _CODES.sub("", text)
    return "".join(map(str.strip, text.splitlines()))


def _parts_between(text: str) -> Iterator[tuple[int, int]]:
    end = 0
    for found in _BETWEEN.finditer(text):
        yield end, found.start()
        end = found.end()
    yield end, len(text)


def _strings(value: Any, streams: dict[Any, Any]) -> Iterator[tuple[str, dict[Any, Any]]]:
    """Yield the strings of a JSON value in order, each with the node of its keys: one for all of a list."""
    rest: list[tuple[Any, dict[Any, Any]]] = [(value, streams)]
    while rest:
        found, node = rest.pop()
        if isinstance(found, str):
            yield found, node
        elif isinstance(found, Mapping):
            named = cast("Mapping[str, Any]", found)
            rest += [(item, node.setdefault(name, {})) for name, item in reversed([*named.items()])]
        elif isinstance(found, list | tuple):
            listed = cast("Sequence[Any]", found)
            inner = node.setdefault(_ITEMS, {})
            rest += [(item, inner) for item in reversed(listed)]


def _streams(node: dict[Any, Any]) -> Iterator[list[tuple[int, str]]]:
    rest: list[dict[Any, Any]] = [node]
    while rest:
        for name, inner in rest.pop().items():
            if name is None:
                yield inner
            else:
                rest.append(inner)


def _with_strings(value: Any, instead: Mapping[int, str]) -> Any:
    """Return a JSON value with other strings at some positions."""
    positions = count()

    def changed(found: Any) -> Any:
        if isinstance(found, str):
            return instead.get(next(positions), found)
        if isinstance(found, Mapping):
            return {name: changed(item) for name, item in cast("Mapping[str, Any]", found).items()}
        if isinstance(found, list | tuple):
            return [changed(item) for item in cast("Sequence[Any]", found)]
        return found

    return changed(value)


def _joined(found: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    places: list[tuple[int, int]] = []
    for start, stop in sorted(found):
        if places and start <= places[-1][1]:
            places[-1] = (places[-1][0], max(stop, places[-1][1]))
        else:
            places.append((start, stop))
    return places


def _secrets_of(environment: Mapping[str, str]) -> Iterator[str]:
    for name, value in environment.items():
        if is_secret_name(name):
            yield from _parts(value)
        for password in _passwords(value):
            yield from _parts(password)


def _passwords(value: str) -> Iterator[str]:
    """Yield the passwords in an address or a connection string, as written and decoded."""
    whole = _BEFORE_HOST.fullmatch(value.strip())
    for password in (*_IN_ADDRESS.findall(value), *((whole[1],) if whole else ())):
        yield from dict.fromkeys((password, unquote(password)))
    for setting in _SETTING.finditer(value) if "=" in value else ():
        name = setting[1].split()[-1]
        found = _SETTING_VALUE.match(value, setting.end())
        if found is not None and (is_secret_name(name) or name.lower() in _OTHER_NAMES):
            written = found[0].strip()
            bare = written[1:-1] if written.startswith(('"', "'", "{")) else written
            short = _SETTING_ENDS.split(written, maxsplit=1)[0]
            for password in dict.fromkeys((bare, short, unquote(short))):
                if not _PLACEHOLDER.fullmatch(password):
                    yield password


def _parts(value: str, *, named: bool = False) -> Iterator[str]:
    """Yield the secret parts of a value: itself, what follows the word of a scheme, the lines of a key.

    Of values that a provider or a server ``named``, words are secret as well.
    """
    value = value.strip()
    if _is_path(value):
        return
    lines = [line.strip() for line in value.splitlines()] if "\n" in value else []
    token = _SCHEME.fullmatch(value)
    for part in (token[1] if token else value, *lines):
        marker = part.startswith("-----")
        least = _LINE_OF_KEY if part in lines else SHORTEST
        if len(part) >= least and not marker and (named or not _is_word(part)):
            yield part


def _is_word(text: str) -> bool:
    """Return whether it is short and in lower case, like a placeholder, which an answer may contain."""
    mixed = any(character.isdigit() for character in text) or text.lower() != text != text.upper()
    return len(text) < _SHORTEST_WORD and not mixed


def _is_path(value: str) -> bool:
    """Return whether it names a file, such as a key file, or a possible path of one."""
    if not value.startswith(("/", "~", ".")) or "\n" in value:
        return False
    try:
        place = from_home(value)
        return place.exists() or (place.parent.is_dir() and place.parent != place.parent.parent)
    except (OSError, ValueError):
        return False


def _whole_form(secret: str) -> _Form:
    spelled = "".join(map(_spellings, secret))
    return _Form(_needle(secret, _PLAIN_RUN), spelled, 24 * len(secret) + 64)


def _written_ways(secret: str) -> Iterator[str]:
    """Yield a secret as it is, in an address, in JSON, and in base64 wherever it begins in that."""
    content = secret.encode("utf-8", "surrogatepass")
    yield secret
    yield quote(content, safe="")
    yield json.dumps(secret)[1:-1]
    yield from (_in_base64(content, offset) for offset in range(3))


def _forms_of(secret: str) -> Iterator[_Form]:
    spelled = [_spellings(character) for character in secret]
    yield from _forms(secret, spelled, _PLAIN_RUN, _PIECE)
    content = secret.encode("utf-8", "surrogatepass")
    for encoded in dict.fromkeys(_in_base64(content, offset) for offset in range(3)):
        spelled = [_IN_BASE64.get(character, character) for character in encoded]
        yield from _forms(encoded, spelled, _LETTERS_AND_DIGITS, _PIECE * 4 // 3, _LINE_BREAK)


def _forms(
    text: str, spelled: Sequence[str], run: re.Pattern[str], piece: int, between: str = ""
) -> list[_Form]:
    """Return the forms of a string with this spelling: the whole, and pieces of both its ends."""
    whole, reach = between.join(spelled), 24 * len(text) + 64
    if len(text) <= piece:
        return [_Form(_needle(text, run), whole, reach)]
    rest = f"{_TOKEN_CHARACTER}{{0,{len(text)}}}"
    beginning, end = "".join(spelled[:piece]), "".join(spelled[-piece:])
    return [
        _Form(_needle(text[:piece], run), f"{whole}|{beginning}{rest}", reach),
        _Form(_needle(text[-piece:], run), f"{whole}|{rest}{end}", reach),
    ]


def _needle(text: str, run: re.Pattern[str]) -> str:
    """Return the longest part that is written the same everywhere, nothing when it is too short."""
    longest = max(run.findall(text), key=len, default="")
    return longest if len(longest) >= _SHORTEST_NEEDLE else ""


def _spellings(character: str) -> str:
    """Return the pattern of all ways in which a character of a secret is written."""
    literal, number = re.escape(character), ord(character)
    if character.isascii() and (character.isalnum() or character in "-_."):
        return literal
    in_json = "".join(rf"{_BACKSLASHES}u(?i:{unit:04x})" for unit in _utf16(character))
    in_address = "".join(rf"%(?:25)*(?i:{byte:02x})" for byte in character.encode("utf-8", "surrogatepass"))
    ways = [rf"(?:{_BACKSLASHES})?{literal}", in_json, in_address, rf"&\#(?:0*{number}|(?i:x0*{number:x}));"]
    named = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&apos;"}.get(character)
    short = {"\n": r"(?:\\+r)?\\+n|\r\n", "\t": r"\\+t", "\r": r"\\+r", " ": r"\+"}.get(character)
    ways += [way for way in (named, short) if way]
    if number < 0x100:
        ways.append(rf"{_BACKSLASHES}x(?i:{number:02x})")
    return f"(?:{'|'.join(ways)})"


def _utf16(character: str) -> list[int]:
    content = character.encode("utf-16-be", "surrogatepass")
    return [int.from_bytes(content[at : at + 2]) for at in range(0, len(content), 2)]


def _in_base64(content: bytes, offset: int) -> str:
    """Return the base64 characters of a content at an offset, independent of its surroundings."""
    encoded = base64.b64encode(bytes(offset) + content).decode().rstrip("=")
    length = offset + len(content)
    return encoded[(0, 2, 3)[offset] : len(encoded) - (1 if length % 3 else 0)]
