"""The tree of a JSON text, in every state of the text: the nodes of the YAML tree, read in one pass.

A valid text gives what ``json.loads`` gives, apart from duplicate keys. Where a text is not valid, the reader
notes a fault, assumes the likeliest mistake, and continues: a broken case leaves the other cases usable.

Architecture invariant: a tree depends on its text alone. The items of the version before are only taken over
where the text is the same.
"""

from __future__ import annotations

import json
from bisect import bisect_left, bisect_right
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from waza_engine.checkpoint import checkpoint
from waza_engine.later_patterns import compiled_later
from waza_engine.spec.reading.json_numbers import unreadable_number
from waza_engine.spec.reading.yaml_faults import MAX_DEPTH, sentence
from waza_language_server.syntax.fault import SyntaxFault
from waza_language_server.syntax.green import Green, Placed, Style, names_of
from waza_language_server.syntax.libyaml_events import duplicate_keys
from waza_language_server.syntax.nodes import Node
from waza_language_server.syntax.tree import MOST_FAULTS, Tree, merged, unreadable
from waza_language_server.text.edit import Edit, Edits, Fix
from waza_language_server.text.span import Span

_ESCAPE = r"""\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})"""
_STRING = rf'"[^"\\\x00-\x1f]*+(?:{_ESCAPE}[^"\\\x00-\x1f]*+)*+"'
_NUMBER = r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?"
_TOKEN = compiled_later(
    rf"""[ \t\r\n]*+(?:(?P<string>{_STRING})|(?P<mark>[{{}}\[\],:])"""
    rf"""|(?P<plain>true|false|null|{_NUMBER})(?=[\s,:\[\]{{}}"]|\Z)"""
    r"""|(?P<comment>//[^\r\n]*|\#[^\r\n]*|/\*(?s:.*?)(?:\*/|\Z))|(?P<single>'(?:[^'\\\r\n]|\\.)*+')"""
    r"""|(?P<other>(?s:.))|\Z)"""
)
_WORD = compiled_later(r'[^\s,:\[\]{}"]+')
_REST_OF_LINE = compiled_later(r"[^\r\n]*")
_COLON_FOLLOWS = compiled_later(r"[ \t\r\n]*+:")
_ON_LINE = compiled_later(r'"(?:[^"\\\r\n]|\\[^\r\n])*+\\?')
_ON_LINES = compiled_later(r'"(?:[^"\\]|\\(?s:.))*+"(?=[ \t]*(?:[,:}\]\r\n]|\Z))')
_JSON_BELOW = compiled_later(r'\s*+(?:["{}\[\],]|\Z)')
_BAD_ESCAPE = compiled_later(rf"(?P<good>{_ESCAPE})|\\|[\x00-\x1f]")
_HALF = compiled_later("[\ud800-\udfff]")
"""Half of a surrogate pair: Python keeps it, but can neither write nor compare it as text."""
_LITERALS = {"True": "true", "False": "false", "None": "null", "undefined": "null", "NaN": "null"}
_CLOSING = {"{": "}", "[": "]"}
_TOKENS_PER_CHECKPOINT = 500
_MOST_FAULTS_READ = 2 * MOST_FAULTS
"""A text with more faults is not JSON: the rest is not read."""
_COMPARED = 48
"""Characters of an item by which the same item of the version before is searched."""
_Known = Mapping[str, list[tuple[str, Green]]]
_NOTHING_KNOWN: _Known = {}


def parse_json(text: str, previous: Tree | None = None) -> Tree:
    """Parse a text. ``previous`` is the tree of an earlier version of the same document, if there is one."""
    if (refused := unreadable(text, parse_json)) is not None:
        return refused
    root, faults, guesses = read_value(text, 1 if text.startswith("\ufeff") else 0, _known_items(previous))
    node = Node(root.green, root.offset) if root is not None else None
    return Tree(
        text, node, tuple(faults[:MOST_FAULTS]), guesses=merged(sorted(guesses)), read_again=parse_json
    )


def read_value(
    text: str, at: int = 0, known: _Known = _NOTHING_KNOWN
) -> tuple[Placed | None, list[SyntaxFault], list[Span]]:
    """Return the value that begins at ``at``, the faults, and the parts whose reading is uncertain."""
    reader = _Reader(text, at, known)
    root = reader.read()
    return root, sorted(reader.faults, key=lambda fault: (fault.span.start, fault.span.end)), reader.guesses


def _known_items(previous: Tree | None) -> _Known:
    """Return the items without faults of the lists at the top of a tree, by how they begin."""
    known: dict[str, list[tuple[str, Green]]] = {}
    if previous is None or previous.root is None or len(previous.errors) >= MOST_FAULTS:
        return known
    faulty = [fault.span.start for fault in previous.errors]
    for items in (previous.root, *(entry.value for entry in previous.root.each_entry())):
        for item in items.each_item():
            span = item.span
            if item.green.start or bisect_left(faulty, span.start) < bisect_right(faulty, span.end):
                continue
            text = previous.text[span.start : span.end]
            known.setdefault(text[:_COMPARED], []).append((text, item.green))
    return known


_State = Literal["key", "colon", "value", "end"]


@dataclass(slots=True)
class _Frame:
    """An open bracket. Its spans are relative to ``base``; ``state`` is what is due: ``value`` in a list."""

    bracket: str
    start: int
    base: int
    state: _State
    children: list[Placed] = field(default_factory=list[Placed])
    comma: int = -1
    """The place of the comma before the cursor, if nothing follows it yet."""
    is_left_out: bool = False
    """True if it is at a place where only a key can be."""
    end: int = 0
    """The end of what was read last."""


class _Reader:
    """Reads one text from ``at`` on. ``guesses`` are the parts whose reading is uncertain."""

    def __init__(self, text: str, at: int, known: _Known) -> None:
        self.text = text
        self.known = known
        self.faults: list[SyntaxFault] = []
        self.guesses: list[Span] = []
        self.frames: list[_Frame] = []
        self.root: Placed | None = None
        self.at = at
        self.is_cut_off = False
        """True if the rest of the text is not read: brackets are closed there, and keys have values."""

    def read(self) -> Placed | None:
        """Read the text and return its outermost value, None if there is none."""
        text, match_token, count = self.text, _TOKEN.match, 0
        while (match := match_token(text, self.at)) is not None and (kind := match.lastgroup) is not None:
            count += 1
            if not count % _TOKENS_PER_CHECKPOINT:
                checkpoint()
            start, self.at = match.start(kind), match.end()
            if kind == "comment":
                self.comment(Span(start, self.at))
            elif self.root is not None:
                self.after_end(start)
                break
            elif len(self.faults) > _MOST_FAULTS_READ:
                self.guesses.append(Span(start, len(text)))
                self.is_cut_off = True
                break
            elif kind == "mark":
                self.mark(text[start], start)
            else:
                self.scalar(kind, start)
        self.close_all()
        return self.root

    def fault(self, span: Span, message: str, *fixes: Fix, guess: bool = False) -> None:
        """Note a fault; ``guess`` says that the reading of the text around it is uncertain."""
        if not self.is_cut_off:
            self.faults.append(SyntaxFault(span, message, "json-syntax", fixes=fixes))
        if guess:
            self.guesses.append(span)

    def comment(self, span: Span) -> None:
        remove = Fix("Delete the comment", (Edit(span, ""),), preferred=True)
        is_closed = not self.text.startswith("/*", span.start) or self.text.endswith("*/", 0, span.end)
        self.fault(span, "JSON has no comments; delete it.", *([remove] if is_closed else []))

    def after_end(self, start: int) -> None:
        end = len(self.text.rstrip())
        message = "The JSON value ends before this text; delete it, or the bracket that closes too early."
        line = _REST_OF_LINE.match(self.text, start)
        self.fault(Span(start, line.end() if line is not None else end), message)
        self.guesses.append(Span(start, end))

    # Marks.

    def mark(self, char: str, start: int) -> None:
        if char in "{[":
            self.open(char, start)
        elif char in "}]":
            self.close(char, start)
        elif not self.frames:
            self.fault(Span(start, start + 1), f"A JSON value cannot begin with `{char}`.", guess=True)
        elif char == ",":
            self.comma(start)
        else:
            self.colon(start)

    def open(self, bracket: str, start: int) -> None:
        frames = self.frames
        if len(frames) >= MAX_DEPTH:
            message = f"Lists and objects are nested more than {MAX_DEPTH} levels deep here; no more is read."
            self.faults.append(SyntaxFault(Span(start, start + 1), message, "too-deep"))
            self.guesses.append(Span(start, len(self.text)))
            self.at = len(self.text)
            self.is_cut_off = True
            return
        is_left_out = bool(frames) and not self.makes_room(start, bracket)
        above = frames[-1] if frames else None
        base = above.base if above is not None else 0
        if above is not None and bracket == "{" and self.is_top_list():
            base = start
            for text, green in self.known.get(self.text[start : start + _COMPARED], ()):
                if self.text.startswith(text, start):
                    self.at = start + len(text)
                    self.add(Placed(green, start - above.base), self.at)
                    return
        state: _State = "key" if bracket == "{" else "value"
        frames.append(_Frame(bracket, start, base, state, is_left_out=is_left_out, end=start + 1))

    def is_top_list(self) -> bool:
        """Return whether the innermost bracket is the list of cases: the outermost one, or a value in it."""
        return self.frames[-1].bracket == "[" and len(self.frames) <= 2

    def makes_room(self, start: int, bracket: str) -> bool:
        """Prepare the innermost bracket for another one; False if only a key can be there."""
        frame = self.frames[-1]
        if frame.state == "end":
            self.lacks_comma(frame, Span(start, start + 1))
        elif frame.state == "colon":
            self.lacks_colon(frame, Span(start, start + 1))
        if frame.state != "key":
            return True
        if bracket == "{" and len(self.frames) > 1 and self.frames[-2].bracket == "[" and frame.children:
            # The next item of the list around begins: the object before it lacks its bracket.
            frame.comma = -1
            self.unclosed(frame)
            self.pop(frame.end)
            self.frames[-1].state = "value"
            return True
        frame.comma = -1
        here = Span(start, start + 1)
        self.fault(here, "A key in double quotes is missing before this bracket.", guess=True)
        return False

    def close(self, char: str, start: int) -> None:
        wanted = "{" if char == "}" else "["
        if all(frame.bracket != wanted for frame in self.frames):
            remove = Fix(f"Delete `{char}`", (Edit(Span(start, start + 1), ""),))
            message = f"No bracket is open that `{char}` closes."
            self.fault(Span(start, start + 1), message, remove, guess=True)
            return
        while (frame := self.frames[-1]).bracket != wanted:
            self.unclosed(frame)
            self.pop(frame.end)
        self.pop(start + 1)

    def comma(self, start: int) -> None:
        frame, here = self.frames[-1], Span(start, start + 1)
        if frame.state == "end":
            frame.state, frame.comma = ("key" if frame.bracket == "{" else "value"), start
        elif frame.bracket == "{" and frame.state != "key":
            self.lacks_value(frame)
            frame.state, frame.comma = "key", start
        else:
            remove = Fix("Delete the comma", (Edit(here, ""),), preferred=True)
            self.fault(here, "There is nothing before this comma; delete it.", remove)
        frame.end = start + 1

    def colon(self, start: int) -> None:
        frame = self.frames[-1]
        if frame.bracket == "{" and frame.state == "colon":
            frame.state = "value"
        else:
            where = "A list has no keys" if frame.bracket == "[" else "No key is before this colon"
            self.fault(Span(start, start + 1), f"{where}; delete the colon.", guess=True)
            if frame.bracket == "[":
                frame.state = "value"
        frame.end = start + 1

    # Values.

    def scalar(self, kind: str, start: int) -> None:
        text, style, value = self.text, "double", ""
        if kind == "string":
            value = text[start + 1 : self.at - 1]
            if "\\" in value:
                value = self.decoded(text[start : self.at], start)
        elif kind == "plain":
            style, value = "plain", self.plain(start)
        elif kind == "single":
            style, value = "single", text[start + 1 : self.at - 1]
            self.in_quotes(start, value, "JSON writes strings in double quotes.")
        elif text[start] == '"':
            value = self.broken_string(start)
        else:
            word = _WORD.match(text, start)
            self.at = word.end() if word else self.at
            style, value = "plain", self.bare_word(start, text[start : self.at])
        if not self.frames:
            self.root = Placed(self.leaf(start, 0, style, value))
            return
        frame = self.frames[-1]
        if frame.state == "colon" and kind != "plain" and _COLON_FOLLOWS.match(text, self.at):
            self.lacks_value(frame)
            frame.state = "end"
        elif frame.state == "colon":
            self.lacks_colon(frame, Span(start, self.at))
        if frame.state == "end":
            self.lacks_comma(frame, Span(start, self.at))
        leaf = Placed(self.leaf(start, frame.base, style, value))
        if frame.state == "key":
            if style == "plain" and kind == "plain":
                self.in_quotes(start, value, "A key is a string in double quotes.")
            frame.children.append(leaf)
            frame.state, frame.comma, frame.end = "colon", -1, self.at
        else:
            self.add(leaf, self.at)

    def plain(self, start: int) -> str:
        value = self.text[start : self.at]
        if value[-1].isdecimal() and (why := unreadable_number(value)):
            self.in_quotes(start, value, sentence(why))
        return value

    def leaf(self, start: int, base: int, style: Style, value: str) -> Green:
        return Green("scalar", start - base, self.at - base, style, value)

    def add(self, value: Placed, end: int) -> None:
        frame = self.frames[-1]
        frame.children.append(value)
        frame.state, frame.comma, frame.end = "end", -1, end

    def bare_word(self, start: int, word: str) -> str:
        """Note that a word is no JSON; return the value that is intended."""
        here, frame = Span(start, self.at), self.frames[-1] if self.frames else None
        is_key = frame is not None and frame.bracket == "{" and frame.state in {"key", "end"}
        if word in _LITERALS and not is_key:
            written = _LITERALS[word]
            fix = Fix(f"Write `{written}`", (Edit(here, written),), preferred=True)
            self.fault(here, f"JSON has no `{word}`; write `{written}`.", fix)
            return written
        if word[0].isdecimal() or word[0] in "+-.":
            self.in_quotes(start, word, "This is no JSON number; write its digits, or a string in quotes.")
        else:
            what = "A key" if is_key else "A string"
            self.in_quotes(start, word, f"{what} needs double quotes.")
            self.guesses.append(here)
        return word

    def in_quotes(self, start: int, value: str, message: str) -> None:
        here = Span(start, self.at)
        written = json.dumps(value, ensure_ascii=False)
        self.fault(here, message, Fix("Write it in double quotes", (Edit(here, written),), preferred=True))

    def broken_string(self, start: int) -> str:
        """Read a string that has an invalid escape or character, or no end; return its value."""
        text = self.text
        line = _ON_LINE.match(text, start)
        end = line.end() if line is not None else start + 1
        if not text.startswith('"', end):
            whole = None if _JSON_BELOW.match(text, end) else _ON_LINES.match(text, start)
            end = self.unclosed_string(start, end) if whole is None else whole.end() - 1
        self.at = min(end + text.startswith('"', end), len(text))
        parts: list[str] = []
        last = start + 1
        for match in _BAD_ESCAPE.finditer(text, start + 1, end):
            if match["good"]:
                continue
            bad = text[match.start() : match.end()]
            written = "\\\\" if bad == "\\" else json.dumps(bad)[1:-1]
            parts += (text[last : match.start()], written)
            last = match.end()
            self.bad_character(Span(match.start(), last), bad, written)
        return self.decoded('"' + "".join((*parts, text[last:end])) + '"', start)

    def decoded(self, written: str, start: int) -> str:
        """Return the value of a string; in place of half a character it has the replacement character."""
        value = json.loads(written)
        if _HALF.search(value) is None:
            return value
        message = "A `\\u` escape is half of a character here; write the character itself, or both halves."
        self.fault(Span(start, self.at), message)
        return _HALF.sub("\ufffd", value)

    def bad_character(self, span: Span, bad: str, written: str) -> None:
        if bad == "\\":
            escape = self.text[span.start : span.end + 1].strip()
            message = f"JSON has no escape `{escape}`; write `\\\\` for a backslash."
        else:
            message = f"A string cannot hold this character as it is; write `{written}`."
        self.fault(span, message, Fix(f"Write `{written}`", (Edit(span, written),), preferred=True))

    def unclosed_string(self, start: int, end: int) -> int:
        """Note that the string has no end on its line; return where it probably ends."""
        content = self.text[start:end].rstrip()
        if len(content) > 1 and content[-1] == "," and not content.endswith('",'):
            content = content[:-1].rstrip()
        end = start + max(1, len(content))
        close = Fix("Close the string", (Edit(Span(end, end), '"'),))
        self.fault(Span(start, end), 'This string is not closed; write `"` at its end.', close, guess=True)
        return end

    # Missing parts.

    def lacks_comma(self, frame: _Frame, found: Span) -> None:
        insert = Fix("Insert a comma", (Edit(Span(frame.end, frame.end), ","),), preferred=True)
        self.fault(found, "A comma is missing before this.", insert, guess=True)
        frame.state = "key" if frame.bracket == "{" else "value"

    def lacks_colon(self, frame: _Frame, found: Span) -> None:
        insert = Fix("Insert a colon", (Edit(Span(frame.end, frame.end), ":"),), preferred=True)
        self.fault(found, "A colon is missing between the key and this value.", insert, guess=True)
        frame.state = "value"

    def lacks_value(self, frame: _Frame) -> None:
        """Give the key that was read last an empty value, at the place where one would type it."""
        key = frame.children[-1].green
        span = Span(key.start + frame.base, key.end + frame.base)
        self.fault(span, f"`{key.value}` has no value.", guess=True)
        at = frame.end - frame.base
        frame.children.append(Placed(Green("scalar", at, at)))
        frame.state = "end"

    def unclosed(self, frame: _Frame, repair: Edits = ()) -> None:
        closing = _CLOSING[frame.bracket]
        insert = Fix(f"Insert `{closing}`", repair or (Edit(Span(frame.end, frame.end), closing),))
        opened = Span(frame.start, frame.start + 1)
        message = f"This `{frame.bracket}` is not closed; `{closing}` is missing."
        self.fault(opened, message, insert, guess=True)

    def close_all(self) -> None:
        """Close all brackets that are open at the end; one fault says so."""
        if self.frames:
            closing = "".join(_CLOSING[frame.bracket] for frame in reversed(self.frames))
            end = len(self.text.rstrip())
            self.unclosed(self.frames[-1], (Edit(Span(end, end), closing),))
            self.guesses += [Span(frame.start, frame.start + 1) for frame in self.frames]
        while self.frames:
            self.pop(self.frames[-1].end)

    def pop(self, end: int) -> None:
        """Close the innermost bracket and put it into the one around."""
        frame = self.frames[-1]
        if frame.bracket == "{" and frame.state in {"colon", "value"}:
            self.lacks_value(frame)
        elif frame.comma >= 0:
            here = Span(frame.comma, frame.comma + 1)
            remove = Fix("Delete the comma", (Edit(here, ""),), preferred=True)
            self.fault(here, "JSON has no comma after the last value; delete it.", remove)
        self.frames.pop()
        base, children = frame.base, frame.children
        start, stop = frame.start - base, max(end, frame.end) - base
        if frame.bracket == "[":
            green = Green("sequence", start, stop, "flow", children=tuple(children))
        else:
            names = names_of(children)
            green = Green("mapping", start, stop, "flow", children=tuple(children), names=names)
            if names is None or len(set(names)) < len(names):
                self.faults += (fault.shifted(base) for fault in duplicate_keys(children[::2]))
        if frame.is_left_out:
            self.frames[-1].state, self.frames[-1].end = "end", end
        elif self.frames:
            self.add(Placed(green, base - self.frames[-1].base), max(end, frame.end))
        else:
            self.root = Placed(green, base)
