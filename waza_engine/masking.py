"""Credentials are kept out of whatever is written, printed or sent: ``***`` stands in their place.

A suite can make anything say a key: an answer, a tool, a program that grades, an exception. So nothing is
hidden where it arises, and graders see what was really said; what leaves the process is masked, by
``terminal`` for lines, logs and JSON and by ``commands/reporting.py`` for reports.

Secrets are the values of variables that are named like credentials, passwords in addresses, and what a
provider or a server of a suite names. They are found as they are, escaped for JSON (several times, too),
for addresses and for XML, in base64 wherever they begin in it, and cut off at one end.

Architecture invariant: light, as ``terminal`` is. Text without a secret costs a few searches for fixed words.
"""

from __future__ import annotations

import base64
import json
import os
import re
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache

from waza_engine.files import from_home
from waza_engine.frozen import frozen
from waza_engine.later_patterns import compiled_later

SHOWN = "***"
"""What stands in the place of a secret."""

SHORTEST = 8
"""Characters of the shortest secret."""

_SHORTEST_WORD = 12
_NAMES = compiled_later(
    r"(?:KEY|TOKEN|SECRET|CREDENTIAL)S?(?:_[A-Z0-9]+)?$|PASS(?:WORD|WD|PHRASE)|(?:^|_)(?:PAT|AUTH)$",
    re.IGNORECASE,
)
_IN_ADDRESS = compiled_later(r"://[^\s/:@]*:([^\s/@]+)@")
_SCHEME = compiled_later(r"(?:Bearer|Basic|Token)\s+(\S+)", re.IGNORECASE)
_LINE_OF_KEY = 20

# A piece that was cut off is a secret still: this much of its beginning or end is looked for.
_PIECE = 16
_PLAIN_RUN = compiled_later(r"[A-Za-z0-9_.-]+")
_LETTERS_AND_DIGITS = compiled_later(r"[A-Za-z0-9]+")
_SHORTEST_NEEDLE = 4
_TOKEN_CHARACTER = r"[\w+/=.~%-]"
_IN_BASE64 = {"+": r"(?:[+-]|%(?:25)*2[Bb]|\\+u002[Bb])", "/": r"(?:\\*/|_|%(?:25)*2[Ff])"}
_LINE_BREAK = r"(?:\\*[rn]|[\r\n])*"
_LITERAL = compiled_later(r'"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*', re.DOTALL)
_FIELD_NAME = compiled_later(r'"[a-z_]+"\s*:')


@frozen()
class _Form:
    """One way to write a secret: ``needle`` is in each of its spellings, ``reach`` is how far they go."""

    needle: str
    spellings: str
    reach: int

    def places(self, text: str) -> Iterator[tuple[int, int]]:
        """Yield where it stands in a text."""
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
    """What is secret in this process. The environment is read when it is first asked for."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._environment: frozenset[str] | None = None
        self._named: frozenset[str] = frozenset()
        self._forms: tuple[_Form, ...] | None = None

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
                forms = self._forms = tuple(form for value in known for form in _forms_of(value))
        return forms


_known = _Secrets()


def read_environment() -> None:
    """Take what is secret in the environment as it is now; done once by itself."""
    _known.read_environment()


def keep_secret(*values: str) -> None:
    """Mask these values from now on, unless they are short: those stand for other things, too."""
    _known.add(values)


def keep_settings_secret(settings: Mapping[str, str]) -> None:
    """Mask the values of those settings, such as variables or headers, that are named like credentials."""
    _known.add(_secrets_of(settings))


def is_secret_name(name: str) -> bool:
    """Whether a variable or a header of this name holds a credential."""
    return _NAMES.search(name.replace("-", "_")) is not None or name.lower().endswith("authorization")


def masked(text: str) -> str:
    """Return a text without secrets."""
    places = _places(text)
    if not places:
        return text
    parts: list[str] = []
    end = 0
    for start, stop in places:
        parts += (text[end:start], SHOWN)
        end = stop
    return "".join((*parts, text[end:]))


def masked_json(text: str) -> str:
    """Return a JSON document, or one a line, without secrets: as valid, and otherwise as it was.

    A number with a secret becomes text. Names of fields in lower-case letters stay.
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


def _places(text: str) -> list[tuple[int, int]]:
    """Return where secrets stand, in order; places that touch are one."""
    found = sorted(place for form in _known.forms() for place in form.places(text))
    places: list[tuple[int, int]] = []
    for start, stop in found:
        if places and start <= places[-1][1]:
            places[-1] = (places[-1][0], max(stop, places[-1][1]))
        else:
            places.append((start, stop))
    return places


def _secrets_of(environment: Mapping[str, str]) -> Iterator[str]:
    for name, value in environment.items():
        if is_secret_name(name):
            yield from _parts(value)
        for password in _IN_ADDRESS.findall(value):
            yield from _parts(password)


def _parts(value: str, *, named: bool = False) -> Iterator[str]:
    """Yield what of a value is secret: itself, what follows the word of a scheme, the lines of a key.

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
    """Whether it is short and of small letters alone, as placeholders are: an answer may contain it."""
    mixed = any(character.isdigit() for character in text) or text.lower() != text != text.upper()
    return len(text) < _SHORTEST_WORD and not mixed


def _is_path(value: str) -> bool:
    """Whether it names a file, as of a key, or a place where one could be."""
    if not value.startswith(("/", "~", ".")) or "\n" in value:
        return False
    try:
        place = from_home(value)
        return place.exists() or (place.parent.is_dir() and place.parent != place.parent.parent)
    except (OSError, ValueError):
        return False


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
    """Return the forms of a text whose characters are spelled so: the whole, and pieces of both its ends."""
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
    in_json = "".join(rf"\\+u(?i:{unit:04x})" for unit in _utf16(character))
    in_address = "".join(rf"%(?:25)*(?i:{byte:02x})" for byte in character.encode("utf-8", "surrogatepass"))
    ways = [rf"\\*{literal}", in_json, in_address, rf"&\#(?:0*{number}|(?i:x0*{number:x}));"]
    named = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&apos;"}.get(character)
    short = {"\n": r"(?:\\+r)?\\+n|\r\n", "\t": r"\\+t", "\r": r"\\+r", " ": r"\+"}.get(character)
    ways += [way for way in (named, short) if way]
    if number < 0x100:
        ways.append(rf"\\+x(?i:{number:02x})")
    return f"(?:{'|'.join(ways)})"


def _utf16(character: str) -> list[int]:
    content = character.encode("utf-16-be", "surrogatepass")
    return [int.from_bytes(content[at : at + 2]) for at in range(0, len(content), 2)]


def _in_base64(content: bytes, offset: int) -> str:
    """Return the characters that base64 has for a content behind so many bytes, whatever stands around it."""
    encoded = base64.b64encode(bytes(offset) + content).decode().rstrip("=")
    length = offset + len(content)
    return encoded[(0, 2, 3)[offset] : len(encoded) - (1 if length % 3 else 0)]
