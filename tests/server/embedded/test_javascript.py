"""Assertions in JavaScript: what Node.js refuses is marked, and nothing that it takes."""

from __future__ import annotations

import json
import shutil
import subprocess

import pytest

from waza_engine.assertions.names import CONTEXT_NAMES
from waza_language_server.embedded.javascript.assertions import JavaScriptAssertions
from waza_language_server.embedded.javascript.members import CONTEXT, globals_, members_of
from waza_language_server.embedded.language import Surroundings

CURSOR = "¦"
LANGUAGE = JavaScriptAssertions()
needs_node = pytest.mark.skipif(shutil.which("node") is None, reason="Node.js is not installed")
VALID = [
    "output.includes('done') && !errors.length",
    "/a[/]b/.test(output)",
    "output.length / 2 > 3 / 1",
    "`${output.length > 1 ? `a${1}` : '}'}`.length > 0",
    "const words = output.split(' '); words.length > 3",
    "tool_calls.some(({name}) => name === 'view')",
    "tool_calls.some((call, len) => len > 1 || call.name)",
    "({len: 1}).len === 1",
    "'name' in tool_calls[0]",
    "for (const all of [1]) { all }",
    "output // it's fine",
    "/* don't */ output",
    "True && !False",
    "if (output) { 1 } else { /'/.test(output) }",
    "output.match(/\"'`/) === null",
    "let any = 1; any(2)",
    "try { x } catch (str) { str.message }",
    "'a\\\nb'.length",
    "0x1F + 1_000n.toString().length",
    "output?.length ?? 0",
    "typeof nothing === 'undefined'",
    "nothing = 3; nothing > 2",
    "function f(a, ...rest) { return a + rest.length } f(1) === 1",
    "class A { #b = 1; get c() { return this.#b } } new A().c === 1",
    "const {a: first = 2, ...others} = {a: 1}; first + Object.keys(others).length === 1",
    "outer: for (const x of [1]) { break outer } 1 + 1",
    "[...output].map((letter, at) => ({letter, at})).length > 0",
    "output.length ? tool_calls : errors",
    "output.toLocaleLowerCase().localeCompare('x') !== 5 && output.substr(0, 1) !== ''",
    "new Set(output.split(' ')).size > 0 && [...'ab'].length === 2",
    "(() => { let n = 0; for (let i = 0; i < 3; i++) n += i; return n })() === 3",
    "JSON.parse('{\"a\": 1}').a === 1 && Math.max(1, 2) === 2",
]
WRONG = [
    ("len(output) > 5", "len", "output.length > 5"),
    ("output.includes('a') and output.includes('b')", "and", "output.includes('a') && output.includes('b')"),
    ("not errors.length", "not", "!errors.length"),
    ("output !== None", "None", "output !== null"),
    ("'done' in output", "in", "output.includes('done')"),
    ("any(call.name for call of tool_calls)", "any", None),
    ("re.search('a', output)", "re", None),
    ("output.includes('a'", "(", None),
    ("output.includes('a'))", ")", None),
    ("output === 'a", "'", None),
    ("`a ${output", "${", None),
    ("`a ${output} b", "`", None),
    ("  ", "  ", None),
    ("outptu.length > 3", "outptu", "output.length > 3"),
    ("tool_calls.some(call => cal.name === 'x')", "cal", "tool_calls.some(call => call.name === 'x')"),
    ("require('fs')", "require", None),
    ("output.includs('x')", "includs", "output.includes('x')"),
    ("output.toLowercase() === 'x'", "toLowercase", "output.toLowerCase() === 'x'"),
    ("tool_calls.fliter(c => c.name).length", "fliter", "tool_calls.filter(c => c.name).length"),
    ("output.lower() === 'x'", "lower", "output.toLowerCase() === 'x'"),
    ("output.startswith('x')", "startswith", "output.startsWith('x')"),
    ("output.includes('a') &&", "&&", None),
    ("output.length >", ">", None),
    ("output.length > 3 # long enough", "#", "output.length > 3 // long enough"),
]
SAME = ["true", "'x'", "null", "False"]


@pytest.mark.parametrize("assertion", VALID)
def test_what_is_valid_is_left_alone(assertion: str) -> None:
    assert LANGUAGE.check(assertion).findings == ()


@pytest.mark.parametrize(("assertion", "marked", "repaired"), WRONG)
def test_what_fails_on_every_answer_is_marked(assertion: str, marked: str, repaired: str | None) -> None:
    (finding,) = LANGUAGE.check(assertion).findings
    assert assertion[finding.start : finding.end] == marked
    assert [rewrite.expressions[0] for rewrite in finding.rewrites] == ([repaired] if repaired else [])


@pytest.mark.parametrize("assertion", SAME)
def test_what_is_always_the_same_is_marked(assertion: str) -> None:
    (finding,) = LANGUAGE.check(assertion).findings
    assert (finding.code, assertion[finding.start : finding.end]) == ("assertion-constant", assertion)


@needs_node
def test_node_refuses_what_is_marked_and_nothing_else() -> None:
    """An assertion that throws, for one answer, may pass for another; one that is marked never does."""
    program = """
const vm = require("node:vm");
const context = () => ({output: "done a", tool_calls: [{name: "view"}], errors: [], transcript: [],
  duration_ms: 1, outcome: {}, True: true, False: false, x: 1});
const answers = JSON.parse(process.argv[1]).map((text) => {
  try { vm.runInNewContext(text, context()); return true; } catch (error) { return error.name; }
});
console.log(JSON.stringify(answers));
"""
    asked = [*VALID, *(each for each, _, _ in WRONG if each.strip())]
    said = subprocess.run(
        ["node", "-e", program, json.dumps(asked)], capture_output=True, check=True, text=True, timeout=60
    )
    refused = [
        text for text, answer in zip(asked, json.loads(said.stdout), strict=True) if answer is not True
    ]
    assert refused == ["let any = 1; any(2)", *(each for each, _, _ in WRONG if each.strip())]


@needs_node
def test_every_property_that_is_offered_exists() -> None:
    values = {
        "string": "''",
        "array": "[]",
        "number": "1",
        "pattern": "/a/",
        "object": "({})",
        "Math": "Math",
        "JSON": "JSON",
        "Object()": "Object",
        "Array()": "Array",
        "Number()": "Number",
    }
    asked = [
        f"typeof {value}[{name!r}] === 'function' === {json.dumps(member.parameters is not None)}"
        for kind, value in values.items()
        for name, member in members_of(kind).items()
    ]
    asked += [f"typeof {name} !== 'undefined'" for name in globals_()]
    program = "console.log(JSON.stringify(JSON.parse(process.argv[1]).filter((text) => !eval(text))))"
    said = subprocess.run(
        ["node", "-e", program, json.dumps(asked)], capture_output=True, check=True, text=True, timeout=60
    )
    assert len(asked) > 80
    assert json.loads(said.stdout) == []


def test_the_names_of_the_context_are_those_of_the_engine() -> None:
    assert set(CONTEXT) == set(CONTEXT_NAMES)


def words(written: str) -> list[str]:
    offset = written.index(CURSOR)
    return [word.text for word in LANGUAGE.complete(written.replace(CURSOR, ""), offset)]


def test_completion_knows_what_stands_before_the_dot() -> None:
    assert {"includes()", "length"} <= set(words("output.¦"))
    assert words("tool_calls.some(call => call.¦)")[:3] == ["name", "arguments", "success"]
    assert words("tool_calls[0].arguments.¦")[0] == "path"
    assert "test()" in words("/a/.¦")
    assert "filter()" in words("tool_calls.filter(c => c.success).¦")
    assert words("transcript.find(e => e.type).¦")[0] == "type"
    assert "trim()" in words("output.split('a').filter(line => line).at(0).¦")
    assert words("something.¦") == []
    assert words("'out¦'") == []
    assert words("out¦")[0] == "output"


def test_names_that_were_declared_are_offered() -> None:
    around = Surroundings(names=frozenset({"words"}))
    assert next(LANGUAGE.complete("w", 1, around)).text == "words"
    assert LANGUAGE.check("const words = 1").names == {"words"}


def test_hover_tells_the_meaning_in_this_language() -> None:
    told = LANGUAGE.hover("tool_calls.some(c => c.result)", 3)
    assert told is not None
    assert "objects with `name`" in told.text
    assert "dict" not in told.text
    told = LANGUAGE.hover("output.includes('a')", 9)
    assert told is not None
    assert "`includes(text, from) → boolean`" in told.text
    told = LANGUAGE.hover("output.split('a').filter(line => line)", 20)
    assert told is not None
    assert "`filter(callback) → string[]`" in told.text
    told = LANGUAGE.hover("Object.keys(outcome)", 8)
    assert told is not None
    assert told.text.startswith("**keys** of `Object`\n")


def test_a_call_tells_its_parameters() -> None:
    told = LANGUAGE.signature("output.includes('a, b', ", 24)
    assert told is not None
    assert (told.label, told.active) == ("includes(text, from) → boolean", 1)
