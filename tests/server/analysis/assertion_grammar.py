"""Random assertions: a grammar of what people write, and of what they write wrongly.

A rule has its choices in a line each; ``<rule>`` stands for what another one gives.
"""

import re
from random import Random

_RULES = r"""
condition: <text> in <text> | <text> not in <text> | <number> <compare> <number> | not <condition>
  | <number> < <number> <= <number> | (<condition> and <condition>) | (<condition> or <condition>)
  | any(<clause>) | all(<clause>) | any([<clause>]) | len([<clause>]) > 0 | bool({<clause>})
  | <text>.startswith(<text>) | <text>.endswith((<text>, <text>)) | <text>.isdigit() | bool(<list>)
  | re.search(<pattern>, <text>) | re.search(<pattern>, <text>, re.I) is not None
  | re.fullmatch(<pattern>, string=<text>, flags=re.M | re.S) | <text> <equal> <text>
  | (lambda x: x)(<text>) | (lambda x=<text>: x)() | (lambda *x, **k: x)(*<list>) | (lambda: <condition>)()
  | (n := <number>) > <number> | <condition> if <condition> else <condition> | <text> in <list>
text: output | output | <literal> | <literal> | <text>.lower() | <text>.strip()
  | <text>.replace(<text>, <text>) | <text>[:<number>] | <text>[::-1] | str(<list>)
  | (<text> + <text>) | f'a{output}b' | f"{duration_ms:>10}"
  | f'{len(output)!r:>{duration_ms}}' | f"{'x' if errors else output}" | tool_calls[0]['name']
  | tool_calls[-1]['arguments'].get('command', <text>) | <literal>.join(<list>) | '{}{x}'.format(<text>, x=3)
  | re.sub(<pattern>, <text>, <text>, count=1) | '%s' % (<text>,) | (w := <text>)
number: 0 | 1 | 42 | -1 | 1_000 | 0x10 | 1e3 | duration_ms | len(<text>) | len(<list>) | <text>.count(<text>)
  | <text>.find(<text>) | (<number> + <number>) | (<number> * <number>) | -<number> | int(<number>)
list: tool_calls | transcript | errors | [<literal>] | (<literal>, <text>) | <text>.split() | list(<text>)
  | re.findall(<pattern>, <text>) | [*<list>, <text>] | <list>[:<number>] | outcome.keys() | [<clause>]
clause: t['name'] == <text> for t in tool_calls | k for k in <list> if k | <text> for k in <list>
  | str(k) for k in <list> | k in output for k in [<literal>, <literal>] | k for k in <list> for e in <list>
  | e.get('content', '') for e in transcript if e | (k, e) for k, e in outcome.items()
  | (k := 1) for e in <list>
compare: == | != | < | > | <= | >=
equal: == | != | < | >
pattern: r'\d+' | 'azure' | r'(?i)done' | r'\bx\b' | 'a+' | r'(a)(b)?' | r'''a'b'''
literal: 'azure' | "Done" | '''POST''' | 'é😋' | "it's" | 'x\n' | '' | r'a\d' | u'42' | 'a{b}c' | "#no" | 'ß'
"""
_CHOICES = {
    name: [choice.strip() for choice in re.split(r"\s\|\s", written)]
    for name, written in re.findall(r"^(\w+): (.*(?:\n  .*)*)", _RULES, re.MULTILINE)
}
_PLACE = re.compile("<([a-z]+)>")
_SIMPLE = {
    "condition": "not errors",
    "clause": "k for k in errors",
    "text": "output",
    "list": "errors",
    "number": "3",
}
_TYPOS = (
    ("==", "="), (" and ", " && "), (" or ", " || "), ("len(output)", "output.length"), ("output", "outptu"),
    (".lower()", ".toLowerCase()"), (".lower()", ".lower"), ("not ", "!"), ("['name']", ".name"), ("'", "’"),
    ("len(", "max("), ("tool_calls", "tools"), ("errors", "null"), (")", ""), ("(", "(("), ("re.", "regex."),
    ("any(", "sum("), (" in ", " contains "), ("\n", ""), ("output", "json.loads(output)"), ("and", "AND"),
)  # fmt: skip


def random_assertion(random: Random) -> str:
    """Return an expression over the names of assertions; about one in three has a typo."""
    text = _made("condition", random, random.randint(2, 5))
    if random.random() < 0.35:
        written, typo = random.choice(_TYPOS)
        text = text.replace(written, typo, 1)
    return text


def _made(rule: str, random: Random, depth: int) -> str:
    if depth <= 0 and rule in _SIMPLE:
        return _SIMPLE[rule]
    choice = random.choice(_CHOICES[rule])
    return _PLACE.sub(lambda place: _made(place[1], random, depth - 1), choice)
