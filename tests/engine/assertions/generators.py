"""Random assertions for the search for differences: well-typed ones, every member, and nested scopes."""

import re
from collections.abc import Callable, Mapping
from random import Random
from typing import Any

from tests.server.analysis.assertion_grammar import random_assertion
from waza_engine.assertions.names import ITERATION, MEMBERS, NAMING, RE_FLAGS, RE_FUNCTIONS

_RULES = r"""
any: <text> | <number> | <list> | <dict> | <set> | <truth> | <bytes> | <tuple> | <match> | <function> | None
  | <flag>
truth: <text> in <text> | <any> in <list> | <any> not in <tuple> | <number> <compare> <number> | not <any>
  | <text> <compare> <text> | <any> == <any> | <any> is None | <any> is not <any>
  | <number> < <number> <= <number> | (<any> and <any>) | (<any> or <any> or <any>) | any(<generator>)
  | all(<generator>) | bool(<any>) | <text>.startswith(<text>) | <text>.endswith((<text>, <text>))
  | <text>.isdigit() | <text>.isalpha() | <set> <= <set> | <set>.isdisjoint(<list>)
  | <dict>.keys().isdisjoint(<list>) | <text> in <dict> | True | False | (<any> if <any> else <any>)
  | <list> < <list> | <tuple> > <tuple> | <text> in <text> in <list>
compare: == | != | < | > | <= | >=
text: output | output | <literal> | <literal> | <text>.lower() | <text>.upper() | <text>.strip(<literal>)
  | <text>.title() | <text>.replace(<text>, <text>, <small>) | <text>[<small>:<small>] | <text>[::-1]
  | <text>[<small>] | str(<any>) | (<text> + <text>) | (<text> * <small>) | f'{<number>:>{<small>}}'
  | f'a{<any>!r}b{{c}}' | f'{<text>:^9}{<any>!s:<{<small>}}' | f'{<number>=}' | f'{<any>!a}'
  | f'{<number>:,}' | <literal>.join(<texts>) | '{}{x!r:>8}'.format(<any>, x=<any>)
  | '{0[name]}{1:{2}}'.format(<dict>, <number>, <small>) | '{a[b]}'.format_map(<dict>) | '%s' % (<any>,)
  | '%d %5.1f' % (<number>, <number>) | '%(name)s' % <dict>
  | re.sub(<pattern>, <text>, <text>, count=<small>) | re.sub(<pattern>, lambda m: <text>, <text>)
  | re.sub(<pattern>, str.upper, <text>) | re.escape(<text>) | <match>.group(<small>)
  | <bytes>.decode('utf-8', 'replace') | <text>.center(<small>, '*') | <text>.zfill(<small>)
  | <text>.translate({97: 'b', 98: None}) | <text>.casefold().swapcase() | <text>.encode('utf-8').hex()
  | <text>.expandtabs(<small>) | (w := <text>)
  | (lambda s, *r, t=<text>, **k: s + t)(<text>, <any>, z=<any>) | tool_calls[0]['name']
  | tool_calls[-1].get('id', <text>) | <text>.partition(<literal>)[<small>] | <text>.removeprefix(<text>)
number: 0 | 1 | 42 | -1 | 1_000 | 0x10 | 1e3 | 2.5 | 1j | duration_ms | len(<text>) | len(<list>)
  | len(<dict>) | <text>.count(<text>) | <text>.find(<text>) | (<number> + <number>) | (<number> * <small>)
  | (<number> - <number>) | (<number> / <number>) | (<number> // <number>) | (<number> % <number>)
  | (<small> ** <small>) | (<small> << <small>) | (<number> >> <small>) | (<small> & <small>)
  | (<small> ^ <small>) | ~<small> | -<number> | +<number> | int(<number>) | int(<text>) | float(<text>)
  | <number>.real | <small>.bit_length() | (2.5).is_integer() | <list>.index(<any>) | <list>.count(<any>)
  | (n := <number>)
small: 0 | 1 | 2 | 3 | -1 | 5 | len(errors) | True
list: tool_calls | transcript | errors | [<any>, <any>] | <text>.split() | <text>.splitlines()
  | list(<tuple>) | list(<dict>) | [*<list>, <any>] | re.findall(<pattern>, <text>)
  | re.split(<pattern>, <text>, <small>) | <list>[<small>:] | [<clause>] | (<list> + <list>)
  | (<list> * <small>) | list(<generator>) | <list>.copy() | list(<dict>.items())
  | [<any> for i in <list> if <truth> if i] | [(i, j) for i in <texts> for j in <list>]
  | [a for a, b in <dict>.items()] | [a for a, *b in <texts>]
  | (lambda xs: xs.sort(key=str) or xs)(list(<texts>)) | list(<match>.groups())
  | (lambda xs: (xs.append(<any>), xs.reverse(), xs)[-1])([<any>, <any>])
  | [m.span() for m in re.finditer(<pattern>, <text>)]
texts: <text>.split() | [<text>, <text>] | (<text>, <literal>) | [str(i) for i in <list>]
  | (i for i in <text>) | {<text>: <any>}
dict: tool_calls[0] | outcome | {<literal>: <any>, <text>: <any>} | {'a': {'b': <any>}, 'name': <any>}
  | {**<dict>, 'x': <any>} | dict(a=<any>, name=<text>) | {k: v for k, v in <dict>.items()}
  | {i: <any> for i in <texts>} | (<dict> | <dict>) | dict.fromkeys(<texts>, <any>) | <match>.groupdict()
set: {<text>, <text>} | {i for i in <texts>} | {*<texts>} | (<set> | <set>) | (<set> & <set>)
  | (<set> - <set>) | (<set> ^ <set>) | (<dict>.keys() & <set>)
tuple: (<any>, <any>) | (*<list>, <any>) | () | tool_calls[0]['name'].partition('a')
  | <list>.__class__((<any>,)) | ().__class__(<list>)
bytes: b'abc' | <text>.encode() | <text>.encode('latin-1', errors='ignore') | b'a' * <small>
  | b'%s' % <bytes> | <bytes>[1:]
match: re.search(<pattern>, <text>) | re.match(<pattern>, <text>, <flag>)
  | re.compile(<pattern>, <flag>).fullmatch(<text>) | re.compile(<pattern>).search(<text>, <small>)
flag: re.I | re.IGNORECASE | re.M | re.S | (re.I | re.M) | 0
function: len | str | output.lower | str.lower | (lambda: <any>) | (lambda x, y=<any>: x)(<any>)
  | re.compile | any | dict.fromkeys | (lambda *a, k, **o: k)
generator: <clause> | (i for i in <list>) | (i == <any> for i in <list>) | <list>
  | (i in j for i in <texts> for j in [<text>] if i)
clause: t['name'] == <text> for t in tool_calls | k for k in <list> if k | <text> for k in <list>
  | str(k) for k in <list> | k in output for k in [<literal>]
  | e.get('content', '') for e in transcript if e | (k, e) for k, e in outcome.items()
  | (k := <any>) for e in <list> | len(t) for t in [<text>]
pattern: r'\d+' | 'azure' | r'(?i)deploy' | r'\bx\b' | 'a+' | r'(a)(b)?' | r'(?P<n>o.)' | '[' | r'\s'
  | output | 'o|(e)'
literal: 'azure' | "Done" | 'é😋' | "it's" | 'x\n' | '' | r'a\d' | 'a{b}c' | '%' | '0' | '42' | 'ß' | 'a' 'b'
"""


def _choices(rules: str) -> dict[str, list[str]]:
    return {
        name: [choice.strip() for choice in re.split(r"\s\|\s", written)]
        for name, written in re.findall(r"^(\w+): (.*(?:\n  .*)*)", rules, re.MULTILINE)
    }


_TYPED = _choices(_RULES)
_SIMPLE = {
    "any": "output",
    "truth": "not errors",
    "text": "output",
    "number": "3",
    "list": "errors",
    "dict": "outcome",
    "set": "{1, 2}",
    "tuple": "(1, 'a')",
    "bytes": "b'ab'",
    "match": "re.search('e', output)",
    "generator": "errors",
    "clause": "k for k in errors",
    "texts": "['a', output]",
    "function": "len",
}
_SCOPES = _choices(
    r"""
top: <e> | <e> | [<e>, <e>] | (<e>, <e>, <e>) | <e> + <e> | <e> in [<e>]
e: <name> | <name> | <name> | (<name> := <e>) | (<name> := 1) | [<e> <for>] | [<e> <for>] | list(<e> <for>)
  | any(<e> <for>) | {<e> <for>} | {<e>: <e> <for>} | (<e> <for>) | (lambda: <e>)()
  | (lambda <name>: <e>)(<e>) | (lambda <name>=<e>: <e>)() | (lambda *<name>: <e>)(<e>)
  | (lambda <name>, <name>=1: <e>)(<e>) | (lambda <name>, /, *, <name>=<e>, **<name>: <e>)(<e>)
  | (<e> if <e> else <e>) | (f'{<e>}' and 1) | (f := lambda: <e>) | f() | [<e>, *<e>] | (<e> and <e>)
  | (lambda f: f())(lambda: <e>) | 1 | len([<e>])
for: for <target> in <e> | for <target> in [1, 2] | for <target> in [<e>] | for <target> in [1] if <e>
  | for <target> in [1] for <target> in [<e>] | for <target> in [2] if <e> for <target> in [<e>, 1] if <e>
target: <name> | <name> | <name>, <name> | <name>, *<name> | [<name>, (<name>, <name>)]
name: a | b | c | x | output | len | errors
"""
)
_PLACE = re.compile("<([a-z]+)>")


def well_typed(random: Random) -> list[str]:
    """Return an expression whose parts mostly fit together."""
    return [_made(_TYPED, _SIMPLE, "any", random, random.randint(1, 4))]


def scopes(random: Random) -> list[str]:
    """Return some expressions for one context, with scopes within scopes."""
    simple = {"e": "a", "for": "for x in [1]", "target": "x"}
    return [_made(_SCOPES, simple, "top", random, random.randint(1, 5)) for _ in range(random.randint(1, 4))]


def slips(random: Random) -> list[str]:
    """Return what people write, and write wrongly."""
    return [random_assertion(random)]


VALUES: Mapping[type, tuple[str, ...]] = {
    str: ("'aB c'", "''", "'é12'", "output"),
    bytes: ("b'aB c'", "b''"),
    int: ("(5)", "(-3)"),
    bool: ("True", "False"),
    float: ("2.5", "(-1.0)"),
    complex: ("2j",),
    list: ("[3, 1, 2]", "[]", "['b', 'a']"),
    dict: ("{'a': 1, 'b': [2]}", "{}"),
    set: ("{1, 2}", "{'a'}"),
    tuple: ("(1, 'a')", "()"),
    type(None): ("None",),
    type(...): ("...",),
    type({}.keys()): ("{'a': 1}.keys()",),
    type({}.items()): ("{'a': 1}.items()",),
    type({}.values()): ("{'a': 1}.values()",),
    re.Pattern: ("re.compile('(?P<x>a)|b')",),
    re.Match: ("re.search('(?P<x>a)|b', 'xab')", "re.search('(c)?', 'b')"),
    re.RegexFlag: ("re.I", "(re.I | re.M)"),
    type(i for i in ()): ("(i for i in [1, 2])",),
}
_TYPES = (
    *("str", "int", "float", "bool", "list", "dict", "re.Pattern", "re.Match"),
    *("().__class__", "{1}.__class__", "b''.__class__"),
)
_FUNCTIONS = ("len", "(lambda: 1)", "'a'.lower", "str.lower", "dict.fromkeys")
_KEYWORDS = ("key", "count", "flags", "sep", "maxsplit", "encoding", "string", "signed")
_ITERATORS = ("[1].__iter__()", "'a'.__iter__()", "{1: 2}.items().__iter__()")
_READ = frozenset(
    {"denominator", "imag", "numerator", "real", "flags", "groups", "groupindex", "pattern", "re", "string"}
    | {"pos", "endpos", "lastgroup", "lastindex"}
)
"""Members that are no methods: types do not have them."""


def members(random: Random) -> list[str]:
    """Return a member of a value or of a type, called with random arguments or not."""
    kind = random.choice([*VALUES])
    owner = random.choice(VALUES[kind])
    names = [*sorted(MEMBERS[kind]), *(ITERATION if kind is not re.RegexFlag else ())]
    if random.random() < 0.2:
        owner = random.choice(_TYPES)
        names = [*NAMING, *sorted(set[str]().union(*MEMBERS.values()) - _READ)]
    elif random.random() < 0.05:
        owner, names = random.choice(_ITERATORS), [*ITERATION]
    elif random.random() < 0.1:
        owner, names = "re", sorted(RE_FUNCTIONS | RE_FLAGS)
    elif random.random() < 0.05:
        owner, names = (
            random.choice(_FUNCTIONS),
            [*NAMING],
        )
    text = f"{owner}.{random.choice(names)}"
    if random.random() < 0.9:
        text += f"({', '.join(_argument(random) for _ in range(random.choice((0, 0, 1, 1, 1, 2, 2, 3))))})"
    if random.random() < 0.2:
        text = f"[{text}, {owner}]" if ":=" not in text else text
    return [f"(lambda v: ({text.replace(owner, 'v', 1)}, v))({owner})" if random.random() < 0.3 else text]


def _argument(random: Random) -> str:
    kind = random.choice([*VALUES])
    value = random.choice(
        (*VALUES[kind], *VALUES[str], *VALUES[int], "lambda *x: 'z'", "len", "str", "str.lower")
    )
    if random.random() < 0.12:
        return f"{random.choice(_KEYWORDS)}={value}"
    if value.startswith("lambda"):
        return f"({value})"
    return value


def _made(
    choices: Mapping[str, list[str]], simple: Mapping[str, str], rule: str, random: Random, depth: int
) -> str:
    if depth <= 0 and rule in simple:
        return simple[rule]
    choice = random.choice(choices[rule])
    return _PLACE.sub(
        lambda place: (
            _made(choices, simple, place[1], random, depth - 1) if place[1] in choices else place[0]
        ),
        choice,
    )


GENERATORS: Mapping[str, Callable[[Random], list[str]]] = {
    "slips": slips,
    "well typed": well_typed,
    "members": members,
    "scopes": scopes,
}

CONTEXT: dict[str, Any] = {
    "output": "Deployed to Azure: https://x 42",
    "outcome": {},
    "transcript": [{"type": "user.message", "content": "go"}, {"type": "tool.start", "content": ""}],
    "tool_calls": [
        {"name": "bash", "arguments": {"command": "ls -la"}, "success": True, "result": {"content": "ok"}},
        {"name": "edit", "arguments": {"command": ""}, "success": False},
    ],
    "errors": [],
    "duration_ms": 1500,
    "a": 1,
    "b": [1, 2],
}
