"""Editor features for Python assertions: diagnostics, completion, hover."""

from __future__ import annotations

import keyword
import re
import tokenize
from collections.abc import Iterator, Mapping, Sequence

from waza_engine.assertions.names import (
    CONTEXT_NAMES,
    DOCS,
    FUNCTION_NAMES,
    is_refused_attribute,
    is_refused_member,
)
from waza_engine.later_patterns import compiled_later
from waza_engine.spelling import article
from waza_language_server.embedded.language import (
    NOWHERE,
    Checked,
    CompletionWord,
    Explanation,
    Language,
    Signature,
    Surroundings,
    Token,
)
from waza_language_server.embedded.python.assertion_problems import KNOWN_NAMES, assertion_findings
from waza_language_server.embedded.python.inference import bound_types, type_before
from waza_language_server.embedded.python.members import (
    CONTEXT_TYPES,
    EVENT,
    FUNCTIONS,
    RE,
    TEXT,
    TOOL_CALL,
    ValueType,
    members_of,
)
from waza_language_server.embedded.python.python_source import (
    CLOSERS,
    PythonFault,
    first_tokens,
    open_call,
    parse_python,
    unclosed,
)
from waza_language_server.embedded.python.python_source import Token as Written
from waza_language_server.embedded.python.scopes import resolve_names


class PythonAssertions(Language):
    """The default language of assertions."""

    def check(self, value: str, around: Surroundings = NOWHERE) -> Checked:
        """Return the problems that make an assertion fail whatever the agent does."""
        findings, known = assertion_findings(value, KNOWN_NAMES | around.names)
        return Checked(findings, known - KNOWN_NAMES)

    def complete(self, value: str, offset: int, around: Surroundings = NOWHERE) -> Iterator[CompletionWord]:
        """Yield keys after a bracket, attributes after a dot, else the names that exist there."""
        before = value[:offset]
        quote = _open_quote(before)
        if quote is not None:
            yield from _keys(value, before, quote)
            return
        written = first_tokens(before)
        # The word being typed, and the tokens before it.
        typed = written[-1] if written and written[-1].end == offset and _is_name(written[-1]) else None
        length = offset - typed.start if typed is not None else 0
        ahead = written[:-1] if typed is not None else written
        if ahead and ahead[-1].text == ".":
            yield from _attributes(value, ahead[:-1], length)
            return
        if ahead and ahead[-1].text == "[":
            yield from _fields(type_before(value, ahead[:-1]) or TEXT, "'", length)
        if typed is not None or not (written and _is_name(written[-1]) and written[-1].end == offset):
            yield from _names(value, offset, length, around.names)

    def hover(self, value: str, offset: int, around: Surroundings = NOWHERE) -> Explanation | None:
        """Explain the name or the key at an offset."""
        for match in _NAME.finditer(value):
            if not match.start() <= offset <= match.end():
                continue
            text = _explained(value, match.start(), match[0], around)
            return Explanation(*match.span(), text) if text else None
        return None

    def signature(self, value: str, offset: int) -> Signature | None:
        """Return the signature of the function whose arguments are at an offset."""
        before = value[:offset]
        quote = _open_quote(before)
        written = first_tokens(before, quote)
        found = open_call([token.text for token in written], lambda index: _is_name(written[index]))
        if found is None:
            return None
        opened, commas = found
        return _signature(value, written[:opened], commas)

    def tokens(self, value: str) -> Iterator[Token]:
        """Yield the tokens to highlight."""
        written = first_tokens(value)
        for index, token in enumerate(written):
            found = _token(written, index)
            if found is not None and token.end > token.start:
                yield found


_BRACKETS = frozenset("()[]{},.:;")


def _token(written: Sequence[Written], index: int) -> Token | None:
    token = written[index]
    if token.kind == tokenize.NAME:
        return _of_name(written, index)
    if token.kind == tokenize.NUMBER:
        return Token(token.start, token.end, "number")
    if token.kind == tokenize.STRING:
        return Token(token.start, token.end, "regexp" if _is_pattern(written, index) else "string")
    if token.kind == tokenize.OP and token.text not in _BRACKETS:
        return Token(token.start, token.end, "operator")
    return None


def _of_name(written: Sequence[Written], index: int) -> Token:
    token = written[index]
    before = written[index - 1].text if index else ""
    called = index + 1 < len(written) and written[index + 1].text == "("
    if keyword.iskeyword(token.text):
        return Token(token.start, token.end, "keyword")
    if before == ".":
        return Token(token.start, token.end, "method" if called else "property")
    if token.text == "re":
        return Token(token.start, token.end, "namespace", "defaultLibrary")
    if token.text in FUNCTION_NAMES:
        return Token(token.start, token.end, "function", "defaultLibrary")
    if token.text in CONTEXT_NAMES:
        return Token(token.start, token.end, "variable", "defaultLibrary")
    return Token(token.start, token.end, "function" if called else "variable")


def _is_pattern(written: Sequence[Written], index: int) -> bool:
    """Return whether a string is the first argument of a function of ``re``."""
    if index < 4 or written[index - 1].text != "(":
        return False
    function, dot, module = (written[index - back].text for back in (2, 3, 4))
    return module == "re" and dot == "." and function in members_of(RE)


_NAME = compiled_later(r"[^\W\d]\w*")
LONGEST_SCOPED = 1_000
"""In characters; in a longer assertion all names are completed, whatever the scope of the cursor."""
_CALLS_WITH_TEXT = frozenset(
    {"startswith", "endswith", "count", "find", "index", "removeprefix", "removesuffix", "join"}
)
_RE_CALLS = {name: f"{name}(r'', output)" for name in ("search", "match", "findall", "fullmatch")}
_SHAPES: Mapping[str, ValueType] = {"tool_calls": TOOL_CALL, "transcript": EVENT, "errors": EVENT}


def _names(value: str, offset: int, typed: int, bound: frozenset[str]) -> Iterator[CompletionWord]:
    end = offset
    while end < len(value) and (value[end].isalnum() or value[end] == "_"):
        end += 1
    local = bound_types(value, first_tokens(value))
    scoped = len(value) <= LONGEST_SCOPED and re.search(r"\b(?:for|lambda)\b", value) is not None
    known = KNOWN_NAMES | bound

    def exists(name: str) -> bool:
        return not scoped or _exists(value[: offset - typed] + name, value[end:], name, offset - typed, known)

    for name, kind in local.items():
        if name not in CONTEXT_NAMES and exists(name):
            yield CompletionWord(name, "variable", kind.name, _described(kind), typed)
    for name, documentation in CONTEXT_NAMES.items():
        if exists(name):
            yield CompletionWord(name, "variable", CONTEXT_TYPES[name].name, documentation, typed)
    for name, documentation in FUNCTION_NAMES.items():
        if exists(name):
            detail = FUNCTIONS[name][0] if name in FUNCTIONS else "module"
            yield CompletionWord(name, "function", detail, documentation, typed)
    for name in sorted(bound - set(local)):
        if exists(name):
            yield CompletionWord(name, "variable", "", "Bound by an assertion before this one.", typed)


def _exists(head: str, tail: str, name: str, at: int, known: frozenset[str]) -> bool:
    """Return whether a name at an offset would be found when the assertion runs; True if unknown."""
    source = parse_python(head + tail)
    if isinstance(source, PythonFault):
        marks = [token.text for token in first_tokens(head)]
        source = parse_python(head + "".join(CLOSERS[marks[index]] for index in reversed(unclosed(marks))))
    if isinstance(source, PythonFault):
        return True
    try:
        failing = resolve_names(source.expression, known).failing
    except RecursionError:
        return True
    return not any(use.node.id == name and source.start(use.node) == at for use in failing)


def _attributes(value: str, ahead: Sequence[Written], typed: int) -> Iterator[CompletionWord]:
    """Yield the attributes of the value before a dot; those of a string if its type is unknown."""
    owner = type_before(value, ahead)
    if owner is None and not ahead:
        return
    for name, member in members_of(owner or TEXT).items():
        text = name
        if owner is RE:
            text = _RE_CALLS.get(name, f"{name}()" if member.signature else name)
        elif member.signature:
            text = f"{name}('')" if name in _CALLS_WITH_TEXT else f"{name}()"
        returns = f" → {member.returns.name}" if member.returns is not None else ""
        yield CompletionWord(text, "function", f"{member.signature}{returns}", member.documentation, typed)


def _keys(value: str, before: str, quote: int) -> Iterator[CompletionWord]:
    """Yield the keys of the dict whose bracket, or ``.get(``, is before an open quote."""
    typed = before[quote + 1 :]
    if not (typed.isidentifier() or not typed):
        return
    written = first_tokens(before, quote)
    texts = [token.text for token in written[-3:]]
    if texts[-1:] == ["["]:
        ahead = written[:-1]
    elif texts == [".", "get", "("]:
        ahead = written[:-3]
    else:
        return
    if not ahead or not (_is_name(ahead[-1]) or ahead[-1].text in {")", "]"}):
        return
    yield from _fields(type_before(value, ahead) or _guessed(before), "", len(typed))


def _fields(owner: ValueType, quote: str, typed: int) -> Iterator[CompletionWord]:
    for name, documentation in owner.fields.items():
        kind = owner.field_types.get(name)
        text = f"{quote}{name}{quote}"
        yield CompletionWord(text, "field", kind.name if kind is not None else "", documentation, typed)


def _guessed(before: str) -> ValueType:
    """Return the most likely type of a value: an item of the list that was named last."""
    found = max(_SHAPES, key=before.rfind)
    return _SHAPES[found] if found in before else TOOL_CALL


def _explained(value: str, start: int, name: str, around: Surroundings) -> str | None:
    before = value[:start]
    quote = _open_quote(before)
    if quote is not None:
        return _explained_key(value, before, quote, name) if quote == start - 1 else None
    ahead = first_tokens(before)
    if ahead and ahead[-1].text == ".":
        return _explained_attribute(type_before(value, ahead[:-1]), name)
    bound = bound_types(value, first_tokens(value))
    if name in bound:
        return f"**{name}**: {_described(bound[name])}"
    if name in FUNCTIONS:
        return f"**{name}** {DOCS[name]}\n\n{_call_of(*FUNCTIONS[name])}"
    if name in DOCS:
        kind = CONTEXT_TYPES.get(name)
        return f"**{name}** {DOCS[name]}" + (f"\n\n`{name}: {kind.name}`" if kind is not None else "")
    if name in around.names:
        return f"**{name}** is bound by an assertion before this one."
    return None


def _explained_key(value: str, before: str, quote: int, name: str) -> str | None:
    found = next((word for word in _keys(value, before[: quote + 1], quote) if word.text == name), None)
    return f"**{name}** {found.documentation}" if found is not None else None


def _explained_attribute(owner: ValueType | None, name: str) -> str | None:
    if is_refused_attribute(name) or (
        owner is not None and owner.python is not None and is_refused_member(owner.python, name)
    ):
        return f"**{name}** is refused in assertions."
    member = members_of(owner).get(name) if owner is not None else None
    if owner is None or member is None:
        return None
    documentation = f"\n\n{member.documentation}" if member.documentation else ""
    of = "`re`" if owner is RE else f"a value of type `{owner.name}`"
    return f"**{name}** of {of}{documentation}" + (
        f"\n\n{_call_of(member.signature, member.returns)}" if member.signature else ""
    )


def _call_of(signature: str, returns: ValueType | None) -> str:
    return f"`{signature}`" + (f" → {returns.name}" if returns is not None else "")


def _described(kind: ValueType) -> str:
    if not kind.fields:
        return f"a value of type `{kind.name}`."
    keys = ", ".join(f"`{name}`" for name in kind.fields)
    return f"{article(kind.name)} {kind.name}, a dict with {keys}."


def _signature(value: str, written: Sequence[Written], active: int) -> Signature | None:
    """Return the signature of the function at the end of a list of tokens."""
    name, ahead = written[-1].text, written[:-1]
    documentation = ""
    if ahead and ahead[-1].text == ".":
        owner = type_before(value, ahead[:-1])
        member = members_of(owner).get(name) if owner is not None else None
        label = member.signature if member is not None else ""
        documentation = member.documentation if member is not None else ""
        returns = member.returns if member is not None else None
    else:
        label, returns = FUNCTIONS.get(name, ("", None))
        documentation = FUNCTION_NAMES.get(name, "")
    if not label:
        return None
    inside = label.partition("(")[2].removesuffix(")")
    parameters = tuple(part for part in re.split(r", (?![^(]*\))", inside) if part not in {"", "/", "*"})
    label = f"{label} → {returns.name}" if returns is not None else label
    return Signature(label, parameters, documentation, min(active, max(len(parameters) - 1, 0)))


def _is_name(token: Written) -> bool:
    return token.text.isidentifier()


_CLOSED = compiled_later(
    r""""{3}.*?"{3}|\'{3}.*?\'{3}|"(?:[^"\\]|\\.)*+"|\'(?:[^\'\\]|\\.)*+\'|\#[^\n]*""", re.DOTALL
)
"""A string that is closed, or a comment."""


def _open_quote(before: str) -> int | None:
    """Return the offset of the string literal that is still open at the end, or None."""
    rest = _CLOSED.sub(lambda closed: " " * len(closed[0]), before)
    return next((at for at, character in enumerate(rest) if character in "\"'"), None)
