"""Grader files in JavaScript and TypeScript: modules that export a function ``grade``.

The tokens of the source are read, not its grammar: whatever they do not decide is unknown and not reported.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

from waza_engine.frozen import frozen
from waza_engine.spec.grader_results import Vocabulary
from waza_language_server.embedded.grader_files.findings import (
    UNKNOWN,
    GraderFinding,
    Key,
    ResultSource,
    StatusTest,
    input_findings,
    result_findings,
    status_findings,
)
from waza_language_server.embedded.javascript.assertions import Piece, pieces_of

_GRADE = "grade"
_CLOSING = {"(": ")", "[": "]", "{": "}"}
_DECLARING = frozenset({"const", "let", "var", "function", "class"})
_CONTROL = frozenset({"if", "for", "while", "switch", "catch", "with"})
_BEFORE_OBJECT = frozenset({"return", "=", "(", ",", ":", "[", "?", "&&", "||", "??", "..."})
_BEFORE_BLOCK = frozenset({"else", "try", "finally", "do", ";", "{", "}"})
_CONSTANTS: Mapping[str, object] = {"true": True, "false": False, "null": None}
_COMPARISONS = frozenset({"===", "==", "!==", "!="})
_MISSING = "every answer ends in an error, because no function `grade` is exported"


def module_findings(text: str, vocabulary: Vocabulary) -> Iterator[GraderFinding]:
    """Yield what is wrong in a grader module."""
    pieces = [piece for piece in pieces_of(text) if piece.kind != "comment"]
    partner = _partners(pieces)
    rest = text[pieces[-1].end :].lstrip() if pieces else ""
    if partner is None or not (not rest or rest.startswith(("//", "/*"))):
        return
    module = _Module(pieces, partner)
    yield from status_findings(_status_tests(pieces))
    exported = module.exported()
    if exported is None:
        return
    if exported.at is None:
        where = (pieces[0].start, pieces[0].end) if pieces else (0, 0)
        if exported.hint is not None:
            where = pieces[exported.hint].start, pieces[exported.hint].end
        yield GraderFinding(where, f"{_MISSING}; {exported.instead}")
        return
    function = module.function(exported.at)
    if isinstance(function, GraderFinding):
        yield function
    elif function is not None:
        yield from module.parameter_findings(function)
        for result in module.results(function):
            yield from result_findings(result, vocabulary)


def _partners(pieces: Sequence[Piece]) -> dict[int, int] | None:
    """Return the other bracket of each, None if some are not closed."""
    found: dict[int, int] = {}
    opened: list[int] = []
    for index, piece in enumerate(pieces):
        if (piece.kind == "mark" and piece.text in _CLOSING) or piece.text.endswith("${"):
            opened.append(index)
        elif piece.kind == "mark" and piece.text in _CLOSING.values():
            if not opened or _CLOSING[pieces[opened[-1]].text[-1]] != piece.text:
                return None
            found[opened[-1]] = index
            found[index] = opened.pop()
    return None if opened else found


@frozen()
class _Exported:
    """Where ``grade`` is declared, None if it is not exported: then ``instead`` says what to write."""

    at: int | None = None
    hint: int | None = None
    instead: str = "export one"


@frozen()
class _Function:
    """A function: its parameters are between two brackets, its body begins at a token."""

    opened: int
    closed: int
    body: int


class _Module:
    """The tokens of a module, and which brackets belong together."""

    def __init__(self, pieces: Sequence[Piece], partner: Mapping[int, int]) -> None:
        self._words = [piece.text if piece.kind in ("name", "mark") else "" for piece in pieces]
        self._pieces = pieces
        self._partner = partner

    def exported(self) -> _Exported | None:
        """Return where the exported ``grade`` is declared, None if that is unknown."""
        missing = _Exported()
        local = self._declared(_GRADE)
        if local is not None:
            missing = _Exported(hint=local, instead="write `export` before it, or list it in an `export`")
        for index in self._top_level():
            if self._words[index] in ("module", "exports"):
                return self._of_common_js(index)
            if self._words[index] == "export":
                found = self._of_export(index + 1)
                if found is None or found.at is not None:
                    return found
                missing = found if found.hint is not None else missing
        # It may be exported in a nested function, by a bundler's helper, or as a later name of a list.
        is_unknown = {"module", "exports", "require"} & {*self._words} or self._follows(_GRADE, (",", "."))
        return None if is_unknown else missing

    def _of_export(self, index: int) -> _Exported | None:
        """Return where the ``grade`` of one ``export`` is declared, None if that is unknown."""
        match self._words[index : index + 1]:
            case ["default"]:
                return self._of_default(index + 1)
            case ["{"]:
                listed = self._listed(index)
                declared = self._declared(listed[_GRADE]) if _GRADE in listed else None
                return None if _GRADE in listed and declared is None else _Exported(declared)
            case ["type" | "interface" | "declare" | "enum" | "abstract" | "namespace"]:
                return _Exported()
            case _:
                named = self._named(index)
                return None if named is None else _Exported(named if self._words[named] == _GRADE else None)

    def _follows(self, word: str, signs: tuple[str, ...]) -> bool:
        """Return whether a word gets a value after one of some signs."""
        triples = zip(self._words, self._words[1:], self._words[2:], strict=False)
        return any(first in signs and name == word and last == "=" for first, name, last in triples)

    def _top_level(self) -> Iterator[int]:
        index = 0
        while index < len(self._words):
            yield index
            index = self._partner[index] + 1 if self._words[index] in _CLOSING else index + 1

    def _of_common_js(self, index: int) -> _Exported | None:
        """Return where ``module.exports`` or ``exports`` gets a ``grade``."""
        after = index + (3 if self._words[index] == "module" else 1)
        match self._words[after : after + 3]:
            case [".", "grade", "="]:
                return _Exported(after + 1)
            case ["=", "{", *_] if _GRADE in [key.name for key in self._keys(after + 1)]:
                declared = self._declared(_GRADE)
                return None if declared is None else _Exported(declared)
            case _:
                return None

    def _of_default(self, index: int) -> _Exported | None:
        word = self._words[index] if index < len(self._words) else ""
        if word == "{":
            return None
        is_function = word in ("function", "async", "(")
        if word and not is_function and self._words[index + 1 : index + 2] in ([], [";"]):
            declared = self._declared(word)
            is_function = declared is not None and isinstance(self.function(declared), _Function)
        if not is_function:
            return None
        return _Exported(hint=index - 1, instead="export the function under this name, not as the default")

    def _listed(self, opened: int) -> Mapping[str, str]:
        """Return the local names of ``{a, b as c}`` by those that they are exported as."""
        words = [word for word in self._words[opened + 1 : self._partner[opened]] if word != "type"]
        listed = {word: word for word in words if word.isidentifier()}
        for index in range(1, len(words) - 1):
            if words[index] == "as":
                listed[words[index + 1]] = words[index - 1]
        return listed

    def _named(self, index: int) -> int | None:
        """Return the token of the name that is declared, None for anything but one declaration."""
        while index < len(self._words) and self._words[index] in (*_DECLARING, "async"):
            index += 1
        is_declared = self._words[index - 1] in _DECLARING and index < len(self._words)
        return index if is_declared and self._words[index].isidentifier() else None

    def _declared(self, name: str) -> int | None:
        """Return the token of a name where the module declares it."""
        for index in self._top_level():
            if self._words[index] == name and index and self._words[index - 1] in _DECLARING:
                return index
        return None

    def function(self, at: int) -> _Function | GraderFinding | None:
        """Return the function that is declared at a name; a finding for another value, None if unknown."""
        if self._words[at - 1 : at] == ["function"]:
            opened = at + 1
            return self._function(opened) if self._words[opened : opened + 1] == ["("] else None
        if self._words[at - 1 : at] == ["class"]:
            return GraderFinding(self._place(at), f"{_MISSING}: this is a class")
        index = at + 1
        while index < len(self._words) and self._words[index] not in ("=", ";"):
            index = self._partner[index] + 1 if self._words[index] in _CLOSING else index + 1
        index += 1
        if index >= len(self._words) or self._words[index - 1] == ";":
            return None
        if self._words[index] == "async":
            index += 1
        if self._words[index] == "function":
            while index < len(self._words) and self._words[index] != "(":
                index += 1
            return self._function(index) if index < len(self._words) else None
        if self._words[index] == "(":
            return self._function(index)
        is_value = self._pieces[index].kind in ("text", "number") or self._words[index] in _CONSTANTS
        # `{…}` and `[…]` may be followed by something that makes a function of them.
        ends = self._words[index + 1 : index + 2] in ([], [";"]) or self._is_new_line(index + 1)
        if is_value and ends:
            return GraderFinding(self._place(at), f"{_MISSING}: this is no function")
        return None

    def _is_new_line(self, index: int) -> bool:
        return self._words[index] in ("export", "const", "function", "import")

    def _function(self, opened: int) -> _Function | None:
        """Return the function whose parameters begin at a bracket, None if it is another expression."""
        closed = self._partner[opened]
        depth = 0
        index = closed + 1
        while index < len(self._words):
            word = self._words[index]
            if word == "=>" and depth == 0:
                return _Function(opened, closed, index + 1)
            if word == "{" and depth == 0 and self._words[index - 1] not in (":", "|", "&", "<", ","):
                return _Function(opened, closed, index)
            if index == closed + 1 and word != ":":
                return None
            depth += word.count("<") - (word.count(">") if word != "=>" else 0)
            index = self._partner[index] + 1 if word in _CLOSING else index + 1
        return None

    def parameter_findings(self, function: _Function) -> Iterator[GraderFinding]:
        """Yield parameters that are never given, and misspelt keys of the first one."""
        words = self._words[function.opened + 1 : function.closed]
        if "<" in words:
            # The commas of a generic type are no ends of parameters.
            return
        starts = [function.opened + 1, *(comma + 1 for comma in self._commas(function.opened))]
        for start in starts[1:]:
            later = self._words[start + 1 : start + 2]
            if self._words[start].isidentifier() and later not in (["="], ["?"]):
                name = self._words[start]
                message = f"`grade` is called with one object, so `{name}` is undefined; read it from that"
                yield GraderFinding(self._place(start), message)
        if not words:
            return
        first = starts[0]
        keys = list(self._keys(first)) if words[0] == "{" else self._read_from(words[0])
        yield from input_findings(keys)

    def _read_from(self, name: str) -> Iterator[Key]:
        """Yield the keys that are read from an object with a name."""
        for index, word in enumerate(self._words[:-2]):
            is_own = word == name and self._words[index - 1] not in (".", "?.")
            if is_own and self._words[index + 1] in (".", "?.") and self._words[index + 2].isidentifier():
                yield Key(self._words[index + 2], self._place(index + 2))

    def results(self, function: _Function) -> Iterator[ResultSource]:
        """Yield the objects that a function returns."""
        body = function.body
        if self._words[body] == "(" and self._words[body + 1] == "{":
            yield from self._result(body + 1)
            return
        if self._words[body] != "{":
            return
        index = body + 1
        while index < self._partner[body]:
            if self._words[index] == "{" and self._is_function_body(index):
                index = self._partner[index]
            elif self._words[index] == "return" and self._words[index - 1] != ".":
                opened = index + (2 if self._words[index + 1] == "(" else 1)
                if self._words[opened] == "{":
                    yield from self._result(opened)
            index += 1

    def _is_function_body(self, opened: int) -> bool:
        """Return whether a brace opens the body of a function or class, or may do so."""
        before = self._words[opened - 1]
        if before == ")":
            start = self._partner[opened - 1]
            return self._words[start - 1] not in _CONTROL
        return before not in _BEFORE_OBJECT and before not in _BEFORE_BLOCK

    def _result(self, opened: int) -> Iterator[ResultSource]:
        """Yield the object at a brace, unless an operator follows that may make something else of it."""
        closed = self._partner[opened]
        if self._words[closed + 1 : closed + 2] in (["."], ["?."], ["["]):
            return
        keys = tuple(self._keys(opened))
        entries = 1 + sum(1 for _ in self._commas(opened)) if closed > opened + 1 else 0
        yield ResultSource(self._place(opened, closed), keys, open=len(keys) < entries)

    def _keys(self, opened: int) -> Iterator[Key]:
        """Yield the keys of an object, or of a pattern that takes one apart."""
        closed = self._partner[opened]
        ends = [opened, *self._commas(opened), closed]
        for before, after in pairwise(ends):
            start, end = before + 1, after - (self._words[after - 1] == ",")
            piece = self._pieces[start]
            name = piece.text[1:-1] if piece.kind == "text" else self._words[start]
            if start == end or not (name.isidentifier() or piece.kind == "text"):
                continue
            value = UNKNOWN
            if self._words[start + 1] == ":" and end == start + 3:
                value = _value_of(self._pieces[start + 2])
            yield Key(name, self._place(start), value)

    def _commas(self, opened: int) -> Iterator[int]:
        """Yield the commas between the entries in a bracket, without one before its end."""
        index, closed = opened + 1, self._partner[opened]
        while index < closed:
            if self._words[index] == "," and index + 1 < closed:
                yield index
            index = self._partner[index] + 1 if self._words[index] in _CLOSING else index + 1

    def _place(self, first: int, last: int | None = None) -> tuple[int, int]:
        return self._pieces[first].start, self._pieces[first if last is None else last].end


def _value_of(piece: Piece) -> object:
    if piece.kind == "text":
        return piece.text[1:-1]
    if piece.kind == "number":
        try:
            return float(piece.text)
        except ValueError:
            return UNKNOWN
    return _CONSTANTS.get(piece.text, UNKNOWN)


def _status_tests(pieces: Sequence[Piece]) -> Iterator[StatusTest]:
    """Yield the comparisons with the status of an item of a loop, in a file that reads a trajectory."""
    if not any(piece.text == "trajectory" for piece in pieces):
        return
    texts = [piece.text for piece in pieces]
    items = {texts[index - 1] for index, text in enumerate(texts) if text == "=>" and index}
    for index, text in enumerate(texts[:-2]):
        if text in ("(", "const", "let") and (texts[index + 2] in (")", ",", "of")):
            items.add(texts[index + 1])
    for index in range(len(texts) - 2):
        left = texts[index : index + 3]
        if left[0] in items and left[1] in (".", "?.") and left[2] == "status":
            for sign, side in ((index + 3, index + 4), (index - 1, index - 2)):
                if side not in range(len(pieces)) or pieces[side].kind != "text":
                    continue
                if texts[sign] in _COMPARISONS:
                    yield StatusTest((pieces[side].start, pieces[side].end), texts[side][1:-1])
