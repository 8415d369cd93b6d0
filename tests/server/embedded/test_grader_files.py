"""What is found in grader files: each case is a source, and the findings with what they are about."""

from textwrap import dedent

import pytest
from hypothesis import given
from hypothesis import strategies as st

from waza_engine.spec.grader_results import Vocabulary
from waza_language_server.embedded.grader_files.javascript_modules import module_findings
from waza_language_server.embedded.grader_files.python_programs import program_findings

INPUT = "import json, sys\ndata = json.load(sys.stdin)\n"
GOOD = "{ pass: true, score: 1, reasoning: 'r' }"


def in_module(source: str, vocabulary: Vocabulary = "auto") -> list[tuple[str, str]]:
    text = dedent(source)
    return [(text[slice(*found.place)], found.message) for found in module_findings(text, vocabulary)]


def in_program(source: str, vocabulary: Vocabulary = "auto") -> list[tuple[str, str]]:
    text = dedent(source)
    return [(text[slice(*found.place)], found.message) for found in program_findings(text, vocabulary)]


@pytest.mark.parametrize(
    "source",
    [
        f"export const grade = () => ({GOOD})",
        f"export const grade = async ({{ output, hint = '' }}) => {{ return {GOOD}; }}",
        f"export async function grade(given) {{ return {GOOD}; }}",
        f"function grade(given) {{ return {GOOD}; }}\nexport {{ grade }};",
        f"const check = (given) => ({GOOD});\nexport {{ check as grade }};",
        "export { grade } from './other.js'",
        "export * from './other.js'",
        "export default { grade: () => ({ pass: true, score: 1 }) }",
        "export default makeGrader()",
        f"module.exports.grade = (given) => ({GOOD})",
        f"exports.grade = (given) => ({GOOD})",
        f"const grade = (given) => ({GOOD});\nmodule.exports = {{ grade }};",
        "module.exports = require('./other.cjs')",
        "export const threshold = 1, grade = () => ({ pass: true, score: 1 })",
        "export const { grade } = graders",
        "export const grade = makeGrader({ a: 1 })",
        f"export const grade: Grader = async ({{ output }}: Input): Promise<{{ pass: boolean }}> => ({GOOD})",
        f"export function grade(given: Input): GraderResult {{ return {GOOD} satisfies GraderResult }}",
        "export const grade = ({ output }) => { const s = `${output}}`; return { pass: !s, score: 1 } }",
        "export const grade = ({ output }) => /[{'\"]/.test(output) ? no() : yes()",
        "export const grade = ({ trajectory }) => {\n"
        "  const o = trajectory.map((s) => { return { name: s.name } });\n"
        "  return { pass: o.length > 0, score: 1 } }",
        "export const grade = (x) => { const f = () => { return { a: 1 } }; return { ...x, score: 1 } }",
        "export const grade = ({ output }) => 'unclosed",
        "const grade = 1; {",
        "const grade = () => 1; eval('exports'); module",
    ],
)
def test_working_and_undecided_modules_are_left_alone(source: str) -> None:
    assert in_module(source) == []


@pytest.mark.parametrize(
    ("source", "where", "advice"),
    [
        ("const grade = () => 1", "grade", "write `export` before it"),
        ("export default ({ output }) => check(output)", "default", "export the function under this name"),
        ("export default async function grade(given) {}", "default", "not as the default"),
        ("const check = (a) => a;\nexport default check", "default", "not as the default"),
        ("export const Grade = () => 1", "export", "export one"),
        ("export const grader = () => 1", "export", "export one"),
        ("export type Grader = () => void", "export", "export one"),
        ("", "", "export one"),
    ],
)
def test_a_module_must_export_grade(source: str, where: str, advice: str) -> None:
    [(text, message)] = in_module(source)
    assert text == where
    assert message.startswith("every answer ends in an error, because no function `grade` is exported; ")
    assert advice in message


@pytest.mark.parametrize(
    "source", ["export const grade = 'yes'", "export const grade = true;", "export class grade {}"]
)
def test_what_is_exported_must_be_a_function(source: str) -> None:
    assert [text for text, _ in in_module(source)] == ["grade"]


def test_a_module_is_called_with_one_object() -> None:
    message = "`grade` is called with one object, so `hint` is undefined; read it from that"
    assert in_module(f"export const grade = (output, hint) => ({GOOD})") == [("hint", message)]
    assert in_module(f"export const grade = (given: Map<string, X>, more = 1) => ({GOOD})") == []


def test_misspelt_keys_of_the_input() -> None:
    message = "the input of a grader has no key `ouput`; write `output`"
    for module in (f"({{ ouput, hint }}) => ({GOOD})", f"(given) => {{ use(given.ouput); return {GOOD} }}"):
        assert in_module(f"export const grade = {module}") == [("ouput", message)]
    read = "import json, sys\njson.loads(sys.stdin.read())['ouput']"
    for program in (INPUT + "data['ouput']; data.get('hint'); data.get('expected')", read):
        assert in_program(program) == [("'ouput'", message)]


@pytest.mark.parametrize(
    ("result", "where", "message"),
    [
        ("{{pass}: {t}, 'score': 1, 'reasonin': 'r'}", "'reasonin'", "no key `reasonin`; write `reasoning`"),
        ("{{pass}: {t}, 'score': 1, 'message': 'r'}", "'message'", "`message` is not read in a result"),
        ("{{pass}: {t}, 'score': 1, 'details': {}}", "'details'", "with `pass`; write `outcome`"),
        (
            "{{pass}: {t}, 'score': 1, 'files': 3}",
            "'files'",
            "a result has no key `files`, so nothing reads it; move it into `outcome`",
        ),
        ("{{pass}: {t}}", None, "a run refuses this result, because `score` is missing"),
        ("{{pass}: {t}, 'score': 1.5}", None, "`score` is 1.5, it must lie between 0 and 1"),
        ("{{pass}: 1, 'score': 1}", None, "`pass` must be true or false"),
        ("{{pass}: {t}, 'score': '1'}", None, "`score` must be a number"),
        ("{{pass}: {t}, 'score': 1, 'reasoning': {n}}", None, "`reasoning` must be text"),
        ("{'score': 1}", None, "`passed` is missing; print `pass` or `passed`"),
    ],
)  # fmt: skip
def test_results_that_a_run_refuses_or_does_not_read(result: str, where: str | None, message: str) -> None:
    python = result.replace("{pass}", "'pass'").replace("{t}", "True").replace("{n}", "None")
    javascript = result.replace("{pass}", "pass").replace("{t}", "true").replace("{n}", "null")
    for literal, found in (
        (python, in_program(f"{INPUT}print(json.dumps({python}))")),
        (javascript, in_module(f"export const grade = () => ({javascript})")),
    ):
        [(text, told)] = found
        assert text == (where or literal)
        assert message in told


@pytest.mark.parametrize(
    "printed",
    [
        "sys.stdout.write(json.dumps({R}) + '\\n')",
        "json.dump({R}, sys.stdout)",
        "result = {R}\nprint(json.dumps(result))",
        "def grade(d):\n    if d: return {R}\n    return {R} if d else {R}\nprint(json.dumps(grade(data)))",
        "def main():\n    result = {R}\n    print(json.dumps(result, indent=2))\nmain()",
    ],
)
def test_results_are_followed_to_where_they_are_printed(printed: str) -> None:
    source = INPUT + printed
    assert in_program(source.replace("{R}", "{'pass': True, 'score': 1.0}")) == []
    found = in_program(source.replace("{R}", "{'pass': True, 'scor': 1.0}"))
    assert {text for text, _ in found} == {"'scor'"}


@pytest.mark.parametrize(
    "source",
    [
        "result = {'pass': True}\nresult['score'] = 1.0\nprint(json.dumps(result))",
        "result = {'pass': True}\nadd_score(result)\nprint(json.dumps(result))",
        "print(json.dumps({'pass': True, **rest}))",
        "print(json.dumps({'stage': 'parsed'}), file=sys.stderr)",
        "def other():\n    result = {'a': 1}\nresult = compute()\nprint(json.dumps(result))",
        "print(json.dumps({'pass': bool(data), 'score': float(len(data))}))",
    ],
)
def test_results_that_are_completed_elsewhere_are_left_alone(source: str) -> None:
    assert in_program(INPUT + source) == []


def test_the_protocol_of_the_grader_decides_about_its_words() -> None:
    source = INPUT + "print(json.dumps({'passed': True, 'score': 1, 'message': 'm'}))"
    assert in_program(source, "auto") == []
    assert in_program(source, "waza-json") == []
    assert [text for text, _ in in_program(source, "harness-json")] == ["'passed'", "'message'"]
    both = "{'pass': True, 'passed': True, 'score': 1, 'message': 'm', 'reasoning': 'm'}"
    assert in_program(f"{INPUT}print(json.dumps({both}))") == []


def test_a_python_file_that_only_defines_grade_prints_nothing() -> None:
    [(text, message)] = in_program("import json\n\ndef grade(data):\n    return {'pass': True, 'score': 1}\n")
    assert text == "def grade(data)"
    assert message.startswith("nothing calls `grade`: a Python grader is run as a program")
    assert in_program("def grade(d): ...\nif __name__ == '__main__':\n    grade(1)") == []
    assert in_program("from checks import grade") == []


def test_a_python_file_that_cannot_be_read() -> None:
    assert in_program("import json\nif x\n    y") == [("if x", "Python cannot read this line: expected ':'")]


@pytest.mark.parametrize("call", ["s.status === 'error'", 's?.status == "error"', "'error' === s.status"])
def test_no_tool_call_has_the_status_error(call: str) -> None:
    source = f"export const grade = ({{ trajectory }}) => trajectory.some((s) => {call})"
    [(text, message)] = in_module(source)
    assert text.strip("'\"") == "error"
    assert message == "no tool call has the status `error`; compare it with `failed`"
    assert in_module(source.replace("error", "failed")) == []
    assert in_module(source.replace("(s)", "(x)")) == []


def test_no_tool_call_has_the_status_success() -> None:
    source = INPUT + "bad = [s for s in data['trajectory'] if s.get('status') == 'success']"
    message = "no tool call has the status `success`; compare it with `completed`"
    assert in_program(source) == [("'success'", message)]
    assert in_program(source.replace("== 'success'", "in ('completed', 'success')")) == []
    assert in_program(source.replace("trajectory", "responses")) == []


@given(st.text(alphabet="export const grade = ({ pass:true,score}) => `${'\"/*\n;module.", max_size=60))
def test_any_text_can_be_looked_at(text: str) -> None:
    for find in (module_findings, program_findings):
        for finding in find(text, "auto"):
            start, end = finding.place
            assert 0 <= start <= end <= len(text)
