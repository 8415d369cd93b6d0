"""Problems of grader files, shown where a suite names them."""

from pathlib import Path

import pytest

from tests.server.analysis.drawing import EVAL, TASK, problems_in
from tests.server.project.files import opened, put, workspace_with
from waza_language_server.analysis.diagnose import diagnose
from waza_language_server.analysis.problem import Problem
from waza_language_server.features.actions.code_actions import CodeAction, code_actions
from waza_language_server.text.span import Span

GOOD = "export const grade = () => ({ pass: true, score: 1 })\n"


def problems(folder: Path, config: str, kind: str = "inline") -> list[Problem]:
    put(folder, "tasks/t.yaml", TASK)
    text = f"{EVAL}graders:\n  - {{type: {kind}, name: c, config: {{{config}}}}}\n"
    found = problems_in(folder, "eval.yaml", text, "eval")
    return [problem for problem in found if problem.code == "grader-file"]


def messages(folder: Path, config: str, kind: str = "inline") -> list[str]:
    return [problem.message for problem in problems(folder, config, kind)]


def program(folder: Path, name: str, text: str = "#!/bin/sh\n", mode: int = 0o755) -> None:
    put(folder, name, text).chmod(mode)


def test_the_problem_leads_into_the_module(tmp_path: Path) -> None:
    module = put(tmp_path, "check.ts", "// A grader.\nexport default () => ({ pass: true, score: 1 })\n")
    [problem] = problems(tmp_path, "grader: check.ts")
    assert problem.severity == "warning"
    assert problem.message == (
        "Line 2 of `check.ts`: every answer ends in an error, because no function `grade` is exported; "
        "export the function under this name, not as the default."
    )
    [place] = problem.related
    assert place.uri == module.as_uri()
    assert module.read_text()[place.span.start : place.span.end] == "default"


def test_a_changed_module_is_read_again(tmp_path: Path) -> None:
    put(tmp_path, "check.js", GOOD)
    assert messages(tmp_path, "grader: check.js") == []
    put(tmp_path, "check.js", GOOD.replace("export ", ""))
    assert len(messages(tmp_path, "grader: check.js")) == 1


@pytest.mark.parametrize(
    ("name", "text", "mode", "message"),
    [
        ("check.sh", "#!/bin/sh\n", 0o755, ""),
        (
            "check.sh",
            "#!/bin/sh\n",
            0o644,
            "check.sh is not executable; run `chmod +x check.sh` in its directory.",
        ),
        (
            "check",
            "echo\n",
            0o755,
            "check does not say what runs it; make its first line one such as `#!/bin/sh`.",
        ),
        ("check.mts", "#!/usr/bin/env bun\n", 0o755, ""),
        (
            "check.mts",
            GOOD,
            0o644,
            "check.mts is started as a program, because modules end in `.ts`, `.js`, `.mjs` or `.cjs`; "
            "name it `check.ts`.",
        ),
        (
            "check.JS",
            GOOD,
            0o644,
            "check.JS is started as a program, because modules end in `.ts`, `.js`, `.mjs` or `.cjs`; "
            "name it `check.js`.",
        ),
        ("check.py", "#!/usr/bin/env python3\nprint()\n", 0o644, ""),
        ("check.sh", "#!/bin/sh\necho\r\n", 0o755, ""),
        ("check.pl", "#!/usr/bin/perl -w\r\n", 0o755, ""),
        ("check.py", "#!/usr/bin/env python3\r\nprint()\r\n", 0o644, ""),
        *(
            (
                "check.sh",
                f"{line}\r\necho\r\n",
                0o755,
                "the first line of check.sh ends in a carriage return, which the system takes as part of "
                "the interpreter's name; save the file with the line endings LF.",
            )
            for line in ("#!/bin/sh", "#!/usr/bin/env bash")
        ),
    ],
)
def test_a_program_must_be_one_that_the_system_starts(
    tmp_path: Path, name: str, text: str, mode: int, message: str
) -> None:
    program(tmp_path, name, text, mode)
    assert "".join(messages(tmp_path, f"grader: {name}")) == message


def test_results_are_read_by_the_protocol(tmp_path: Path) -> None:
    source = "import json\nprint(json.dumps({'passed': True, 'score': 1}))\n"
    put(tmp_path, "check.py", source)
    assert messages(tmp_path, "grader: check.py") == []
    assert messages(tmp_path, "grader: check.py, protocol: harness-json") == [
        "Line 2 of `check.py`: `passed` is not read in a result with `pass`; write `pass`."
    ]
    command = "command: python3, args: [check.py]"
    assert messages(tmp_path, command, "program") == []
    assert len(messages(tmp_path, f"{command}, protocol: harness-json", "program")) == 1


READS = "import json, sys\nd = json.load(sys.stdin)\n"


@pytest.mark.parametrize(
    "source",
    [
        f"{READS}print({{'pass': True, 'score': 1}})\n",
        f"{READS}ok = 'a' in d.get('output', '').lower()\nprint({{'pass': ok}})\nsys.exit(0)\n",
    ],
)
def test_an_object_that_is_printed_as_python_is_no_json(tmp_path: Path, source: str) -> None:
    put(tmp_path, "check.py", source)
    [message] = messages(tmp_path, "grader: check.py")
    assert "`print` writes this object as Python, not as JSON; print `json.dumps` of it" in message


@pytest.mark.parametrize(
    "source",
    [
        f"{READS}print(json.dumps({{'pass': True, 'score': 1}}))\n",
        f"{READS}print({{'seen': d}}, file=sys.stderr)\nprint(json.dumps({{'pass': True, 'score': 1}}))\n",
        f"{READS}print({{'debug': 1}})\njson.dump({{'pass': True, 'score': 1}}, sys.stdout)\n",
        f"from report import print\n{READS}print({{'pass': True, 'score': 1}})\n",
        f"{READS}def print(result): sys.stdout.write(json.dumps(result))\nprint({{'pass': True}})\n",
        f"import report\n{READS}print({{'debug': 1}})\nreport.finish(d)\n",
        f'{READS}print({{"it\'s": 1}})\n',
        f"{READS}print({{}})\n",
    ],
)
def test_a_program_that_may_print_json_is_not_reported(tmp_path: Path, source: str) -> None:
    put(tmp_path, "check.py", source)
    assert not [each for each in messages(tmp_path, "grader: check.py") if "as Python" in each]


def test_keys_that_nothing_reads_are_information(tmp_path: Path) -> None:
    put(tmp_path, "check.js", GOOD.replace("score: 1", "score: 1, files: 2"))
    assert [problem.severity for problem in problems(tmp_path, "grader: check.js")] == ["information"]


def test_nothing_is_said_about_files_that_a_hook_may_write(tmp_path: Path) -> None:
    put(tmp_path, "check.js", "")
    put(tmp_path, "tasks/t.yaml", TASK)
    text = (
        f"{EVAL}hooks:\n  before_run: [{{command: make}}]\n"
        "graders:\n  - {type: inline, name: c, config: {grader: check.js}}\n"
    )
    found = problems_in(tmp_path, "eval.yaml", text, "eval")
    assert "grader-file" not in [problem.code for problem in found]


@pytest.mark.parametrize("name", ["git_state.py", "graders/check.ts", "judge.mjs", "hint.js"])
def test_a_missing_grader_file_is_created_by_a_fix(tmp_path: Path, name: str) -> None:
    [action] = fixes(tmp_path, f"grader: {name}", creates_files=True)
    [new] = action.change.creations
    assert (action.title, action.preferred) == (f"Create grader `{Path(name).name}`", False)
    assert new.uri == (tmp_path / name).as_uri()
    put(tmp_path, name, "").write_text(new.text)
    assert fixes(tmp_path, f"grader: {name}", creates_files=True) == ()
    assert problems(tmp_path, f"grader: {name}") == []


@pytest.mark.parametrize("name", ["a.sh", "check", "a.cjs", "../check.py", "/check.py", "$DIR/check.py"])
def test_other_missing_grader_files_are_not_created(tmp_path: Path, name: str) -> None:
    assert fixes(tmp_path, f"grader: {name}", creates_files=True) == ()


def test_clients_that_cannot_create_files_get_no_such_fix(tmp_path: Path) -> None:
    assert fixes(tmp_path, "grader: check.py", creates_files=False) == ()


def fixes(folder: Path, config: str, *, creates_files: bool) -> tuple[CodeAction, ...]:
    put(folder, "tasks/t.yaml", TASK)
    text = f"{EVAL}graders:\n  - {{type: inline, name: c, config: {{{config}}}}}\n"
    document = opened(put(folder, "eval.yaml", text), "eval")
    workspace = workspace_with(document, roots=(folder,))
    start = text.index(config) + len("grader: ")
    found = diagnose(document, workspace)
    return code_actions(document, workspace, Span(start, start), found, creates_files=creates_files)
