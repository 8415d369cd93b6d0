"""Assertions in JavaScript as an editor knows them: what is wrong, what can be written, what it means."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from waza_language_server.embedded.brackets import open_call
from waza_language_server.embedded.javascript.findings import assertion_findings, declared_in
from waza_language_server.embedded.javascript.inference import type_before
from waza_language_server.embedded.javascript.members import CONTEXT, Member, globals_, members_of
from waza_language_server.embedded.javascript.source import KEYWORDS, Piece, Source, read
from waza_language_server.embedded.javascript.tokens import assertion_tokens
from waza_language_server.embedded.language import (
    NOWHERE,
    Checked,
    Explanation,
    Signature,
    Surroundings,
    Token,
    Word,
)

_DOTS = frozenset({".", "?."})
_HOLDERS = frozenset({"Math", "JSON", "Object()", "Array()", "Number()"})
"""What has members without being a value that assertions look at."""


class JavaScriptAssertions:
    """The language of assertions of a grader with ``language: javascript``; Node.js runs them."""

    def check(self, value: str, around: Surroundings = NOWHERE) -> Checked:
        """Return what makes an assertion fail whatever the agent does."""
        return Checked(tuple(assertion_findings(value, around.names)), declared_in(value))

    def complete(self, value: str, offset: int, around: Surroundings = NOWHERE) -> Iterator[Word]:
        """Yield properties behind a dot, else the names that exist there; nothing inside texts."""
        code, typed = _before(value, offset)
        if code is None:
            return
        if code and code[-1].text in _DOTS:
            for name, member in members_of(type_before(code, len(code) - 1)).items():
                called = member.parameters is not None
                text = f"{name}()" if called else name
                kind = "function" if called else "field"
                yield Word(text, kind, _label(name, member), member.documentation, typed)
        elif not typed and code and (code[-1].kind != "mark" or code[-1].text in {")", "]"}):
            return
        else:
            for name in sorted(declared_in(value) | around.names):
                yield Word(name, "variable", "", "Declared by an assertion of this grader.", typed)
            for name, (kind, documentation) in CONTEXT.items():
                yield Word(name, "variable", kind, documentation, typed)
            for name, member in globals_().items():
                yield Word(name, "function", _label(name, member), member.documentation, typed)

    def hover(self, value: str, offset: int, around: Surroundings = NOWHERE) -> Explanation | None:
        """Explain the name at an offset."""
        code = read(value).code
        for index, piece in enumerate(code):
            if piece.kind == "name" and piece.start <= offset <= piece.end:
                text = _explained(code, index)
                return Explanation(piece.start, piece.end, text) if text else None
        return None

    def signature(self, value: str, offset: int) -> Signature | None:
        """Return how the function is called whose arguments stand at an offset."""
        code = read(value[:offset]).code
        found = open_call(
            [piece.text if piece.kind == "mark" else "" for piece in code],
            lambda index: code[index].kind == "name" and code[index].text not in KEYWORDS,
        )
        if found is None:
            return None
        opened, commas = found
        return _signature(code, opened - 1, commas)

    def tokens(self, value: str) -> Iterator[Token]:
        """Yield what is to be coloured."""
        return assertion_tokens(value)


def _before(value: str, offset: int) -> tuple[Sequence[Piece] | None, int]:
    """Return the pieces before what is being typed and its length; None inside a text or a comment."""
    whole: Source = read(value[:offset])
    if whole.open_text >= 0 or (whole.pieces and whole.pieces[-1].kind == "comment"):
        return None, 0
    code = whole.code
    if code and code[-1].kind == "name" and code[-1].end == offset:
        return code[:-1], offset - code[-1].start
    return code, 0


def _explained(code: Sequence[Piece], index: int) -> str:
    name = code[index].text
    if index and code[index - 1].text in _DOTS:
        owner = type_before(code, index - 1)
        member = members_of(owner).get(name)
        if member is None:
            return ""
        of = f"`{owner.removesuffix('()')}`" if owner in _HOLDERS else f"a value of type `{owner}`"
        return f"**{name}** of {of}\n\n{member.documentation}" + _called(name, member)
    if type_before(code, index + 1) == "" and name not in globals_():
        return ""
    if name in CONTEXT and type_before(code, index + 1) == CONTEXT[name][0]:
        kind, documentation = CONTEXT[name]
        return f"**{name}** {documentation}\n\n`{name}: {kind}`"
    if name in globals_():
        member = globals_()[name]
        return f"**{name}** {member.documentation}" + _called(name, member)
    return f"**{name}**: a value of type `{type_before(code, index + 1)}`."


def _called(name: str, member: Member) -> str:
    return f"\n\n`{_label(name, member)}`" if member.parameters is not None else ""


def _label(name: str, member: Member) -> str:
    returns = member.returns.removesuffix("()")
    if member.parameters is None:
        return "" if returns == name else returns
    return f"{name}({', '.join(member.parameters)})" + (f" → {returns}" if returns else "")


def _signature(code: Sequence[Piece], index: int, active: int) -> Signature | None:
    name = code[index].text
    if index and code[index - 1].text in _DOTS:
        member = members_of(type_before(code, index - 1)).get(name)
    else:
        member = globals_().get(name)
    if member is None or member.parameters is None:
        return None
    last = max(len(member.parameters) - 1, 0)
    return Signature(_label(name, member), member.parameters, member.documentation, min(active, last))
