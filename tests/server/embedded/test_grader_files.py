"""What is found in grader files: each case is a source, and the findings with what they are about."""

from textwrap import dedent

import pytest
from hypothesis import given
from hypothesis import strategies as st

from waza_engine.spec.grader_results import Vocabulary
from waza_language_server.embedded.grader_files import module_findings, program_findings

INPUT = "import json, sys\ndata = json.load(sys.stdin)\n"
GOOD = "{ pass: true, score: 1, reasoning: 'r' }"


def in_module(text: str) -> list[tuple[str, str]]:
    return [(text[slice(*found.place)], found.message) for found in module_findings(text)]


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


def test_misspelt_keys_of_the_input() -> None:
    message = "the input of a grader has no key `ouput`; write `output`"
    assert in_program(INPUT + "data['ouput']; data.get('hint'); data.get('expected')") == [
        ("'ouput'", message)
    ]
    assert in_program("import json, sys\njson.loads(sys.stdin.read())['ouput']") == [("'ouput'", message)]


@pytest.mark.parametrize(
    ("result", "where", "message"),
    [
        ("{'pass': True, 'score': 1, 'reasonin': 'r'}", "'reasonin'", "no key `reasonin`; write `reasoning`"),
        ("{'pass': True, 'score': 1, 'message': 'r'}", "'message'", "`message` is not read in a result"),
        ("{'pass': True, 'score': 1, 'details': {}}", "'details'", "with `pass`; write `outcome`"),
        (
            "{'pass': True, 'score': 1, 'files': 3}",
            "'files'",
            "a result has no key `files`, so nothing reads it; move it into `outcome`",
        ),
        ("{'pass': True}", None, "a run refuses this result, because `score` is missing"),
        ("{'pass': True, 'score': 1.5}", None, "`score` is 1.5, it must lie between 0 and 1"),
        ("{'pass': 1, 'score': 1}", None, "`pass` must be true or false"),
        ("{'pass': True, 'score': '1'}", None, "`score` must be a number"),
        ("{'pass': True, 'score': 1, 'reasoning': None}", None, "`reasoning` must be text"),
        ("{'score': 1}", None, "`passed` is missing; print `pass` or `passed`"),
    ],
)  # fmt: skip
def test_results_that_a_run_refuses_or_does_not_read(result: str, where: str | None, message: str) -> None:
    [(text, found)] = in_program(f"{INPUT}print(json.dumps({result}))")
    assert text == (where or result)
    assert message in found


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
    both = (
        INPUT
        + "print(json.dumps({'pass': True, 'passed': True, 'score': 1, 'message': 'm', 'reasoning': 'm'}))"
    )
    assert in_program(both) == []


def test_a_python_file_that_only_defines_grade_prints_nothing() -> None:
    [(text, message)] = in_program("import json\n\ndef grade(data):\n    return {'pass': True, 'score': 1}\n")
    assert text == "def grade(data)"
    assert message.startswith("nothing calls `grade`: a Python grader is run as a program")
    assert in_program("def grade(d): ...\nif __name__ == '__main__':\n    grade(1)") == []
    assert in_program("from checks import grade") == []


def test_a_python_file_that_cannot_be_read() -> None:
    assert in_program("import json\nif x\n    y") == [("if x", "Python cannot read this line: expected ':'")]


@given(st.text(alphabet="export const grade = ({ pass:true,score}) => `${'\"/*\n;module.", max_size=60))
def test_any_text_can_be_looked_at(text: str) -> None:
    for finding in (*module_findings(text), *program_findings(text, "auto")):
        start, end = finding.place
        assert 0 <= start <= end <= len(text)
